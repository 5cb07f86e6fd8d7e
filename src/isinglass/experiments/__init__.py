"""Experiments: a plan, its cells, their records, and what is read from them."""

from isinglass.experiments.curves import Crossing, Ratio, crossing, monotone, ratio, wilson
from isinglass.experiments.measure import Found
from isinglass.experiments.plan import Cell, Design, Draw, Line, Method, Plan
from isinglass.experiments.run import run
from isinglass.experiments.study import results_csv, times_csv
from isinglass.experiments.tuning import Panel, Tuned, fixed, panel, tune

__all__ = [
    "Cell",
    "Crossing",
    "Design",
    "Draw",
    "Found",
    "Line",
    "Method",
    "Panel",
    "Plan",
    "Ratio",
    "Tuned",
    "crossing",
    "fixed",
    "monotone",
    "panel",
    "ratio",
    "results_csv",
    "run",
    "times_csv",
    "tune",
    "wilson",
]
