"""Which columns of a discrete table are directly linked, how strongly, and how sure one can be."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from isinglass import exports, losses, selection, simulate
from isinglass.errors import IsinglassError
from isinglass.estimators import GreedyGraph
from isinglass.graph import Graph
from isinglass.model import Exact, FitRecord, Gibbs, MarkovField
from isinglass.rivals import ChowLiuTree, InteractionScreening, L0Graph, L1Graph
from isinglass.solvers import Path, Step, foba
from isinglass.table import read_table

if TYPE_CHECKING:  # when first asked for, below
    from isinglass import measures, plots
    from isinglass.experiments.compare import Comparison, compare
    from isinglass.report import summarise
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
    "Exact",
    "Explanation",
    "FitRecord",
    "Gibbs",
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

#: Where a name is found that is imported when first asked for; all others are in `uncertainty`.
_ELSEWHERE = {
    "Comparison": "isinglass.experiments.compare",
    "compare": "isinglass.experiments.compare",
    "summarise": "isinglass.report",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'isinglass' has no attribute {name!r}")
    if name in ("measures", "plots"):
        return import_module(f"isinglass.{name}")
    value = getattr(import_module(_ELSEWHERE.get(name, "isinglass.uncertainty")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
