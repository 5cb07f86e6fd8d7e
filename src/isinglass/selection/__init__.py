"""Which threshold: selectors for ``GreedyGraph(threshold=...)``.

Rules (`FalseEdges`, `Auto`, `Paper`, `Theorem`) need the numbers of rows and columns only. `EBIC`,
`CrossValidated`, `Stability` and `StARS` look at the run, and at runs on parts of the rows: one
run each to the smallest threshold needed, never one for each threshold.
"""

from isinglass.selection.choice import Look, Looking, Selection
from isinglass.selection.cross import CrossValidated
from isinglass.selection.ebic import EBIC
from isinglass.selection.names import (
    AnySelector,
    by_numbers,
    choose,
    how_chosen,
    look_below,
    selector,
)
from isinglass.selection.rules import (
    FIRM,
    TENTATIVE,
    Auto,
    FalseEdges,
    Fixed,
    LookBelow,
    Paper,
    Selector,
    Theorem,
    tier_levels,
)
from isinglass.selection.stability import Stability, StARS

__all__ = [
    "EBIC",
    "FIRM",
    "TENTATIVE",
    "AnySelector",
    "Auto",
    "CrossValidated",
    "FalseEdges",
    "Fixed",
    "Look",
    "LookBelow",
    "Looking",
    "Paper",
    "Selection",
    "Selector",
    "StARS",
    "Stability",
    "Theorem",
    "by_numbers",
    "choose",
    "how_chosen",
    "look_below",
    "selector",
    "tier_levels",
]
