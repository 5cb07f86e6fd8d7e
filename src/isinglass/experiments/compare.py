"""Several methods on one table: what they agree on, and whose graph predicts new rows best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.engine import Progress, fit_conditionals, threads_for
from isinglass.engine.refits import form_of
from isinglass.errors import IsinglassError, SettingError, Stopped
from isinglass.estimators import GreedyGraph
from isinglass.estimators.folds import Split, splits
from isinglass.estimators.score import row_scores
from isinglass.experiments.fits import Here, Learn, There
from isinglass.experiments.measure import edge_set
from isinglass.frames import by_field, frame
from isinglass.graph import Graph
from isinglass.losses.conditional import NodeFit
from isinglass.parameters import checked
from isinglass.rivals import ChowLiuTree, InteractionScreening, L1Graph
from isinglass.table import Table, encode

Numbers = NDArray[np.float64]
Reporting = Callable[[str, str], AbstractContextManager[tuple[Progress, Progress]]]
COLUMNS = ("method", "edges", "in_common", "score", "difference", "error", "seconds", "failed")


@dataclass(frozen=True)
class Entry:
    """One method's part of a comparison."""

    name: str
    #: Learned from all rows; None if the method failed.
    graph: Graph | None = None
    #: Time of that fit.
    seconds: float = float("nan")
    #: Mean held-out log-likelihood of a row, each column given its neighbours in the graph learned
    #: without the row, all refitted in the same way. Larger is better.
    score: float = float("nan")
    #: Mean difference of the rows' scores from those of the first method.
    difference: float = float("nan")
    #: Its standard error; rows of one cluster count together.
    error: float = float("nan")
    #: Why there is no graph.
    failed: str | None = None

    @property
    def edges(self) -> frozenset[tuple[int, int]]:
        """Pairs of columns; none if the method failed."""
        return edge_set(self.graph) if self.graph is not None else frozenset()


@dataclass(frozen=True)
class Comparison:
    """What `compare` returns: one entry per method; others are compared with the first.

    Attributes
    ----------
    baseline : float
        The held-out score of the graph without edges.
    left_out : float
        Held-out rows that were not scored: they have a state that the other folds lack.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> ig.compare(field.sample(500, seed=0), {"greedy": ig.GreedyGraph()}, folds=2)
    Comparison(greedy: 2 edges)
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

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """One row per method."""
        first = self.entries[0].edges
        columns = by_field(Entry, self.entries)
        columns |= {
            "method": columns["name"],
            "edges": [len(entry.edges) for entry in self.entries],
            "in_common": [len(entry.edges & first) for entry in self.entries],
            "failed": [entry.failed or "" for entry in self.entries],
        }
        return frame({name: columns[name] for name in COLUMNS}, library or self.library)

    def __repr__(self) -> str:
        parts = (f"{entry.name}: {len(entry.edges)} edges" for entry in self.entries)
        return f"Comparison({'; '.join(parts)})"


@checked
def compare(
    X: Any,
    methods: Mapping[str, Any] | None = None,
    *,
    sample_weight: ArrayLike | str | None = None,
    clusters: ArrayLike | str | None = None,
    folds: int = 5,
    seed: int = 0,
    missing: str = "error",
    n_eff: float | str = "sum",
    bins: dict[str, int | Sequence[float]] | None = None,
    max_states: int = 32,
    high: dict[str, Any] | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
    client: Any = None,
) -> Comparison:
    """Learn a table's graph by several methods, and say how they differ.

    Parameters
    ----------
    X : array or data frame
        As for `GreedyGraph.fit`.
    methods : dict of name to estimator, optional
        Anything with ``fit(X, sample_weight=...)`` and ``graph_``. By default, those of
        `default_methods`.
    sample_weight, clusters, missing, n_eff, bins, max_states, high
        As for `GreedyGraph`; missing values may be refused, dropped, or treated as a state. Rows of
        one cluster are in one fold; methods of other packages ignore clusters.
    folds : int
        Parts that are held out in turn, to score the graphs on rows they were not learned from.
    seed : int
        Which rows go to which fold.
    progress : function of (fits done, fits in all), optional
    tell : function of a few words, optional
        Called with the method at work, its rows, and how far it has come.
    client : distributed.Client, optional
        Its workers make the fits, one at a time each; scores are found here. See :doc:`/cluster`.

    Raises
    ------
    Stopped
        On Ctrl-C; its ``result`` is the comparison of the methods that were done.

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
    table = encode(
        X,
        sample_weight,
        clusters,
        missing=missing,
        n_eff=n_eff,
        bins=bins,
        max_states=max_states,
        high=high,
    )
    chosen = default_methods(table) if methods is None else dict(methods)
    if not chosen:
        raise SettingError("compare needs at least one method.")
    judges = [_Judge(split) for split in splits(table, folds, seed)]
    tables = [table, *(judge.split.training for judge in judges)]
    fits: Here | There = Here(chosen, tables) if client is None else There(chosen, tables, client)
    of_fit = _reporting(len(chosen) * (folds + 1), progress, tell)
    trials: dict[str, Trial] = {
        name: (Entry(name, failed="stopped before it was done"), None) for name in chosen
    }
    try:
        with fits as learn:
            for name in chosen:
                try:
                    trials[name] = _tried(name, learn, judges, of_fit)
                except IsinglassError as error:
                    trials[name] = Entry(name, failed=str(error)), None
    except KeyboardInterrupt:
        raise Stopped(_compared(table, judges, trials)) from None
    return _compared(table, judges, trials)


