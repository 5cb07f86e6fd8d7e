"""Algorithm 1 at every column of a table: the fast twin, and the readable one."""

from isinglass.engine.join import (
    Joined,
    RefittedValues,
    Value,
    graph_key,
    join,
    kept_values,
    pairs_at,
)
from isinglass.engine.joint import learn_joint
from isinglass.engine.learn import Search, learn_neighbourhoods, threads_for
from isinglass.engine.native import NativeRuns, fit_neighbourhoods, merged_rows
from isinglass.engine.refits import fit_conditionals
from isinglass.engine.runs import FoundAlone, KeptRuns, Paths, Progress, Runs, cuts_of, forms_at
from isinglass.engine.workers import Workers

__all__ = [
    "FoundAlone",
    "Joined",
    "KeptRuns",
    "NativeRuns",
    "Paths",
    "Progress",
    "RefittedValues",
    "Runs",
    "Search",
    "Value",
    "Workers",
    "cuts_of",
    "fit_conditionals",
    "fit_neighbourhoods",
    "forms_at",
    "graph_key",
    "join",
    "kept_values",
    "learn_joint",
    "learn_neighbourhoods",
    "merged_rows",
    "pairs_at",
    "threads_for",
]
