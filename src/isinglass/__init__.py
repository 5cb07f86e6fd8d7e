"""Which columns of a discrete table are directly linked, how strongly, and how sure one can be."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

# Names are imported when first asked for, so that the command line starts at once.
# `__init__.pyi` tells type checkers the same; a test compares the two.
_MODULES = ("exports", "losses", "measures", "plots", "selection", "simulate")
_NAMES = {
    "errors": ("IsinglassError",),
    "estimators": ("GreedyClassifier", "GreedyGraph", "GreedyRegressor"),
    "experiments.compare": ("Comparison", "compare"),
    "graph": ("Graph",),
    "inspection": ("Inspection", "inspect"),
    "model": ("Exact", "FitRecord", "Gibbs", "MarkovField"),
    "report": ("summarise",),
    "rivals": ("ChowLiuTree", "InteractionScreening", "L0Graph", "L1Graph"),
    "solvers": ("Path", "Step", "foba"),
    "table": ("read_table",),
    "table.packed.api": ("open_packed", "pack"),
    "table.codebook": ("Codebook", "Variable", "read_codebook"),
    "theorem": ("Theory", "theory"),
    "uncertainty.explaining.explain": ("Explanation", "explain"),
    "uncertainty.explaining.pairwise": ("PairwiseCheck", "check_pairwise"),
    "uncertainty.explaining.verdict": ("Verdict", "Verdicts", "verdict"),
    "uncertainty.groups.compare": ("compare_groups",),
    "uncertainty.groups.result": ("GroupComparison",),
    "uncertainty.power.plan": ("plan",),
    "uncertainty.power.planned": ("Planned",),
    "uncertainty.resampling.bootstrap": ("Bootstrap", "bootstrap"),
    "uncertainty.resampling.columns": ("ColumnIntervals", "column_intervals"),
    "uncertainty.resampling.dropping": ("CaseDropping", "case_dropping"),
    "uncertainty.resampling.resample": ("Resamples", "resample"),
    "uncertainty.resampling.split": ("SplitTest", "split_test"),
    "uncertainty.simulation.audit": ("Audit", "audit"),
    "uncertainty.standard_errors": ("with_errors",),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted({*_MODULES, *_MODULE_OF})  # noqa: PLE0605 (`__init__.pyi` lists the names)


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(f"isinglass.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
    if find_spec(f"isinglass.{name}"):
        return import_module(f"isinglass.{name}")
    raise AttributeError(f"module 'isinglass' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
