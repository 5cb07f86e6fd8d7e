"""The bootstrap, for the parameters of a graph that stays as it is. Never for graphs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.engine import Progress
from isinglass.errors import SettingError, TableError
from isinglass.estimators import GreedyGraph
from isinglass.frames import by_column, frame
from isinglass.graph import Graph, Link, position_of
from isinglass.model import MarkovField, fit_model
from isinglass.parameters import checked
from isinglass.repeating import Record
from isinglass.uncertainty.resampling.rerun import Rerun, failures_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap:
    """Tables of log-potentials of one graph, fitted to bootstrap resamples; `bootstrap` makes it.

    Attributes
    ----------
    graph : Graph
        The graph of the whole table, and of every resample.
    model : MarkovField
        All its parameters, fitted to the whole table.
    tables : dict of pairs of columns to arrays of shape (draws, m, m')
        The fitted table of each edge in each resample that did not fail.
    failures : dict of int to str
        For each resample that failed, its number and the reason.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ig.bootstrap(est, n=20)
    Bootstrap(2 edges, 20 resamples; given this graph)
    """

    graph: Graph
    model: MarkovField
    tables: dict[tuple[int, int], Array]
    failures: dict[int, str]

    @checked
    def interval(self, a: str, b: str, level: float = 0.95) -> tuple[Array, Array]:
        """Return the lower and upper ends for each entry of an edge's table, given this graph."""
        ends = [position_of(name, self.graph.names) for name in (a, b)]
        pair = min(ends), max(ends)
        if pair not in self.tables:
            raise SettingError(f"{a!r} and {b!r} are not linked; there is no parameter.")
        tables = self.tables[pair] if ends == sorted(ends) else self.tables[pair].swapaxes(1, 2)
        low, high = np.quantile(tables, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high

    @checked
    def to_frame(self, level: float = 0.95, library: str | None = None) -> Any:
        """Return a data frame, one row per edge; the interval is that of the coupling.

        There is no interval if a column has more than two states (see `interval`), or if the edge
        is unbounded: an empty cell is empty in every resample.
        """
        names = ("source", "target", "coupling", "low", "high")
        rows = (self._row(link, level) for link in self.graph)
        return frame(by_column(names, rows), library or self.graph.library)

    def _row(self, link: Link, level: float) -> tuple[Any, ...]:
        pair = link.source, link.target
        a, b = (self.graph.names[end] for end in pair)
        table = self.model.couplings[pair]
        if table.shape != (2, 2):
            return a, b, None, None, None
        if link.unbounded or not len(self.tables[pair]):
            return a, b, float(table[1, 1]), None, None
        return a, b, *(float(end[1, 1]) for end in (table, *self.interval(a, b, level)))

    def __repr__(self) -> str:
        draws = len(next(iter(self.tables.values()), ()))
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"Bootstrap({len(self.graph)} edges, {draws} resamples{failed}; given this graph)"


@checked
def bootstrap(
    estimator: GreedyGraph,
    X: Any = None,
    n: int = 200,
    seed: int = 0,
    *,
    sample_weight: ArrayLike | str | None = None,
    clusters: ArrayLike | str | None = None,
    strata: ArrayLike | None = None,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    client: Any = None,
) -> Bootstrap:
    """Fit the parameters of ``graph_`` again to rows drawn with replacement, as many as there are.

    The graph stays as it is, and every interval is *given this graph*. The rows that chose an edge
    also say how strong it is, so a weak edge that was found looks stronger than it is; no interval
    from the same rows can correct that. Graphs are not learned from such resamples: see `resample`.

    Parameters
    ----------
    estimator, X, seed, sample_weight, clusters, strata, path, n_jobs, progress, client
        As for `resample`.
    n : int
        Resamples. One in which a state of some column is not drawn fails.

    Examples
    --------
    >>> import isinglass as ig
    >>> true = ig.simulate.ising(ig.simulate.chain(3), coupling=0.5, signs="positive")
    >>> est = ig.GreedyGraph().fit(true.sample(1000, seed=0))
    >>> low, high = ig.bootstrap(est, n=50).interval("x0", "x1")
    >>> bool(low[1, 1] < 0.5 < high[1, 1])
    True
    """
    rerun = Rerun.of(estimator, X, sample_weight, clusters, strata)
    how: Any = {"path": path, "n_jobs": n_jobs, "progress": progress, "client": client}
    how |= {"work": "a bootstrap", "sound": _sound}
    done = rerun.repeat("bootstrap", zip(range(int(n))), _refitted, seed=seed, **how)
    records = list(done.values())
    graph, states = rerun.estimator.graph_, rerun.table.n_answers
    good = [one["records"][0]["tables"] for one in records if "failed" not in one]
    tables = {
        (i, j): np.array([each[at] for each in good], float).reshape(-1, states[i], states[j])
        for at, (i, j) in enumerate(graph.pairs)
    }
    return Bootstrap(graph, rerun.estimator.model_, tables, failures_of(records))


def _refitted(rerun: Rerun, seed: int, number: int) -> Record:
    rng = np.random.default_rng([seed, number])
    table, _ = rerun.drawer.table_of(rerun.drawer.with_replacement(rng))
    drawn = zip(table.names, table.n_states, rerun.table.n_states, strict=True)
    for name, now, all_states in drawn:
        if now < all_states:
            raise TableError(f"a state of column {name!r} was not drawn")
    graph = rerun.estimator.graph_
    model = fit_model(table, graph, intercept=bool(rerun.estimator.intercept))
    return {"records": [{"tables": [model.couplings[pair].tolist() for pair in graph.pairs]}]}


def _sound(rerun: Rerun, record: Record) -> bool:
    """Whether a record has a table for each edge, whose rows and columns sum to zero."""
    (kept,) = (part["tables"] for part in record["records"])
    states = rerun.table.n_answers
    shapes = [(states[i], states[j]) for i, j in rerun.estimator.graph_.pairs]
    tables = [np.array(table, dtype=np.float64) for table in kept]
    sums = [np.concatenate([table.sum(axis=0), table.sum(axis=1)]) for table in tables]
    return [t.shape for t in tables] == shapes and all(
        np.isfinite(s).all() and np.allclose(s, 0.0, atol=1e-6) for s in sums
    )
