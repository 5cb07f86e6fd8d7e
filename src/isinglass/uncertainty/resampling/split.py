"""Tests of edges on rows that did not choose them: one half chooses, the other tests, many times.

P-values of many splits are joined as in Meinshausen, Meier and Bühlmann, "p-values for
high-dimensional regression", JASA 104 (2009): within a split each is multiplied by the number of
edges the first half chose; over splits a quantile is taken, with a correction for choosing the best
quantile. The false-discovery rate is then controlled for any dependence between pairs (Benjamini
and Yekutieli, Annals of Statistics 29, 2001).
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from isinglass.core.gate import MAX_STATES
from isinglass.engine import Progress
from isinglass.errors import SettingError, StoppedEarly
from isinglass.estimators.base import GraphEstimator
from isinglass.frames import by_column, frame
from isinglass.model.fit.layout import Pair
from isinglass.parameters import checked
from isinglass.repeating import Record, Task, are_pairs, repeat
from isinglass.table import encode
from isinglass.table.cells import open_source, without_column
from isinglass.table.clusters import numbered, split_clusters, strata_of_rows
from isinglass.table.coding.factor import Codes
from isinglass.table.rows import split_weights
from isinglass.uncertainty.resampling.rerun import key_of
from isinglass.uncertainty.standard_errors import errors_like

Array = NDArray[np.float64]

#: The smallest quantile over splits that is looked at.
LEAST = 0.05

NULL = (
    "no coupling between the two columns in the pairwise model on the graph that the other half "
    "of the rows chose; where that graph holds all true links of the two, this says that they "
    "are not linked given all other columns"
)


@dataclass(frozen=True, eq=False, repr=False)
class SplitTest:
    """Which links are confirmed on rows that did not choose them; frozen.

    Attributes
    ----------
    names : tuple of str
    p_values : dict of (i, j) to float
        Of every pair that some split chose, joined over splits; all other pairs have 1.
    chosen : dict of (i, j) to float
        In which share of the splits the first half chose the pair.
    level : float
        The false-discovery rate that `edges` keeps.
    splits : int
        Splits that did not fail.
    failures : dict of str to int
        What went wrong in other splits, and how often.
    null : str
        The null hypothesis of a pair.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> test = ig.split_test(ig.GreedyGraph(), field.sample(600, seed=0), splits=4)
    >>> test.to_frame().columns
    ['source', 'target', 'p_value', 'chosen', 'found']
    """

    names: tuple[str, ...]
    p_values: Mapping[Pair, float]
    chosen: Mapping[Pair, float]
    level: float
    splits: int
    failures: Mapping[str, int]
    library: str | None = None
    null: str = NULL

    @property
    def edges(self) -> list[tuple[str, str]]:
        """The pairs found at the level, by name, in column order."""
        pairs = len(self.names) * (len(self.names) - 1) // 2
        found = false_discoveries(self.p_values, pairs, self.level)
        return [(self.names[i], self.names[j]) for i, j in sorted(found)]

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """One row for each pair that some split chose, the smallest p-value first."""
        found = set(self.edges)
        rows = []
        for p_value, pair in sorted((p_value, pair) for pair, p_value in self.p_values.items()):
            a, b = (self.names[end] for end in pair)
            rows.append((a, b, p_value, self.chosen[pair], (a, b) in found))
        names = ("source", "target", "p_value", "chosen", "found")
        return frame(by_column(names, rows), library or self.library)

    def __repr__(self) -> str:
        return (
            f"SplitTest({len(self.edges)} edges at a false-discovery rate of {self.level:g}, "
            f"{self.splits} splits)"
        )


@checked
def split_test(
    estimator: GraphEstimator,
    X: Any,
    sample_weight: ArrayLike | str | None = None,
    *,
    splits: int = 50,
    level: float = 0.05,
    clusters: ArrayLike | str | None = None,
    strata: ArrayLike | None = None,
    seed: int = 0,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    client: Any = None,
) -> SplitTest:
    """Choose a graph on half of the rows, test its edges on the other half, many times.

    The null hypothesis of a pair: no coupling in the pairwise model on the graph that the other
    half chose. Half of the rows find fewer links than all of them.

    Parameters
    ----------
    estimator : GreedyGraph or another
        How a graph is chosen; a copy is fitted to each half, this one is left alone.
    X, sample_weight
        The table, as in ``fit``. Counts are shared out row by row.
    splits : int
    level : float
        The false-discovery rate.
    clusters : array, or the name of a column of `X`, optional
        Rows of one cluster stay in one half, and standard errors account for their dependence.
    strata : array, one label per row, optional
        Every stratum is halved.
    seed, path, n_jobs, progress, client
        As for `resample`; the file has one line per split.

    Examples
    --------
    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.chain(4), signs="positive").sample(1000, seed=0)
    >>> test = ig.split_test(ig.GreedyGraph(), rows, splits=10)
    >>> test.edges
    [('x0', 'x1'), ('x1', 'x2'), ('x2', 'x3')]
    """
    source = open_source(X)
    columns, weights = split_weights(source, sample_weight)
    _, labels = split_clusters(source, columns, clusters)
    for name in (sample_weight, clusters):
        X = without_column(X, name) if isinstance(name, str) else X
    units = None if labels is None else _units(labels)
    layers = None if strata is None else strata_of_rows(strata, weights, None, units)
    halves, source = Halves(estimator, X, weights, units, layers), open_source(X)
    key = "" if path is None else halves.key(seed)
    with warnings.catch_warnings():  # around all threads: filters are those of the process
        warnings.simplefilter("ignore", StoppedEarly)
        records = repeat(
            (
                Task.single(f"{key}/{at}", partial(halves.tested, state))
                for at, state in enumerate(halves.states(splits, seed))
            ),
            work="splits",
            path=path,
            sound=partial(_sound, len(source.names)),
            n_jobs=n_jobs,
            progress=progress,
            client=client,
        )
    failures = Counter(record["failed"] for record in records.values() if "failed" in record)
    good = [record["p_values"] for record in records.values() if "failed" not in record]
    found = [{(i, j): p for i, j, p in p_values} for p_values in good]
    if not found:
        raise SettingError(f"all {splits} splits failed; the first: {next(iter(failures))}")
    pairs = sorted({pair for each in found for pair in each})
    return SplitTest(
        source.names,
        {pair: joined(found, pair) for pair in pairs},
        {pair: sum(pair in each for each in found) / len(found) for pair in pairs},
        float(level),
        len(found),
        dict(failures),
        source.library,
    )


@dataclass(frozen=True, eq=False)
class Halves:
    """A way to choose a graph on some rows, and to test its edges on others."""

    estimator: GraphEstimator
    X: Any
    weights: Array
    clusters: NDArray[np.intp] | None
    strata: NDArray[np.intp] | None = None

    def states(self, splits: int, seed: int) -> Iterator[Mapping[str, Any]]:
        """The states of a random generator from which the splits are drawn, one after another."""
        rng = np.random.default_rng(seed)
        for _ in range(splits):
            yield rng.bit_generator.state
            half_of(self.weights, self.clusters, rng, self.strata)

    def tested(self, state: Mapping[str, Any]) -> Record:
        """P-values of the edges that one half chooses, times their number."""
        rng = np.random.default_rng()
        rng.bit_generator.state = state
        first = half_of(self.weights, self.clusters, rng, self.strata)
        n_eff = self.estimator.n_eff
        halved = n_eff if isinstance(n_eff, str) else float(n_eff) / 2.0
        own: Any = clone(self.estimator).set_params(n_jobs=1, n_eff=halved)
        choosing = self._with_scores_of(own, first)
        graph = choosing.fit(self.X, sample_weight=first, clusters=self.clusters).graph_
        if not len(graph):
            return {"p_values": []}
        left = self.weights - first
        others = self._with_scores_of(own, left).encode(self.X, left, self.clusters)
        model = errors_like(choosing, others, graph)
        p = {}
        for i, j in model.couplings:
            bounded = (i, j) not in model.unbounded
            p[i, j] = model.wald(model.names[i], model.names[j]).p_value if bounded else 1.0
        return {"p_values": [[i, j, min(1.0, len(p) * value)] for (i, j), value in p.items()]}

    def _with_scores_of(self, estimator: Any, weights: Array) -> Any:
        """The estimator, with scores for those states alone that have rows of some weight."""
        given = estimator.get_params(deep=False).get("scores")
        if not given:
            return estimator
        whole = estimator.encode(self.X, self.weights, self.clusters)
        seen = clone(estimator).set_params(scores=None).encode(self.X, weights, self.clusters)
        kept = {}
        for key in given:
            v = whole.names.index(key) if key in whole.names else int(key)
            scores = dict(zip(whole.columns[v].states, whole.scores[v], strict=False))
            if len(seen.columns[v].states) > 2:
                kept[key] = [scores[state] for state in seen.columns[v].states]
        return clone(estimator).set_params(scores=kept or None)

    def key(self, seed: int) -> str:
        """A name for the results of these rows, in this order, and these settings."""
        settings = self.estimator.get_params(deep=False)
        # With every row, so that a missing value does not move those that follow.
        table = encode(self.X, missing="state", bins=settings.get("bins"), max_states=MAX_STATES)
        units = "" if self.clusters is None else _digest(self.clusters)
        method = type(self.estimator).__name__
        layers = () if self.strata is None else (_digest(self.strata),)
        content = (table.fingerprint, _digest(self.weights), units, method, *layers)
        return key_of("splits", self.estimator, seed, *content)


def _sound(columns: int, record: Record) -> bool:
    p_values = [p for *_, p in record["p_values"]]
    pairs = [pair for *pair, _ in record["p_values"]]
    return are_pairs(pairs, columns) and all(0 <= p <= 1 for p in p_values)


def half_of(
    weights: Array,
    clusters: NDArray[np.intp] | None,
    rng: np.random.Generator,
    strata: NDArray[np.intp] | None = None,
) -> Array:
    """Weights of a random half: of the clusters, of the counted rows, or of the rows."""
    if strata is not None:
        parts = np.zeros(len(weights))
        for stratum in range(int(strata.max()) + 1):
            here = strata == stratum
            own = None if clusters is None else numbered(clusters[here])
            parts[here] = half_of(weights[here], own, rng)
        return parts
    if clusters is not None:
        count = int(clusters.max()) + 1
        inside = np.zeros(count, dtype=bool)
        inside[rng.permutation(count)[: count // 2]] = True
        return np.where(inside[clusters], weights, 0.0)
    if np.array_equal(weights, np.rint(weights)) and weights.sum() < 1e9:
        counts = weights.astype(np.int64)
        half = rng.multivariate_hypergeometric(counts, int(counts.sum()) // 2)
        return np.asarray(half, dtype=np.float64)
    chosen = rng.permutation(len(weights))[: len(weights) // 2]
    return np.where(np.isin(np.arange(len(weights)), chosen), weights, 0.0)


def joined(splits: Sequence[Mapping[Pair, float]], pair: Pair) -> float:
    """One p-value of many: the best quantile from LEAST up, paid for.

    >>> joined([{(0, 1): 0.001}] * 20, (0, 1)) < 0.005
    True
    >>> joined([{(0, 1): 0.001}] + [{}] * 19, (0, 1))
    0.0799...
    """
    ordered = np.sort([split.get(pair, 1.0) for split in splits])
    shares = np.arange(1, len(ordered) + 1) / len(ordered)
    allowed = shares >= LEAST
    best = float(np.min(ordered[allowed] / shares[allowed]))
    return min(1.0, (1.0 - float(np.log(LEAST))) * best)


def false_discoveries(p_values: Mapping[Pair, float], pairs: int, level: float) -> Iterable[Pair]:
    """Pairs to keep so that the false-discovery rate is at most `level`.

    The p-values are already multiplied by the number of tests, so the i-th smallest is compared
    with i times the level, over the sum of 1/k up to all pairs.
    """
    order = sorted(p_values, key=lambda pair: p_values[pair])
    harmonic = float(np.sum(1.0 / np.arange(1, pairs + 1)))
    kept = [at for at, pair in enumerate(order, start=1) if p_values[pair] <= at * level / harmonic]
    return order[: kept[-1]] if kept else []


def _digest(numbers: NDArray[Any]) -> str:
    return sha256(numbers.astype("<f8").tobytes()).hexdigest()


def _units(labels: Codes) -> NDArray[np.intp]:
    numbers = numbered(labels)
    if numbers.max() < 3:
        raise SettingError("a split needs at least four clusters, two per half.")
    return numbers
