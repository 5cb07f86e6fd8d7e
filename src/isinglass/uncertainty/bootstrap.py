"""How parameters spread when rows are drawn again, the graph held fixed.

The bootstrap is for parameters only: graphs learned from bootstrap resamples hold many more false
edges than the fit, since a resample carries the sample's own noise twice.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.engine.learn import threads_for
from isinglass.errors import SettingError, StoppedEarly
from isinglass.estimators.base import GraphEstimator
from isinglass.frames import frame
from isinglass.graph import Graph, position_of
from isinglass.model.codings import table_against
from isinglass.model.field import MarkovField
from isinglass.model.fit import fit_model
from isinglass.model.layout import Pair
from isinglass.model.parameter_errors import COLUMNS
from isinglass.model.potentials import CONDITION
from isinglass.model.settings import check_between, check_whole
from isinglass.table import Table
from isinglass.uncertainty.sandwich import group_numbers

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap:
    """Models of resampled rows on one graph; frozen.

    Attributes
    ----------
    model : MarkovField
        Of all rows.
    tables : dict of (i, j) to array (resamples, m_i, m_j)
        The couplings of each edge; NaN in resamples that leave it unbounded.
    resamples : int
    failures : dict of str to int
        What went wrong in how many resamples; never fatal, and left out of the intervals.
    """

    model: MarkovField
    tables: Mapping[Pair, Array]
    resamples: int
    failures: Mapping[str, int]

    def errors(self, a: str, b: str) -> Array:
        """Standard errors of an edge's log odds ratios against its first states."""
        return np.asarray(np.nanstd(self._ratios(a, b), axis=0, ddof=1))

    def interval(self, a: str, b: str, level: float = 0.95) -> tuple[Array, Array]:
        """Quantiles of an edge's log odds ratios against its first states."""
        check_between("level", level, 0.0, 1.0)
        tail = (1.0 - level) / 2.0
        low, high = np.nanquantile(self._ratios(a, b), [tail, 1.0 - tail], axis=0)
        return low, high

    def _ratios(self, a: str, b: str) -> Array:
        i, j = position_of(a, self.model.names), position_of(b, self.model.names)
        pair = (min(i, j), max(i, j))
        if pair not in self.tables:
            raise SettingError(f"there is no edge between {a!r} and {b!r}.")
        tables = self.tables[pair]
        if np.isnan(tables).any(axis=(1, 2)).sum() > len(tables) - 2:
            raise SettingError(f"the edge of {a!r} and {b!r} is unbounded in all resamples.")
        ratios = np.array([table_against(table, 0, 0) for table in tables])
        return ratios if i < j else ratios.transpose(0, 2, 1)

    def to_frame(self, level: float = 0.95) -> Any:
        """One row for each edge and pair of states, as ``MarkovField.intervals`` has them."""
        rows = [row for pair in self.tables for row in self._rows(pair, level)]
        return frame({key: [row[key] for row in rows] for key in COLUMNS}, self.model.library)

    def _rows(self, pair: Pair, level: float) -> list[dict[str, Any]]:
        names = self.model.names[pair[0]], self.model.names[pair[1]]
        ratios = table_against(self.model.couplings[pair], 0, 0)
        bounded = pair not in self.model.unbounded
        errors = self.errors(*names) if bounded else ratios
        low, high = self.interval(*names, level) if bounded else (ratios, ratios)
        return [
            {
                "source": names[0],
                "target": names[1],
                "source_state": str(self.model.states[pair[0]][a]),
                "target_state": str(self.model.states[pair[1]][b]),
                "log_odds": float(ratios[a, b]),
                "error": float(errors[a, b]) if bounded else None,
                "low": float(low[a, b]) if bounded else None,
                "high": float(high[a, b]) if bounded else None,
                "unbounded": not bounded,
                "condition": CONDITION,
            }
            for a in range(1, ratios.shape[0])
            for b in range(1, ratios.shape[1])
        ]

    def __repr__(self) -> str:
        failed = sum(self.failures.values())
        return f"Bootstrap({self.resamples} resamples, {failed} failures, {CONDITION})"


