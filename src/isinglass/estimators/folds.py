"""Rows to learn from and rows to be judged by, in the same codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from isinglass.engine import Progress
from isinglass.engine.available import seen_rows
from isinglass.errors import SettingError
from isinglass.estimators.base import GraphEstimator
from isinglass.frames import frame
from isinglass.graph import Graph, Link, Unvalued
from isinglass.losses.forms import TABLE
from isinglass.table import Table
from isinglass.table.coding.adjusted import LEAST_BINS

Numbers = NDArray[np.float64]
#: Copies that are dealt one by one; rows of more are dealt whole.
MANY = 1e8


@dataclass(frozen=True)
class Split:
    """One fold.

    Attributes
    ----------
    training, rows : Table
        What the other folds hold, and what this one does; states are those of `training`.
    left_out : float
        The weight of held-out rows with a state that the other folds lack.
    """

    training: Table
    rows: Table
    left_out: float


def splits(table: Table, folds: int, seed: int) -> Iterator[Split]:
    """Split the rows of a table into folds, each in turn held out."""
    for held_out in held_out_weights(table.weights, folds, seed, table.clusters).T:
        kept = table.weights - held_out
        training, states = replace(table, weights=kept).part(kept > 0)
        training = replace(training, total=None, available=table.available, by_model=table.by_model)
        codes, known = _recoded(table.wide, states, held_out > 0)
        weights = held_out[held_out > 0]
        rows = replace(training.wide, codes=codes[known], weights=weights[known])
        rows = replace(rows, clusters=table.clusters_of(np.flatnonzero(held_out > 0)[known]))
        if table.adjusted is not None:
            rows = rows.narrow(table.adjusted.positions)
        yield Split(training, rows, float(weights[~known].sum()))


def held_out_weights(
    weights: Numbers, folds: int, seed: int, clusters: NDArray[np.intp] | None = None
) -> Numbers:
    """The weight that each fold holds out of each row, (rows, folds).

    A row of weight w, if all weights are whole, is w rows that may go to different folds; rows of
    one cluster all go to the same.

    >>> held_out_weights(np.array([4.0, 2.0]), folds=3, seed=0).sum(axis=1)
    array([4., 2.])
    >>> held_out_weights(np.array([4.0, 2.0]), folds=3, seed=0).sum(axis=0)
    array([2., 2., 2.])
    """
    if clusters is not None:
        return _of_clusters(clusters, folds, seed) * weights[:, None]
    whole = bool((weights == np.round(weights)).all()) and weights.sum() < MANY
    copies = weights.astype(np.int64) if whole else np.ones(len(weights), np.int64)
    total = int(copies.sum())
    if total < folds:
        raise SettingError(f"{total} rows cannot be split into {folds} folds. Use fewer folds.")
    fold = np.random.default_rng(seed).permutation(total) % folds
    held = np.zeros((len(weights), folds))
    np.add.at(held, (np.repeat(np.arange(len(weights)), copies), fold), 1.0)
    return held if whole else held * weights[:, None]


def _of_clusters(clusters: NDArray[np.intp], folds: int, seed: int) -> Numbers:
    """Which rows each fold holds out, (rows, folds)."""
    count = int(clusters.max()) + 1
    if count < folds or count - -(-count // folds) < 2:
        raise SettingError(
            f"{count} clusters cannot be split into {folds} folds of whole clusters, with two "
            "clusters or more outside of each. Change the number of folds, or leave clusters out."
        )
    fold = np.random.default_rng(seed).permutation(count) % folds
    return np.asarray(fold[clusters][:, None] == np.arange(folds), dtype=np.float64)


def with_weights(table: Table, weights: Numbers) -> Table:
    """The rows that have a weight, with the states of the whole table."""
    rows = weights > 0
    part = replace(table, codes=table.codes[rows], weights=weights[rows], total=None)
    return replace(part, clusters=table.clusters_of(rows), adjusted=table.adjusted_of(rows))


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


def learn_like(method: Any, table: Table, progress: Progress | None = None) -> Graph:
    """The graph that an unfitted copy of an estimator learns from codes, in a table's names.

    Clusters and `progress` are for estimators of this package; others do not receive them.
    """
    estimator = clone(method)
    as_coded = {"bins": None, "high": None, "max_states": max(2, *table.wide.n_states)}
    settings = {"n_eff": "design" if table.design else table.n, **as_coded, **_adjustment(table)}
    known = estimator.get_params()
    unordered: tuple[int, ...] = ()
    if known.get("edges", TABLE) != TABLE:  # then it matters which columns are ordered, and how
        settings |= {"ordered": None, "scores": coded_scores(table, table.codes)}
        unordered = unordered_columns(table)
    estimator.set_params(**{key: value for key, value in settings.items() if key in known})
    own = isinstance(estimator, GraphEstimator)
    more = {"clusters": table.clusters, "progress": progress} if own else {}
    graph = estimator.fit(_cells(table, unordered), sample_weight=table.weights, **more).graph_

    def links() -> tuple[Link, ...]:  # with signs where both columns are ordered
        return tuple(
            link
            if table.ordered[link.source] and table.ordered[link.target]
            else link._replace(sign=0)
            for link in graph.links
        )

    return Graph(table.names, Unvalued(graph.pairs, links, lambda: graph.forms), table.library)


def _adjustment(table: Table) -> dict[str, Any]:
    """What an estimator adjusts for, in codes: the last columns of `_cells`, not binned again."""
    if table.adjusted is None:
        return {"adjust": None}
    first = len(table.columns)
    wide = enumerate(table.wide.columns[first:], start=first)
    last = {at if table.library is None else column.name: len(column.states) for at, column in wide}
    bins = {name: (np.arange(m - 1) + 0.5).tolist() for name, m in last.items() if m > LEAST_BINS}
    return {"adjust": list(last), "bins": bins}


def unordered_columns(table: Table) -> tuple[int, ...]:
    """The columns whose codes, if they were numbers, would be taken for ordered states."""
    states = zip(table.n_answers, table.ordered, strict=True)
    return tuple(v for v, (m, ordered) in enumerate(states) if m > 2 and not ordered)


def coded_scores(table: Table, codes: NDArray[Any]) -> dict[Any, list[float]] | None:
    """The scores of those states that occur among some codes, where they are not 0, 1, 2, ..."""
    found: dict[Any, list[float]] = {}
    for v, (scores, m) in enumerate(zip(table.scores, table.n_answers, strict=True)):
        if scores is not None and m > 2:
            present = np.unique(codes[:, v])
            kept = [scores[code] for code in present[present < m].tolist()]
            if np.any(np.diff(kept, 2) != 0):
                found[v if table.library is None else table.names[v]] = kept
    return found or None


def _cells(table: Table, unordered: Sequence[int] = ()) -> Any:
    """Codes as cells under the table's names; missing where the table has missing values."""
    wide, missing = table.wide, None
    if table.available:
        missing = ~np.column_stack([seen_rows(table, r) for r in range(len(table.columns))])
        missing = np.pad(missing, ((0, 0), (0, len(wide.columns) - len(table.columns))))
    names = None if table.library is None else wide.names
    return as_written(wide.codes, missing, names, unordered)


