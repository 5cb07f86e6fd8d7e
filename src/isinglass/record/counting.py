"""Counting a table for the record of its fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from isinglass.core import all_pair_counts
from isinglass.record.tally import Pairs, Tally
from isinglass.table import Table

Array = NDArray[np.float64]

#: With more columns than this, pairs are not counted: there are half a million of them.
MOST_COLUMNS = 1000


def tally_of(table: Table) -> Tally:
    """Rows of each state, and how each two columns go together with nothing else held."""
    counts = tuple(
        tuple(np.bincount(codes, table.weights, minlength=m).tolist())
        for codes, m in zip(table.codes.T, table.n_states, strict=True)
    )
    return Tally(counts, _pairs(table) if len(table.columns) <= MOST_COLUMNS else None)


def _pairs(table: Table) -> Pairs:
    """Mutual information and direction of all pairs, from the counts of all cells at once."""
    p = len(table.columns)
    cells = all_pair_counts(table.codes, table.weights, table.n_states, threads=1)
    answer = np.concatenate(
        [np.arange(m) < a for m, a in zip(table.n_states, table.n_answers, strict=True)]
    )
    cells = cells[np.ix_(answer, answer)]
    begin = np.cumsum([0, *table.n_answers[:-1]])
    rows = np.add.reduceat(cells, begin, axis=1)  # of a state, where the other column is seen
    total = np.add.reduceat(rows, begin, axis=0)
    margins = np.add.reduceat(xlogy(rows, rows), begin, axis=0)
    joint = _by_pair(np.add, xlogy(cells, cells), begin)
    information = (joint - margins - margins.T + xlogy(total, total)) / table.n
    upper = np.triu_indices(p, 1)
    return Pairs(
        np.maximum(information[upper], 0.0),
        _signs(table, cells, rows, total, begin)[upper],
        _by_pair(np.minimum, cells, begin)[upper],
    )


def _by_pair(fold: np.ufunc, cells: Array, begin: NDArray[np.intp]) -> Array:
    folded: Array = fold.reduceat(fold.reduceat(cells, begin, axis=1), begin, axis=0)
    return folded


def _signs(
    table: Table, cells: Array, rows: Array, total: Array, begin: NDArray[np.intp]
) -> NDArray[np.int8]:
    """Whether high goes with high: the sign of the covariance of evenly spaced scores."""
    score = np.concatenate([np.arange(a, dtype=np.float64) for a in table.n_answers])
    product = _by_pair(np.add, cells * np.outer(score, score), begin)
    sums = np.add.reduceat(rows * score[:, None], begin, axis=0)
    covariance = product * total - sums * sums.T
    ordered = np.array([column.ordered for column in table.columns])
    clear = np.abs(covariance) > 1e-9 * np.maximum(product * total, 1.0)
    signs: NDArray[np.int8] = np.where(clear & np.outer(ordered, ordered), np.sign(covariance), 0)
    return signs.astype(np.int8)
