"""Several methods on one table: what they agree on, and whose graph predicts new rows best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from isinglass.errors import IsinglassError, SettingError
from isinglass.estimators import GreedyGraph
from isinglass.estimators.score import refit_conditionals, row_scores
from isinglass.experiments.measure import edge_set
from isinglass.frames import frame
from isinglass.graph import Graph
from isinglass.rivals import ChowLiuTree, InteractionScreening, L1Graph
from isinglass.table import Table, encode

Numbers = NDArray[np.float64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Entry:
    """One method's part of a comparison.

    Attributes
    ----------
    name : str
    graph : Graph or None
        Learned from all rows; None if the method failed.
    seconds : float
        Time of that fit.
    score : float
        Mean held-out log-likelihood of a row, each column given its neighbours in the graph
        learned without the row, all refitted in the same way. Larger is better.
    difference, error : float
        Mean difference of the rows' scores from those of the first method, and its standard
        error.
    failed : str or None
        Why there is no graph.
    """

    name: str
    graph: Graph | None
    seconds: float = float("nan")
    score: float = float("nan")
    difference: float = float("nan")
    error: float = float("nan")
    failed: str | None = None

    @property
    def edges(self) -> frozenset[tuple[int, int]]:
        """Pairs of columns; none if the method failed."""
        return edge_set(self.graph) if self.graph is not None else frozenset()


@dataclass(frozen=True)
class Comparison:
    """What `compare` returns: one entry a method, the first one being what others are held to.

    Attributes
    ----------
    entries : tuple of Entry
    baseline : float
        The held-out score of the graph without edges.
    rows : float
    folds : int
    left_out : float
        Held-out rows that were not scored: they have a state that the other folds lack.
    """

    entries: tuple[Entry, ...]
    baseline: float
    rows: float
    folds: int
    left_out: float
    library: str | None = None

    def common(self) -> NDArray[np.int64]:
        """Edges that each two methods share; on the diagonal, edges of each."""
        sets = [entry.edges for entry in self.entries]
        return np.array([[len(a & b) for b in sets] for a in sets])

    def to_frame(self, library: str | None = None) -> Any:
        """One row a method."""
        first = self.entries[0].edges
        columns: dict[str, list[Any]] = {
            "method": [entry.name for entry in self.entries],
            "edges": [len(entry.edges) for entry in self.entries],
            "in_common": [len(entry.edges & first) for entry in self.entries],
            "score": [entry.score for entry in self.entries],
            "difference": [entry.difference for entry in self.entries],
            "error": [entry.error for entry in self.entries],
            "seconds": [entry.seconds for entry in self.entries],
            "failed": [entry.failed or "" for entry in self.entries],
        }
        return frame(columns, library or self.library)

    def __repr__(self) -> str:
        parts = (f"{entry.name}: {len(entry.edges)} edges" for entry in self.entries)
        return f"Comparison({'; '.join(parts)})"


def compare(
    X: Any,
    methods: Mapping[str, Any] | None = None,
    *,
    sample_weight: ArrayLike | str | None = None,
    folds: int = 5,
    seed: int = 0,
    missing: str = "error",
    n_eff: float | str = "sum",
    bins: dict[str, int] | None = None,
    max_states: int = 32,
    progress: Progress | None = None,
) -> Comparison:
    """Learn a table's graph by several methods, and say how they differ.

    Parameters
    ----------
    X : array or data frame
        As for `GreedyGraph.fit`.
    methods : dict of name to estimator, optional
        Anything with ``fit(X, sample_weight=...)`` and ``graph_``. By default, those of
        `default_methods`.
    sample_weight, missing, n_eff, bins, max_states
        As for `GreedyGraph`; gaps may be refused, dropped, or taken as a state.
    folds : int
        Parts that are held out in turn, to score the graphs on rows they were not learned from.
    seed : int
        Which rows go to which fold.
    progress : function of (fits done, fits in all), optional

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(6), seed=1)
    >>> both = {"greedy": ig.GreedyGraph(), "paper": ig.GreedyGraph("paper")}
    >>> result = compare(field.sample(800, seed=1), both)
    >>> result
    Comparison(greedy: 5 edges; paper: 5 edges)
    >>> result.common().tolist()
    [[5, 5], [5, 5]]
    """
    if missing == "available":
        raise SettingError('compare takes missing="error", "drop" or "state": methods differ.')
    if folds < 2:
        raise SettingError(f"folds must be 2 or more, got {folds!r}.")
    table = encode(X, sample_weight, missing=missing, n_eff=n_eff, bins=bins, max_states=max_states)
    chosen = default_methods(table) if methods is None else dict(methods)
    if not chosen:
        raise SettingError("compare needs at least one method.")
    splits = list(_splits(table, folds, seed))
    report = _counting(len(chosen) * (folds + 1), progress)
    trials = {name: _try(method, table, splits, report) for name, method in chosen.items()}
    weights = np.concatenate([split.rows.weights for split in splits])
    none = Graph(table.names, ())
    return Comparison(
        tuple(_entry(name, trials, weights) for name in trials),
        baseline=_average(_held_out_scores([none] * folds, splits), weights),
        rows=table.n,
        folds=folds,
        left_out=sum(split.left_out for split in splits),
        library=table.library,
    )


def default_methods(table: Table) -> dict[str, Any]:
    """Greedy, and those of its rivals that the table allows, each with its own default rule.

    l1 is logistic, or group-l1 if some column has more than two states; interaction screening
    is for two states only.
    """
    binary = max(table.n_states) <= 2
    methods: dict[str, Any] = {
        "greedy": GreedyGraph(),
        "l1" if binary else "group l1": L1Graph(),
        "screening": InteractionScreening(),
        "tree": ChowLiuTree(),
    }
    if not binary:
        del methods["screening"]
    return methods


@dataclass(frozen=True)
class _Split:
    """Rows to learn from, and rows to be judged by, in the same codes."""

    training: Table
    rows: Table
    left_out: float


@dataclass(frozen=True)
class _Trial:
    """What one method did."""

    graph: Graph | None = None
    seconds: float = float("nan")
    scores: Numbers | None = None
    failed: str | None = None


def _splits(table: Table, folds: int, seed: int) -> Iterator[_Split]:
    for held_out in held_out_weights(table.weights, folds, seed).T:
        kept = table.weights - held_out
        training, states = replace(table, weights=kept).part(kept > 0)
        codes, known = _recoded(table, states, held_out > 0)
        weights = held_out[held_out > 0]
        rows = replace(training, codes=codes[known], weights=weights[known], total=None)
        yield _Split(replace(training, total=None), rows, float(weights[~known].sum()))


def held_out_weights(weights: Numbers, folds: int, seed: int) -> Numbers:
    """The weight that each fold holds out of each row, (rows, folds).

    A row of weight w, if all weights are whole, is w rows that may go to different folds.

    >>> held_out_weights(np.array([4.0, 2.0]), folds=3, seed=0).sum(axis=1)
    array([4., 2.])
    >>> held_out_weights(np.array([4.0, 2.0]), folds=3, seed=0).sum(axis=0)
    array([2., 2., 2.])
    """
    whole = bool((weights == np.round(weights)).all())
    copies = weights.astype(np.int64) if whole else np.ones(len(weights), np.int64)
    total = int(copies.sum())
    if total < folds:
        raise SettingError(f"{folds} folds need as many rows; there are {total}. Take fewer folds.")
    fold = np.random.default_rng(seed).permutation(total) % folds
    held = np.zeros((len(weights), folds))
    np.add.at(held, (np.repeat(np.arange(len(weights)), copies), fold), 1.0)
    return held if whole else held * weights[:, None]


def _recoded(
    table: Table, states: list[NDArray[np.intp]], rows: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Some rows in the codes of fewer states, and which of them have none but those states."""
    codes = table.codes[rows].copy(order="F")
    known = np.ones(len(codes), dtype=bool)
    for j, kept in enumerate(states):
        place = np.minimum(np.searchsorted(kept, codes[:, j]), len(kept) - 1)
        known &= kept[place] == codes[:, j]
        codes[:, j] = place
    return codes, known