def as_written(
    codes: NDArray[Any],
    missing: NDArray[np.bool_] | None,
    names: Sequence[str] | None,
    unordered: Sequence[int] = (),
) -> Any:
    """Codes in the form of a user's table: an array, or a frame where columns have names.

    Numbers are ordered; columns in `unordered` become text.

    >>> as_written(np.array([[0, 1]]), np.array([[True, False]]), None)
    array([[nan,  1.]])
    >>> as_written(np.array([[0, 1]]), None, None, unordered=[1])
    array([[0, 's001']], dtype=object)
    """
    if unordered:
        return _with_text(codes, missing, names, unordered)
    cells = codes if missing is None else np.where(missing, np.nan, codes.astype(np.float64))
    return cells if names is None else frame(dict(zip(names, cells.T, strict=True)), "polars")


def _with_text(
    codes: NDArray[Any],
    missing: NDArray[np.bool_] | None,
    names: Sequence[str] | None,
    unordered: Sequence[int],
) -> Any:
    columns = []
    for v, column in enumerate(codes.T):
        cells = [f"s{code:03d}" for code in column] if v in unordered else column.tolist()
        gone = np.zeros(len(column), dtype=bool) if missing is None else missing[:, v]
        columns.append([None if no else cell for cell, no in zip(cells, gone, strict=True)])
    if names is not None:
        return frame(dict(zip(names, columns, strict=True)), "polars")
    return np.array(columns, dtype=object).T