def bootstrap(
    estimator: GraphEstimator,
    *,
    resamples: int = 200,
    clusters: ArrayLike | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Bootstrap:
    """Fit the parameters of ``graph_`` to resampled rows, as many as there are, with replacement.

    Parameters
    ----------
    estimator : GreedyGraph or another, fitted
    resamples : int
    clusters : array, one label a row, optional
        Whole clusters are drawn then, instead of rows.
    seed : int
        The same whatever `n_jobs`.
    n_jobs : int, optional
        Processes; None means all cores.
    progress : function of (resamples done, resamples in all), optional

    Returns
    -------
    Bootstrap

    Examples
    --------
    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.chain(3), signs="positive").sample(500, seed=0)
    >>> boot = ig.bootstrap(ig.GreedyGraph().fit(rows), resamples=20, n_jobs=1)
    >>> low, high = boot.interval("x0", "x1")
    >>> bool(low[1, 1] < 2.0 < high[1, 1])
    True
    """
    check_whole("resamples", resamples, 2)
    table, graph = estimator._table, estimator.graph_
    groups = None if clusters is None else group_numbers(table, clusters)
    intercept = bool(getattr(estimator, "intercept", True))
    resample = Resample(table, graph, groups, estimator.n_eff == "kish", intercept)
    seeds = np.random.SeedSequence(seed).spawn(resamples)
    models = []
    for model in _in_turn(resample, seeds, threads_for(n_jobs, resamples)):
        models.append(model)
        if progress is not None:
            progress(len(models), resamples)
    return Bootstrap(estimator.model_, _tables(models, graph), resamples, _failures(models))


@dataclass(frozen=True, eq=False)
class Resample:
    """One resample of a table's rows, and the model fitted to it."""

    table: Table
    graph: Graph
    groups: NDArray[np.intp] | None
    sampling: bool
    intercept: bool

    def __call__(self, seed: np.random.SeedSequence) -> MarkovField:
        weights = self.weights(np.random.default_rng(seed))
        drawn = weights > 0
        table = replace(self.table, codes=self.table.codes[drawn], weights=weights[drawn])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StoppedEarly)
            return fit_model(table, self.graph, intercept=self.intercept)

    def weights(self, rng: np.random.Generator) -> Array:
        """New weights for the rows: each as often as it was drawn."""
        weights = self.table.weights
        if self.groups is not None:
            count = int(self.groups.max()) + 1
            return weights * rng.multinomial(count, np.full(count, 1 / count))[self.groups]
        if self.sampling:
            n = len(weights)
            return weights * rng.multinomial(n, np.full(n, 1 / n))
        total = max(1, round(float(weights.sum())))
        return rng.multinomial(total, weights / weights.sum()).astype(np.float64)


def _in_turn(resample: Resample, seeds: list[np.random.SeedSequence], jobs: int) -> Any:
    if jobs == 1:
        return map(resample, seeds)
    from joblib import Parallel, delayed

    return Parallel(jobs, return_as="generator")(delayed(resample)(seed) for seed in seeds)


def _tables(models: list[MarkovField], graph: Graph) -> dict[Pair, Array]:
    return {
        (link.source, link.target): np.array(
            [_bounded(model, (link.source, link.target)) for model in models]
        )
        for link in graph.links
    }


def _bounded(model: MarkovField, pair: Pair) -> Array:
    table = model.couplings[pair]
    return np.full(table.shape, np.nan) if pair in model.unbounded else table


def _failures(models: list[MarkovField]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for model in models:
        for i, j in sorted(model.unbounded):
            reason = f"{model.names[i]!r} -- {model.names[j]!r} unbounded"
            counts[reason] = counts.get(reason, 0) + 1
    return counts
