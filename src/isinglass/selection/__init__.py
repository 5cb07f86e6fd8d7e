"""Which threshold: selectors for ``GreedyGraph(threshold=...)``."""

from isinglass.selection.rules import (
    Auto,
    FalseEdges,
    Fixed,
    LookBelow,
    Paper,
    Selector,
    Theorem,
    selector,
)

__all__ = [
    "Auto",
    "FalseEdges",
    "Fixed",
    "LookBelow",
    "Paper",
    "Selector",
    "Theorem",
    "selector",
]
