"""What the record keeps of its table: how often each state was seen, how columns go together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.core import all_pair_counts
from isinglass.losses.association import pair_information
from isinglass.table import Table

Array = NDArray[np.float64]

#: With more columns than this, pairs are not counted: there are half a million of them.
MOST_COLUMNS = 1000


@dataclass(frozen=True, eq=False)
class Associations:
    """How each two columns go together with nothing else held; pairs in column order."""

    #: What one column says of the other, in nats per row of the whole table.
    information: Array
    #: +1 or -1 where both columns are ordered and one rises or falls with the other, else 0.
    sign: NDArray[np.int8]
    #: The rows of the smallest cell of the two columns' table.
    smallest: Array


@dataclass(frozen=True, eq=False)
class Tally:
    """Rows of each state of each column, missing values last where they are left out; the pairs.

    `pairs` is None where a table has too many columns for a number each.
    """

    counts: tuple[tuple[float, ...], ...]
    pairs: Associations | None


def tally_of(table: Table) -> Tally:
    """Rows of each state, and how each two columns go together with nothing else held."""
    counts = tuple(
        tuple(np.bincount(codes, table.weights, minlength=m).tolist())
        for codes, m in zip(table.codes.T, table.n_states, strict=True)
    )
    return Tally(counts, _associations(table) if len(table.columns) <= MOST_COLUMNS else None)


def _associations(table: Table) -> Associations:
    """Mutual information and direction of all pairs, from the counts of all cells at once."""
    cells = all_pair_counts(table.codes, table.weights, table.n_states, threads=1)
    answer = np.concatenate(
        [np.arange(m) < a for m, a in zip(table.n_states, table.n_answers, strict=True)]
    )
    cells = cells[np.ix_(answer, answer)]
    begin = np.cumsum([0, *table.n_answers[:-1]])
    rows = np.add.reduceat(cells, begin, axis=1)  # of a state, where the other column is seen
    total = np.add.reduceat(rows, begin, axis=0)
    upper = np.triu_indices(len(table.columns), 1)
    return Associations(
        pair_information(cells, begin)[upper] / table.n,
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
    clear = np.abs(covariance) > 1e-9 * np.maximum(product * total, 1.0)
    ordered = np.outer(table.ordered, table.ordered)
    signs: NDArray[np.int8] = np.where(clear & ordered, np.sign(covariance), 0).astype(np.int8)
    return signs
