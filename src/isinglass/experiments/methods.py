"""The methods under test: each a small function from a table of codes to what it found.

One fit serves many settings: the greedy search and the l1 path hold every constant at once, and
both ways to join neighbourhoods. Every function runs in one thread, so that times compare.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from isinglass.estimators import GreedyGraph
from isinglass.experiments.measure import Found
from isinglass.experiments.plan import Codes, Line, Method
from isinglass.graph import Graph
from isinglass.selection import Auto

Numbers = NDArray[np.float64]
#: The c of eps = c log(np)/n.
GREEDY_CONSTANTS = tuple(round(0.3 + 0.1 * k, 1) for k in range(16))


def greedy(codes: Codes, *, intercept: bool) -> Found:
    """The greedy search with c log(np)/n for many c, with the default rule, by OR and AND."""
    n, p = codes.shape
    unit = float(np.log(n * p)) / n
    auto = Auto().threshold(n, p)
    least = min(GREEDY_CONSTANTS[0] * unit, auto)
    found = GreedyGraph(least, intercept=intercept, n_jobs=1).fit(codes)
    thresholds = {"auto": auto, **{f"c={c:g}": c * unit for c in GREEDY_CONSTANTS}}
    graphs: dict[str, Graph] = {}
    for rule in ("or", "and"):
        found.set_params(rule=rule)
        graphs |= {f"{rule} {name}": found.at(t) for name, t in thresholds.items()}
    return Found(graphs, _entry_gains(found, p))


def _entry_gains(found: GreedyGraph, p: int) -> Numbers:
    """The largest threshold at which each column has chosen each other one."""
    rank = np.zeros((p, p))
    for r, path in enumerate(found.paths_):
        reached = float("inf")
        for step in path.steps:
            if step.gain is not None:
                reached = min(reached, step.gain)
            row = rank[r]
            for t in step.support:
                row[t] = max(row[t], reached)
    return rank


def greedy_lines(intercept: bool = False) -> list[Line]:
    """Ours: by OR as in the paper, and by AND."""
    method = Method("greedy", partial(greedy, intercept=intercept), ours=True)
    return [
        Line("greedy", method, "or ", own="or auto"),
        Line("greedy, AND", method, "and ", own="and auto"),
    ]
