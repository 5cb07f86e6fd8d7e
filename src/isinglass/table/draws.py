"""Rows drawn from a table: half-samples, subsamples, folds; without replacement.

Equal rows are one row with a number of copies, so that a draw is a few whole numbers, and depends
on the seed and on what is in the table, not on the order of its rows or on how copies were written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.table.table import Table

Counts = NDArray[np.int64]
#: Copies for each distinct row from which on weights are quicker than copies.
MANY_COPIES = 32


@dataclass(frozen=True, eq=False)
class Drawer:
    """A table to draw rows from; `of` makes one.

    Whole weights are copies of a row, drawn one by one: the table has each distinct row once,
    `copies` says how many of each there are, and `weight` is 1. With other weights a row is drawn
    or not, and keeps its weight.

    >>> from isinglass.table import encode
    >>> drawer = Drawer.of(encode([[0, 1], [1, 1], [0, 1], [0, 1]]))
    >>> drawer.copies.tolist()
    [3, 1]
    >>> one, other = drawer.halves(np.random.default_rng(0))
    >>> (one + other).tolist()
    [3, 1]
    """

    table: Table
    copies: Counts
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, table: Table) -> Drawer:
        """Find the distinct rows of a table."""
        copies = table.weights.astype(np.int64)
        if not np.array_equal(copies, table.weights):
            return cls(table, np.ones(len(copies), dtype=np.int64), table.weights)
        rows = np.ascontiguousarray(table.codes)
        key = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        _, first, row = np.unique(key, return_index=True, return_inverse=True)
        counts = np.bincount(row, copies).astype(np.int64)
        distinct = replace(
            table, codes=np.asfortranarray(rows[first]), weights=counts.astype(np.float64)
        )
        return cls(distinct, counts, np.ones(len(counts)))

    @property
    def size(self) -> int:
        """How many there are to draw."""
        return int(self.copies.sum())

    def some(self, rng: np.random.Generator, size: int) -> Counts:
        """Draw so many, and say how often each row came."""
        return _drawn(rng, self.copies, size)

    def halves(self, rng: np.random.Generator) -> tuple[Counts, Counts]:
        """Draw two disjoint halves; of an odd number of rows one is left out."""
        size = self.size // 2
        one = _drawn(rng, self.copies, size)
        return one, _drawn(rng, self.copies - one, size)

    def folds(self, rng: np.random.Generator, folds: int) -> list[Counts]:
        """Deal all rows to folds of about equal size, so that rare states come into many of them.

        State by state, the rarest first: its rows that are not dealt yet go to the folds that
        have the fewest of it. So a state of two rows or more is seldom in one fold alone.
        """
        if self.size < folds:
            raise SettingError(f"{self.size} rows cannot be split into {folds} folds.")
        row = np.repeat(np.arange(len(self.copies)), self.copies)
        fold = np.full(len(row), -1)
        for of_state in self._states_by_rows():
            mine = of_state[row]
            waiting = rng.permutation(np.flatnonzero(mine & (fold < 0)))
            have = np.bincount(fold[mine & (fold >= 0)], minlength=folds)
            sizes = np.bincount(fold[fold >= 0], minlength=folds)
            fold[waiting] = _deal(rng, have, sizes, len(waiting))
            if (fold >= 0).all():
                break
        return [
            np.bincount(row[fold == f], minlength=len(self.copies)).astype(np.int64)
            for f in range(folds)
        ]

    def _states_by_rows(self) -> Iterator[NDArray[np.bool_]]:
        """The rows of each state, the state with the fewest first."""
        counted = [
            (count, j, c)
            for j, codes in enumerate(self.table.codes.T)
            for c, count in enumerate(np.bincount(codes, self.copies).tolist())
        ]
        for _, j, c in sorted(counted):
            yield self.table.codes[:, j] == c

    def table_of(self, counts: Counts) -> tuple[Table, list[NDArray[np.intp]]]:
        """The rows drawn, with the states seen there; and which of the old states those are."""
        rows = np.flatnonzero(counts)
        drawn = counts[rows]
        part, kept = self.table.with_rows(self.table.codes[rows], drawn * self.weight[rows])
        if drawn.max(initial=1) > 1 and drawn.sum() < MANY_COPIES * len(rows):
            copied = np.repeat(np.arange(len(rows)), drawn)
            part = replace(part, codes=part.codes[copied], weights=np.ones(len(copied)))
        return part, kept


def _drawn(rng: np.random.Generator, copies: Counts, size: int) -> Counts:
    if copies.max(initial=0) <= 1:
        counts = np.zeros_like(copies)
        counts[rng.choice(np.flatnonzero(copies), size, replace=False)] = 1
        return counts
    return np.asarray(rng.multivariate_hypergeometric(copies, size, method="marginals"))


def _deal(
    rng: np.random.Generator, have: NDArray[np.intp], sizes: NDArray[np.intp], count: int
) -> NDArray[np.intp]:
    """Folds for so many rows: level by level, and within a level the smallest fold first."""
    folds = len(have)
    top = int(have.max(initial=0)) + -(-count // folds) + 1
    fold = np.repeat(np.arange(folds), top - have)
    level = np.concatenate([np.arange(h, top) for h in have])
    order = np.lexsort((rng.random(len(fold)), sizes[fold], level))
    return fold[order][:count]
