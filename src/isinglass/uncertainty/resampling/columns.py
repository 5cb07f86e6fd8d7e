"""How uncertain the strength and the expected influence of each column are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.engine import Progress
from isinglass.estimators import GreedyGraph
from isinglass.frames import by_column, frame
from isinglass.graph import Graph
from isinglass.measures import sums
from isinglass.parameters import checked
from isinglass.repeating import Record
from isinglass.uncertainty.resampling.rerun import Rerun, failures_of

Array = NDArray[np.float64]
#: What is measured of every column, as `measures.nodes` names it.
MEASURES = ("strength", "expected_influence")


@dataclass(frozen=True, eq=False, repr=False)
class ColumnIntervals:
    """Measures of columns with their spread over half-samples; `column_intervals` makes it.

    Attributes
    ----------
    graph : Graph
        The graph of the whole table.
    draws : dict of "strength" and "expected_influence" to arrays of shape (half-samples, columns)
        NaN where a column has links, but none with a sign.
    rows : int
        How many a half-sample has: rows, or clusters, whichever was drawn (`what`).
    failures : dict of int to str
        For each pair of half-samples that failed, its number and the reason.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.star(4, 3), coupling=0.6, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ig.column_intervals(est, n=10)
    ColumnIntervals(4 columns, 10 half-samples of 500 rows)
    """

    graph: Graph
    draws: dict[str, Array]
    rows: int
    failures: dict[int, str]
    what: str = "row"

    @checked
    def to_frame(self, level: float = 0.95, library: str | None = None) -> Any:
        """Return a data frame, one row per column and measure: name, measure, value, low, high."""
        names = ("name", "measure", "value", "low", "high")
        rows = (
            (name, measure, value, low, high)
            for measure, whole in sums(self.graph).items()
            for name, value, low, high in zip(
                self.graph.names, whole, *self._limits(measure, whole, level), strict=True
            )
        )
        return frame(by_column(names, rows), library or self.graph.library)

    def _limits(
        self, measure: str, whole: list[float | None], level: float
    ) -> tuple[list[float | None], list[float | None]]:
        """Each value, less and plus what half-samples differ from their own mean."""
        draws = self.draws[measure]
        known = np.isfinite(draws).sum(axis=0) > 1
        own = np.where(known, draws, 0.0)
        away = own - np.nanmean(own, axis=0) if len(own) else own.reshape(1, -1)
        ends = np.nanquantile(away, [(1 - level) / 2, (1 + level) / 2], axis=0)
        least = 0.0 if measure == "strength" else -np.inf
        low, high = (
            [
                max(value + float(shift), least) if there and value is not None else None
                for value, shift, there in zip(whole, end, known, strict=True)
            ]
            for end in ends
        )
        return low, high

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} pairs failed" if self.failures else ""
        return (
            f"ColumnIntervals({len(self.graph.names)} columns, {len(self.draws['strength'])} "
            f"half-samples of {self.rows} {self.what}s{failed})"
        )


@checked
def column_intervals(
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
) -> ColumnIntervals:
    """Measure every column in the graphs of half-samples: intervals of strength and influence.

    Half-samples are drawn without replacement, and each has a graph of its own. Values of half of
    the rows spread around their mean about as much as values of whole tables do (the jackknife that
    deletes half of the rows), so the interval is the value of the whole table, plus and minus the
    deviations of half-samples from their mean. It covers both sources of uncertainty, which links
    are found and how strong they are, but not the links that are too weak to be found at all.

    Parameters
    ----------
    estimator, X, seed, sample_weight, clusters, strata, path, n_jobs, progress, client
        As for `resample`.
    n : int
        Half-samples; an even number.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.star(4, 3), coupling=0.6, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> found = ig.column_intervals(est, n=20).to_frame()
    >>> hub = found.row(0, named=True)
    >>> hub["name"], hub["measure"], hub["low"] < hub["value"] < hub["high"]
    ('x0', 'strength', True)
    """
    rerun = Rerun.of(estimator, X, sample_weight, clusters, strata)
    rerun.drawer.check_halves()
    how: Any = {"path": path, "n_jobs": n_jobs, "progress": progress, "client": client}
    how |= {"work": "measures of half-samples", "sound": _sound}
    done = rerun.repeat("columns", zip(range(int(n) // 2)), _halves, seed=seed, **how)
    records = list(done.values())
    halves = [half for record in records for half in record.get("records", ())]
    columns = len(rerun.table.columns)
    draws = {
        measure: np.array([half[measure] for half in halves], float).reshape(-1, columns)
        for measure in MEASURES
    }
    graph, drawer = rerun.estimator.graph_, rerun.drawer
    return ColumnIntervals(graph, draws, drawer.half, failures_of(records), drawer.what)


def _halves(rerun: Rerun, seed: int, number: int) -> Record:
    halves = rerun.drawer.halves(np.random.default_rng([seed, number]))
    return {"records": [dict(sums(rerun.graph(half))) for half in halves]}


def _sound(rerun: Rerun, record: Record) -> bool:
    halves, p = record["records"], len(rerun.table.columns)
    return len(halves) == 2 and all(
        len(half[measure]) == p and all(v is None or -p <= v <= p for v in half[measure])
        for half in halves
        for measure in MEASURES
    )
