"""Other ways to learn the graph, under GreedyGraph's interface: to compare with, or to use."""

from isinglass.rivals.l0 import L0Graph
from isinglass.rivals.l1 import L1Graph
from isinglass.rivals.screening import InteractionScreening
from isinglass.rivals.tree import ChowLiuTree

__all__ = ["ChowLiuTree", "InteractionScreening", "L0Graph", "L1Graph"]
