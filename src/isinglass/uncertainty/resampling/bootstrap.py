"""The bootstrap, for the parameters of a graph that stays as it is. Never for graphs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.engine import Progress
from isinglass.errors import SettingError, TableError
from isinglass.estimators import GreedyGraph
from isinglass.frames import frame
from isinglass.graph import Graph, position_of
from isinglass.model import MarkovField, fit_model
from isinglass.parameters import checked
from isinglass.repeating import Record, Task, repeat
from isinglass.uncertainty.resampling.rerun import Rerun

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

        Nothing is said where a column has more than two states (see `interval`), nor where the
        edge is unbounded: a zero cell stays one in every resample.
        """
        rows = [self._row(link.source, link.target, link.unbounded, level) for link in self.graph]
        return frame(
            {
                "source": [self.graph.names[link.source] for link in self.graph],
                "target": [self.graph.names[link.target] for link in self.graph],
                "coupling": [coupling for coupling, _, _ in rows],
                "low": [low for _, low, _ in rows],
                "high": [high for _, _, high in rows],
            },
            library or self.graph.library,
        )

    def _row(
        self, source: int, target: int, unbounded: bool, level: float
    ) -> tuple[float | None, float | None, float | None]:
        table = self.model.couplings[source, target]
        if table.shape != (2, 2):
            return None, None, None
        if unbounded or not len(self.tables[source, target]):
            return float(table[1, 1]), None, None
        low, high = self.interval(self.graph.names[source], self.graph.names[target], level)
        return float(table[1, 1]), float(low[1, 1]), float(high[1, 1])

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
    path: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Bootstrap:
    """Fit the parameters of ``graph_`` again to rows drawn with replacement, as many as there are.

    The graph stays as it is, and every interval is *given this graph*. The rows that chose an edge
    also say how strong it is, so a weak edge that was found looks stronger than it is; no interval
    from the same rows mends that. Graphs are not learned from such resamples: see `resample`.

    Parameters
    ----------
    estimator, X, seed, sample_weight, path, n_jobs, progress
        As for `resample`.
    n : int
        Resamples. One in which a state of some column is not drawn fails.

    Returns
    -------
    Bootstrap

    Examples
    --------
    >>> import isinglass as ig
    >>> true = ig.simulate.ising(ig.simulate.chain(3), coupling=0.5, signs="positive")
    >>> est = ig.GreedyGraph().fit(true.sample(1000, seed=0))
    >>> found = ig.bootstrap(est, n=50)
    >>> found
    Bootstrap(2 edges, 50 resamples; given this graph)
    >>> low, high = found.interval("x0", "x1")
    >>> bool(low[1, 1] < 0.5 < high[1, 1])
    True
    """
    rerun = Rerun.of(estimator, X, sample_weight)
    key = rerun.key("bootstrap", seed)
    records = repeat(
        (Task.single(f"{key}/{i}", partial(_refitted, rerun, seed, i)) for i in range(int(n))),
        work="a bootstrap",
        path=path,
        sound=partial(_sound, rerun),
        n_jobs=n_jobs,
        progress=progress,
    )
    return _collected(rerun, list(records.values()))


def _refitted(rerun: Rerun, seed: int, number: int) -> Record:
    rng = np.random.default_rng([seed, number])
    size, copies = rerun.drawer.size, rerun.drawer.copies
    table, _ = rerun.drawer.table_of(rng.multinomial(size, copies / size))
    for name, now, all_states in zip(
        table.names, table.n_states, rerun.table.n_states, strict=True
    ):
        if now < all_states:
            raise TableError(f"a state of column {name!r} was not drawn")
    graph = rerun.estimator.graph_
    model = fit_model(table, graph, intercept=bool(rerun.estimator.intercept))
    return {"records": [{"tables": [model.couplings[pair].tolist() for pair in graph.pairs]}]}


def _sound(rerun: Rerun, record: Record) -> bool:
    (kept,) = (part["tables"] for part in record["records"])
    states = rerun.table.n_answers
    shapes = [(states[e.source], states[e.target]) for e in rerun.estimator.graph_]
    tables = [np.array(table, dtype=np.float64) for table in kept]
    return [t.shape for t in tables] == shapes and all(map(_is_centred, tables))


def _is_centred(table: Array) -> bool:
    """Whether the rows and columns of a table sum to zero, as those of a model do."""
    sums = np.concatenate([table.sum(axis=0), table.sum(axis=1)])
    return bool(np.isfinite(table).all() and np.allclose(sums, 0.0, atol=1e-6))


def _collected(rerun: Rerun, records: Sequence[Record]) -> Bootstrap:
    graph, states = rerun.estimator.graph_, rerun.table.n_answers
    good = [record["records"][0]["tables"] for record in records if "failed" not in record]
    tables = {
        (e.source, e.target): np.array([tables[at] for tables in good], dtype=np.float64).reshape(
            len(good), states[e.source], states[e.target]
        )
        for at, e in enumerate(graph)
    }
    failures = {i: record["failed"] for i, record in enumerate(records) if "failed" in record}
    return Bootstrap(graph, rerun.estimator.model_, tables, failures)
