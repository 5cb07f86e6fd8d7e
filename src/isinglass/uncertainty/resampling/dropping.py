"""How many cases may be dropped before the graph changes: the CS coefficient, and its curve."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.engine import Progress
from isinglass.estimators import GreedyGraph
from isinglass.frames import by_column, frame
from isinglass.graph import Link
from isinglass.parameters import checked
from isinglass.repeating import Record, are_pairs
from isinglass.uncertainty.resampling.rerun import Rerun

Array = NDArray[np.float64]
Links = Sequence[Sequence[Any]]
STATISTICS = ("edge", "strength", "overlap")
#: From 5 % to 75 %, in ten steps.
SHARES = tuple(np.linspace(0.05, 0.75, 10).round(4).tolist())
#: The quantiles of a curve.
ENDS = (0.025, 0.975)


@dataclass(frozen=True, eq=False, repr=False)
class CaseDropping:
    """How graphs of fewer rows compare with that of all; `case_dropping` makes it.

    Attributes
    ----------
    dropped : tuple of float
        Shares of the rows that were dropped.
    edge : tuple of arrays
        For each share, the correlation of each graph's edges (signed strengths, zero where there
        is no edge, over all pairs of columns) with those of the whole table. Zero where a graph has
        no edge, or all are equal.
    strength : tuple of arrays
        The same for the strengths of the columns: the sum of the strengths of a column's edges.
    overlap : tuple of arrays
        The number of edges in both graphs, by the number in either; 1 if neither has any.
    failures : dict of str to str
        What failed, and why.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ig.case_dropping(est, n=4, shares=(0.25, 0.5)).dropped
    (0.25, 0.5)
    """

    dropped: tuple[float, ...]
    edge: tuple[Array, ...]
    strength: tuple[Array, ...]
    overlap: tuple[Array, ...]
    failures: dict[str, str]
    library: str | None = None

    @checked
    def cs(
        self, statistic: str = "strength", correlation: float = 0.7, certainty: float = 0.95
    ) -> float:
        """Return the CS coefficient (Epskamp, Borsboom and Fried 2018), as bootnet users report it.

        The largest share of rows that can be dropped such that, with 95 % of the draws, the
        correlation with the whole table's numbers is above 0.7; zero if there is none. Its authors
        ask for at least 0.25, better 0.5. It can be no larger than the largest share tried.
        """
        good = [
            share
            for share, values in zip(self.dropped, getattr(self, statistic), strict=True)
            if len(values) and np.mean(values > correlation) >= certainty
        ]
        return max(good, default=0.0)

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """Return the whole curve: one row per share and statistic, with mean and quantiles."""
        rows = (
            (share, name, values.mean().item(), *np.quantile(values, ENDS).tolist(), len(values))
            for name in STATISTICS
            for share, values in zip(self.dropped, getattr(self, name), strict=True)
            if len(values)
        )
        names = ("dropped", "statistic", "mean", "low", "high", "draws")
        return frame(by_column(names, rows), library or self.library)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} draws failed" if self.failures else ""
        return (
            f"CaseDropping(up to {max(self.dropped):.0%} dropped; CS of edges "
            f"{self.cs('edge'):.2f}, of strengths {self.cs('strength'):.2f}{failed})"
        )


@checked
def case_dropping(
    estimator: GreedyGraph,
    X: Any = None,
    n: int = 100,
    seed: int = 0,
    *,
    shares: Sequence[float] = SHARES,
    sample_weight: ArrayLike | str | None = None,
    clusters: ArrayLike | str | None = None,
    strata: ArrayLike | None = None,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    client: Any = None,
) -> CaseDropping:
    """Learn the graph from fewer and fewer rows, and compare it with that of the whole table.

    Parameters
    ----------
    estimator, X, seed, sample_weight, clusters, strata, path, n_jobs, progress, client
        As for `resample`; the threshold is recomputed for the rows that are left. Shares are of
        clusters, where there are any.
    n : int
        Draws for each share.
    shares : sequence of float
        Shares of the rows to drop; strictly between 0 and 1.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(6), coupling=0.8, seed=0)
    >>> est = ig.GreedyGraph().fit(field.sample(600, seed=1))
    >>> ig.case_dropping(est, n=20, shares=(0.25, 0.5)).cs("edge")
    0.5
    """
    rerun = Rerun.of(estimator, X, sample_weight, clusters, strata)
    names = {f"{share:g}": float(share) for share in shares}
    draws = product(names.values(), range(int(n)))
    how: Any = {"path": path, "n_jobs": n_jobs, "progress": progress, "client": client}
    how |= {"work": "case dropping", "sound": _sound}
    records = rerun.repeat("dropping", draws, _dropped, seed=seed, **how)
    p, whole = len(rerun.table.columns), [_row(link) for link in rerun.estimator.graph_]
    failures = {key: record["failed"] for key, record in records.items() if "failed" in record}
    compared = {
        key: _comparison(whole, record["records"][0]["links"], p)
        for key, record in records.items()
        if key not in failures
    }
    seen = [[two for key, two in compared.items() if key.split("/")[-2] == name] for name in names]
    columns = [np.array(some).reshape(-1, 3).T for some in seen]
    edge, strength, overlap = (tuple(column[k] for column in columns) for k in range(3))
    return CaseDropping(
        tuple(names.values()), edge, strength, overlap, failures, rerun.table.library
    )


def _dropped(rerun: Rerun, seed: int, share: float, number: int) -> Record:
    rng = np.random.default_rng([seed, round(share * 1e6), number])
    drawer = rerun.drawer
    size = max(round((1 - share) * drawer.size), drawer.least)
    graph = rerun.graph(drawer.some(rng, size))
    return {"records": [{"links": [_row(link) for link in graph]}]}


def _sound(rerun: Rerun, record: Record) -> bool:
    (links,) = (part["links"] for part in record["records"])
    strengths = [abs(strength) for *_, strength in links]
    pairs = [pair for *pair, _ in links]
    p = len(rerun.table.columns)
    return are_pairs(pairs, p) and all(0 <= strength <= 1 for strength in strengths)


def _row(link: Link) -> list[Any]:
    return [link.source, link.target, -link.weight if link.sign < 0 else link.weight]


def _comparison(whole: Links, other: Links, p: int) -> tuple[float, float, float]:
    """Correlation of edges, correlation of the columns' strengths, overlap of the edge sets."""
    matrices = np.zeros((2, p, p))
    for matrix, links in zip(matrices, (whole, other), strict=True):
        for a, b, weight in links:
            matrix[a, b] = matrix[b, a] = weight
    one, two = (matrix[np.triu_indices(p, 1)] for matrix in matrices)
    sets = [{(a, b) for a, b, _ in links} for links in (whole, other)]
    either = sets[0] | sets[1]
    overlap = len(sets[0] & sets[1]) / len(either) if either else 1.0
    return _correlation(one, two), _correlation(*np.abs(matrices).sum(axis=1)), overlap


def _correlation(one: Array, two: Array) -> float:
    if len(one) < 2 or not one.std() or not two.std():
        return 0.0
    return float(np.corrcoef(one, two)[0, 1])
