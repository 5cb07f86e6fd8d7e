"""Which columns of a discrete table are directly linked, how strongly, and how sure one can be."""

from isinglass import exports, losses, measures, selection, simulate
from isinglass.errors import IsinglassError
from isinglass.estimators import GreedyGraph
from isinglass.experiments.compare import Comparison, compare
from isinglass.graph import Graph
from isinglass.model import FitRecord, MarkovField
from isinglass.report import summarise
from isinglass.rivals import ChowLiuTree, InteractionScreening, L0Graph, L1Graph
from isinglass.solvers import Path, Step, foba
from isinglass.table import read_table

__all__ = [
    "ChowLiuTree",
    "Comparison",
    "FitRecord",
    "Graph",
    "GreedyGraph",
    "InteractionScreening",
    "IsinglassError",
    "L0Graph",
    "L1Graph",
    "MarkovField",
    "Path",
    "Step",
    "compare",
    "exports",
    "foba",
    "losses",
    "measures",
    "read_table",
    "selection",
    "simulate",
    "summarise",
]
