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
from isinglass.table import Table

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
    for held_out in held_out_weights(table.weights, folds, seed).T:
        kept = table.weights - held_out
        training, states = replace(table, weights=kept).part(kept > 0)
        training = replace(training, total=None, available=table.available)
        codes, known = _recoded(table, states, held_out > 0)
        weights = held_out[held_out > 0]
        rows = replace(training, codes=codes[known], weights=weights[known])
        yield Split(training, rows, float(weights[~known].sum()))


def held_out_weights(weights: Numbers, folds: int, seed: int) -> Numbers:
    """The weight that each fold holds out of each row, (rows, folds).

    A row of weight w, if all weights are whole, is w rows that may go to different folds.

    >>> held_out_weights(np.array([4.0, 2.0]), folds=3, seed=0).sum(axis=1)
    array([4., 2.])
    >>> held_out_weights(np.array([4.0, 2.0]), folds=3, seed=0).sum(axis=0)
    array([2., 2., 2.])
    """
    whole = bool((weights == np.round(weights)).all()) and weights.sum() < MANY
    copies = weights.astype(np.int64) if whole else np.ones(len(weights), np.int64)
    total = int(copies.sum())
    if total < folds:
        raise SettingError(f"{total} rows cannot be split into {folds} folds. Use fewer folds.")
    fold = np.random.default_rng(seed).permutation(total) % folds
    held = np.zeros((len(weights), folds))
    np.add.at(held, (np.repeat(np.arange(len(weights)), copies), fold), 1.0)
    return held if whole else held * weights[:, None]


def with_weights(table: Table, weights: Numbers) -> Table:
    """The rows that have a weight, with the states of the whole table."""
    rows = weights > 0
    return replace(table, codes=table.codes[rows], weights=weights[rows], total=None)


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

    `progress` is for estimators of this package; others do not receive it.
    """
    estimator = clone(method)
    as_coded = {"bins": None, "high": None, "max_states": max(2, *table.n_states)}
    settings = {"n_eff": table.n, **as_coded}
    known = estimator.get_params()
    estimator.set_params(**{key: value for key, value in settings.items() if key in known})
    shown = {"progress": progress} if isinstance(estimator, GraphEstimator) else {}
    graph = estimator.fit(_cells(table), sample_weight=table.weights, **shown).graph_

    def links() -> tuple[Link, ...]:  # with signs where both columns are ordered
        return tuple(
            link
            if table.ordered[link.source] and table.ordered[link.target]
            else link._replace(sign=0)
            for link in graph.links
        )

    return Graph(table.names, Unvalued(graph.pairs, links), table.library)


def _cells(table: Table) -> Any:
    """Codes as cells under the table's names; missing where the table has missing values."""
    missing = None
    if table.available:
        missing = ~np.column_stack([seen_rows(table, r) for r in range(len(table.columns))])
    return as_written(table.codes, missing, None if table.library is None else table.names)


def as_written(
    codes: NDArray[Any], missing: NDArray[np.bool_] | None, names: Sequence[str] | None
) -> Any:
    """Codes in the form of a user's table: an array, or a frame where columns have names.

    >>> as_written(np.array([[0, 1]]), np.array([[True, False]]), None)
    array([[nan,  1.]])
    """
    cells = codes if missing is None else np.where(missing, np.nan, codes.astype(np.float64))
    return cells if names is None else frame(dict(zip(names, cells.T, strict=True)), "polars")