def _compared(table: Table, judges: Sequence[_Judge], trials: Mapping[str, Trial]) -> Comparison:
    """What the methods that were tried found; the others have failed."""
    weights = np.concatenate([judge.split.rows.weights for judge in judges])
    groups = _clusters([judge.split.rows for judge in judges])
    none, (_, first) = Graph(table.names, ()), next(iter(trials.values()))
    return Comparison(
        tuple(_entry(*trial, first, weights, groups) for trial in trials.values()),
        baseline=_average(np.concatenate([judge.scores(none) for judge in judges]), weights),
        rows=table.n,
        folds=len(judges),
        left_out=sum(judge.split.left_out for judge in judges),
        library=table.library,
    )


def default_methods(table: Table) -> dict[str, Any]:
    """Greedy, and those of its rivals that the table allows, each with its own default rule.

    l1 is logistic, or group-l1 if some column has more than two states; interaction screening
    is for two states only; both ends decide together where they see the same rows.
    """
    if max(table.n_states) <= 2:
        others: dict[str, Any] = {"l1": L1Graph(), "screening": InteractionScreening()}
    else:
        others = {"group l1": L1Graph()}
    joint = {} if table.available else {"greedy joint": GreedyGraph(rule="joint")}
    return {"greedy": GreedyGraph(), **joint, **others, "tree": ChowLiuTree()}


Trial = tuple[Entry, Numbers | None]
"""What a method found, and its scores of all held-out rows; None if it failed."""


class _Judge:
    """Scores graphs on the rows of one fold, by conditionals refitted on the other folds.

    Methods mostly agree on a column's neighbours, so what was fitted for one is kept for others.
    """

    def __init__(self, split: Split) -> None:
        self.split = split
        self._fits: dict[tuple[int, tuple[tuple[int, str], ...]], NodeFit] = {}

    def scores(self, graph: Graph, progress: Progress | None = None) -> Numbers:
        """The log-likelihood of every row, each column given its neighbours."""
        near, forms = graph.neighbourhoods, graph.forms
        wanted = [
            (r, tuple((t, form_of(forms, r, t)) for t in others)) for r, others in enumerate(near)
        ]
        new = set(wanted) - self._fits.keys()
        if new:
            fits = fit_conditionals(
                self.split.training,
                [near[one[0]] if one in new else [] for one in wanted],
                forms,
                threads=threads_for(None, len(wanted)),
                progress=progress,
            )
            self._fits |= {one: fits[one[0]] for one in new}
        return row_scores([self._fits[one] for one in wanted], self.split.rows)


def _tried(name: str, learn: Learn, judges: Sequence[_Judge], of_fit: Reporting) -> Trial:
    with of_fit(name, "all rows") as (learning, _):
        graph, seconds = learn(name, 0, learning)
    entry, scores = Entry(name, graph, seconds), []
    for number, judge in enumerate(judges, start=1):
        with of_fit(name, f"fold {number} of {len(judges)}") as (learning, scoring):
            found, _ = learn(name, number, learning)
            scores.append(judge.scores(found, scoring))
    return entry, np.concatenate(scores)


def _clusters(folds: Sequence[Table]) -> NDArray[np.intp] | None:
    """The clusters of all held-out rows; no cluster is in two folds."""
    numbers = [fold.clusters for fold in folds if fold.clusters is not None]
    if len(numbers) < len(folds):
        return None
    before = np.cumsum([0, *(own.max(initial=-1) + 1 for own in numbers)])
    return np.concatenate([own + first for own, first in zip(numbers, before, strict=False)])


def _entry(
    entry: Entry,
    scores: Numbers | None,
    first: Numbers | None,
    weights: Numbers,
    clusters: NDArray[np.intp] | None,
) -> Entry:
    """With the mean score of a method, and its difference from that of the first."""
    if scores is None:
        return entry
    entry = replace(entry, score=_average(scores, weights))
    if first is None:
        return entry
    difference = scores - first
    mean = _average(difference, weights)
    if clusters is None:
        variance = _average((difference - mean) ** 2, weights) / weights.sum()
    else:
        sums = np.bincount(clusters, weights * (difference - mean))
        variance = float(np.square(sums).sum() / weights.sum() ** 2)
    return replace(entry, difference=mean, error=float(np.sqrt(variance)))


def _average(values: Numbers, weights: Numbers) -> float:
    return float(np.average(values, weights=weights)) if weights.sum() > 0 else float("nan")


def _reporting(
    total: int, progress: Progress | None, tell: Callable[[str], None] | None
) -> Reporting:
    """Says which fit is being made, and counts those that are done."""
    done = count(1)

    @contextmanager
    def of_fit(name: str, rows: str) -> Iterator[tuple[Progress, Progress]]:
        """One fit and its scores; both may say how many columns are done."""

        def say(what: str, column: int = 0, columns: int = 0) -> None:
            if tell is not None:
                where = f", column {column} of {columns}" if columns else ""
                tell(f"{name}, {what}{rows}{where}")

        say("")
        yield partial(say, ""), partial(say, "scoring ")
        if progress is not None:
            progress(next(done), total)

    return of_fit
