"""How often an edge comes back in half of the rows."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.engine import Progress
from isinglass.engine.join import pairs_at
from isinglass.estimators import GreedyGraph
from isinglass.frames import by_column, frame
from isinglass.graph import Graph
from isinglass.parameters import checked
from isinglass.repeating import Record, are_pairs
from isinglass.uncertainty.resampling.rerun import Rerun, failures_of

Names = tuple[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Resamples:
    """Graphs of half-samples; `resample` makes them.

    Attributes
    ----------
    graph : Graph
        The graph of the whole table.
    halves : tuple of frozenset of pairs of names
        The edges of each half-sample that did not fail; two halves that make up the table stand
        side by side.
    rows : int
        How many a half-sample has: rows, or clusters, whichever was drawn (`what`).
    failures : dict of int to str
        For each pair of half-samples that failed, its number and the reason.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ig.resample(est, n=4).stable()
    [('x0', 'x1'), ('x1', 'x2')]
    """

    graph: Graph
    halves: tuple[frozenset[Names], ...]
    rows: int
    failures: dict[int, str]
    what: str = "row"

    @cached_property
    def frequency(self) -> dict[Names, float]:
        """The share of half-samples that choose a pair; pairs that none chooses are left out.

        Edges of the graph are in it, even those that no half-sample chooses.
        """
        counts = Counter(dict.fromkeys(self.graph.edges, 0))
        for edges in self.halves:
            counts.update(edges)
        place = {name: at for at, name in enumerate(self.graph.names)}
        ordered = sorted(counts, key=lambda pair: (place[pair[0]], place[pair[1]]))
        return {pair: counts[pair] / max(len(self.halves), 1) for pair in ordered}

    @cached_property
    def simultaneous(self) -> dict[Names, float]:
        """The share of complementary pairs of which both halves choose a pair of columns."""
        both = [one & other for one, other in zip(self.halves[::2], self.halves[1::2], strict=True)]
        counts = Counter(pair for pairs in both for pair in pairs)
        return {pair: counts[pair] / max(len(both), 1) for pair in self.frequency}

    @property
    def mean_edges(self) -> float:
        """How many edges a half-sample has, on average."""
        return float(np.mean([len(edges) for edges in self.halves])) if self.halves else 0.0

    @checked
    def stable(self, share: float = 0.75) -> list[Names]:
        """Pairs that at least that share of the half-samples choose, in column order."""
        return [pair for pair, often in self.frequency.items() if often >= share - 1e-12]

    @checked
    def bound(self, share: float = 0.75) -> float:
        """Bound on the expected number of wrong pairs among the `stable` ones.

        q^2 / ((2 share - 1) N), with q the mean number of edges of a half-sample and N the number
        of pairs of columns. Without assumptions, a "wrong" pair is one that a half-sample chooses
        with a probability of at most q/N; see :class:`isinglass.selection.Stability`.
        """
        p = len(self.graph.names)
        return self.mean_edges**2 / ((2 * share - 1) * max(p * (p - 1) / 2, 1))

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame, one row per pair that was ever chosen, in column order."""
        tiers = dict(zip(self.graph.edges, (link.tier for link in self.graph.links), strict=True))
        rows = (
            (*pair, share, self.simultaneous[pair], pair in tiers, tiers.get(pair, ""))
            for pair, share in self.frequency.items()
        )
        names = ("source", "target", "frequency", "simultaneous", "in_graph", "tier")
        return frame(by_column(names, rows), library or self.graph.library)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} pairs failed" if self.failures else ""
        return (
            f"Resamples({len(self.halves)} half-samples of {self.rows} {self.what}s, "
            f"{self.mean_edges:.1f} edges on average{failed})"
        )


@checked
def resample(
    estimator: GreedyGraph,
    X: Any = None,
    n: int = 100,
    seed: int = 0,
    *,
    sample_weight: ArrayLike | str | None = None,
    clusters: ArrayLike | str | None = None,
    strata: ArrayLike | None = None,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    client: Any = None,
) -> Resamples:
    """Learn the graphs of half-samples, drawn without replacement in complementary pairs.

    The threshold is recomputed for half of the rows: by the rule, if it needs numbers of rows and
    columns only; else (a number, a selector that looked at the run) it stands for the same
    evidence, 2 n times itself. So weak links are chosen less often than by the whole table: a
    frequency says how often a link would be found with half of the rows. It is not the probability
    that the link is there.

    Graphs are never learned from bootstrap resamples: those repeat the sample's own noise, and hold
    20 to 50 times as many false edges as the fit.

    Parameters
    ----------
    estimator : GreedyGraph
        Fitted, or to be fitted to `X`.
    X : array or data frame, optional
        The table, if the estimator is not fitted; else it may be left out.
    n : int
        Half-samples; an even number.
    seed : int
    sample_weight, clusters : optional
        Those of the rows of `X`, as in `GreedyGraph.fit`. Clusters are drawn whole.
    strata : array, one label per row that came in, optional
        A draw takes the same share of every stratum, such as a region.
    path : str or path, optional
        A file that results are added to, one line per pair of half-samples; what is in it is not
        computed again, so work continues where it stopped, or with a larger `n`.
    n_jobs : int, optional
        Threads; None means all cores.
    progress : function of (pairs done, pairs in all), optional
    client : distributed.Client, optional
        Its workers do the work, as many fits at once as they have threads; see :doc:`/cluster`.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> found = ig.resample(ig.GreedyGraph(), field.sample(400, seed=0), n=20)
    >>> found
    Resamples(20 half-samples of 200 rows, ... edges on average)
    >>> found.frequency["x0", "x1"]
    1.0
    """
    rerun = Rerun.of(estimator, X, sample_weight, clusters, strata)
    rerun.drawer.check_halves()
    how: Any = {"path": path, "n_jobs": n_jobs, "progress": progress, "client": client}
    how |= {"work": "half-samples", "sound": _sound}
    done = rerun.repeat("halves", zip(range(int(n) // 2)), _halves, seed=seed, **how)
    records = list(done.values())
    names = rerun.table.names
    halves = (half["edges"] for record in records for half in record.get("records", ()))
    return Resamples(
        rerun.estimator.graph_,
        tuple(frozenset((names[a], names[b]) for a, b in edges) for edges in halves),
        rerun.drawer.half,
        failures_of(records),
        rerun.drawer.what,
    )


def _halves(rerun: Rerun, seed: int, number: int) -> Record:
    made = []
    for half in rerun.drawer.halves(np.random.default_rng([seed, number])):
        _, runs, threshold = rerun.run(half)
        pairs = pairs_at(runs, threshold, rerun.estimator.rule)
        made.append({"edges": sorted(map(list, pairs))})
    return {"records": made}


def _sound(rerun: Rerun, record: Record) -> bool:
    p, halves = len(rerun.table.columns), record["records"]
    return len(halves) == 2 and all(are_pairs(half["edges"], p) for half in halves)
