"""Every threshold, and four ways to join neighbourhoods, from one greedy run.

A search with a larger threshold is a prefix of one with a smaller, so one run to a low floor holds
the graphs of all thresholds above it. What each pair of columns needs to know of a run is *when
its ends take it in*: the end r takes t in at

    w(r, t) = the largest threshold at which t is in the answer of r's search,

and zero if t is in none down to the floor. With it the four rules keep an edge where

    OR      max(w(r, t), w(t, r)) > threshold
    AND     min(w(r, t), w(t, r)) > threshold
    mean    (w(r, t) + w(t, r)) / 2 > threshold
    rms     sqrt((w(r, t)**2 + w(t, r)**2) / 2) > threshold

For OR and AND that is so only as long as no search drops what it had taken in; here they are what
`GreedyGraph` does, whose path is cut at the threshold, with what was dropped by then gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isinglass.estimators import GreedyGraph
from isinglass.experiments.measure import Found
from isinglass.experiments.methods import states
from isinglass.experiments.plan import Codes
from isinglass.selection import Auto, FalseEdges, Paper, Selector
from isinglass.solvers import Path
from isinglass.solvers.cuts import edges_at

Pair = tuple[int, int]

#: The c of c log(np)/n.
CONSTANTS = (*(round(0.3 + 0.05 * k, 2) for k in range(19)), 1.3, 1.4, 1.6, 1.8)
#: False edges to expect, instead of the 0.05 of the default.
LEVELS = (0.0125, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
RULES = ("or", "and", "mean", "rms")


def selectors(least: float = 0.0) -> dict[str, Selector]:
    """The thresholds to try, by name: the default, the paper's from a least constant, levels."""
    return {
        "auto": Auto(),
        **{f"c={c:g}": Paper(c) for c in CONSTANTS if c >= least},
        **{f"level={level:g}": FalseEdges(level) for level in LEVELS},
    }


def all_cuts(
    codes: Codes, *, intercept: bool = True, rules: Sequence[str] = RULES, least: float = 0.0
) -> Found:
    """The graphs of every threshold and every rule, by names such as "or c=0.9"."""
    n, p = codes.shape
    thresholds = {name: rule.threshold(n, p) for name, rule in selectors(least).items()}
    run = GreedyGraph(min(thresholds.values()), intercept=intercept, n_jobs=1).fit(codes)
    paths = list(run.paths_)
    taken = taken_in(paths)
    graphs: dict[str, frozenset[tuple[int, int]]] = {}
    for rule in rules:
        if rule in ("or", "and"):
            for name, limit in thresholds.items():
                graphs[f"{rule} {name}"] = frozenset(edges_at(paths, limit, rule))
        else:
            entry = averages(taken, rule)
            for name, limit in thresholds.items():
                graphs[f"{rule} {name}"] = frozenset(pair for pair in entry if entry[pair] > limit)
    return Found(graphs)


def taken_in(paths: Sequence[Path]) -> dict[Pair, float]:
    """The largest threshold at which each column has each of its neighbours: w(r, t)."""
    taken: dict[Pair, float] = {}
    for r, path in enumerate(paths):
        for limit, support in states(path):
            for t in support:
                taken.setdefault((r, t), limit)
    return taken


def averages(taken: Mapping[Pair, float], rule: str) -> dict[Pair, float]:
    """The mean, or the root mean square, of the thresholds at which both ends take an edge in.

    >>> averages({(0, 1): 4.0, (2, 1): 3.0, (1, 2): 1.0}, "mean")
    {(0, 1): 2.0, (1, 2): 2.0}
    """
    power = {"mean": 1, "rms": 2}[rule]
    sums: dict[Pair, float] = {}
    for (r, t), limit in taken.items():
        pair = (min(r, t), max(r, t))
        sums[pair] = sums.get(pair, 0.0) + limit**power
    return {pair: float((total / 2) ** (1 / power)) for pair, total in sums.items()}
