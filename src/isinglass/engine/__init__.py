"""Algorithm 1 at every column of a table: the fast twin, and the readable one."""

from isinglass.engine.join import Head, join
from isinglass.engine.learn import learn_neighbourhoods, threads_for
from isinglass.engine.native import NativeRuns, fit_neighbourhoods, merged_rows
from isinglass.engine.runs import Choices, KeptRuns, Paths, Progress, Runs, Worths

__all__ = [
    "Choices",
    "Head",
    "KeptRuns",
    "NativeRuns",
    "Paths",
    "Progress",
    "Runs",
    "Worths",
    "fit_neighbourhoods",
    "join",
    "learn_neighbourhoods",
    "merged_rows",
    "threads_for",
]
