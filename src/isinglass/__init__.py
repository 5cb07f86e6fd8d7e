"""Which columns of a discrete table are directly linked, how strongly, and how sure one can be."""

from isinglass import exports, losses, measures, plots, selection, simulate
from isinglass.errors import IsinglassError
from isinglass.estimators import GreedyGraph
from isinglass.experiments.compare import Comparison, compare
from isinglass.graph import Graph
from isinglass.model import FitRecord, MarkovField
from isinglass.report import summarise
from isinglass.rivals import ChowLiuTree, InteractionScreening, L0Graph, L1Graph
from isinglass.solvers import Path, Step, foba
from isinglass.table import read_table
from isinglass.uncertainty import (
    Audit,
    Bootstrap,
    CaseDropping,
    Explanation,
    PairwiseCheck,
    Planned,
    Resamples,
    SplitTest,
    Verdict,
    Verdicts,
    audit,
    bootstrap,
    case_dropping,
    check_pairwise,
    explain,
    plan,
    resample,
    split_test,
    verdict,
    with_errors,
)

__all__ = [
    "Audit",
    "Bootstrap",
    "CaseDropping",
    "ChowLiuTree",
    "Comparison",
    "Explanation",
    "FitRecord",
    "Graph",
    "GreedyGraph",
    "InteractionScreening",
    "IsinglassError",
    "L0Graph",
    "L1Graph",
    "MarkovField",
    "PairwiseCheck",
    "Path",
    "Planned",
    "Resamples",
    "SplitTest",
    "Step",
    "Verdict",
    "Verdicts",
    "audit",
    "bootstrap",
    "case_dropping",
    "check_pairwise",
    "compare",
    "explain",
    "exports",
    "foba",
    "losses",
    "measures",
    "plan",
    "plots",
    "read_table",
    "resample",
    "selection",
    "simulate",
    "split_test",
    "summarise",
    "verdict",
    "with_errors",
]