def _try(method: Any, table: Table, splits: Sequence[_Split], report: Callable[[], None]) -> _Trial:
    try:
        started = perf_counter()
        graph = _learn(method, table)
        seconds = perf_counter() - started
        report()
        graphs = []
        for split in splits:
            graphs.append(_learn(method, split.training))
            report()
        return _Trial(graph, seconds, _held_out_scores(graphs, splits))
    except IsinglassError as error:
        return _Trial(failed=str(error))


def _learn(method: Any, table: Table) -> Graph:
    """One fit on codes; the graph in the names of the table."""
    estimator = clone(method)
    if "n_eff" in estimator.get_params():
        estimator.set_params(n_eff=table.n)
    graph = estimator.fit(table.codes, sample_weight=table.weights).graph_
    ordered = [column.ordered for column in table.columns]
    links = tuple(
        link if ordered[link.source] and ordered[link.target] else replace(link, sign=0)
        for link in graph
    )
    return Graph(table.names, links, table.library)


def _held_out_scores(graphs: Sequence[Graph], splits: Sequence[_Split]) -> Numbers:
    """The score of every held-out row, by conditionals refitted on the other folds."""
    return np.concatenate(
        [
            row_scores(refit_conditionals(graph, split.training), split.rows)
            for graph, split in zip(graphs, splits, strict=True)
        ]
    )


def _entry(name: str, trials: Mapping[str, _Trial], weights: Numbers) -> Entry:
    trial, first = trials[name], next(iter(trials.values()))
    if trial.scores is None:
        return Entry(name, None, failed=trial.failed)
    score = _average(trial.scores, weights)
    if first.scores is None:
        return Entry(name, trial.graph, trial.seconds, score)
    difference = trial.scores - first.scores
    mean = _average(difference, weights)
    variance = _average((difference - mean) ** 2, weights)
    error = float(np.sqrt(variance / weights.sum()))
    return Entry(name, trial.graph, trial.seconds, score, mean, error)


def _average(values: Numbers, weights: Numbers) -> float:
    return float(np.average(values, weights=weights)) if weights.sum() > 0 else float("nan")


def _counting(total: int, progress: Progress | None) -> Callable[[], None]:
    """A function to be called once a fit."""
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return count
