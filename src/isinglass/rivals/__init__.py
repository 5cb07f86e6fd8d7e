"""Other ways to learn the graph, under GreedyGraph's interface: to compare with, or to use."""

from isinglass.rivals.l1 import L1Graph

__all__ = ["L1Graph"]
