"""Rows drawn from a table: half-samples, subsamples, folds; without replacement.

Equal rows are one row with a number of copies, so that a draw is a few whole numbers, and depends
on the seed and on what is in the table, not on the order of its rows or on how copies were written.
Rows of one cluster are drawn together or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.table.coding.factor import Codes
from isinglass.table.table import Table

Counts = NDArray[np.int64]
#: Copies for each distinct row from which on weights are quicker than copies.
MANY_COPIES = 32


@dataclass(frozen=True, eq=False)
class Drawer:
    """A table to draw rows from; `of` makes one.

    Whole weights are copies of a row, drawn one by one: the table has each distinct row once,
    `copies` says how many of each there are, and `weight` is 1. With other weights a row is drawn
    or not, and keeps its weight. Where rows are in clusters, `cluster` is that of each row, whole
    clusters are drawn, and rows keep their weights. `stratum` is that of each row, or cluster: a
    draw takes the same share of each.

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
    cluster: NDArray[np.intp] | None = None
    stratum: NDArray[np.intp] | None = None

    @classmethod
    def of(cls, table: Table, strata: NDArray[np.intp] | None = None) -> Drawer:
        """Find the distinct rows of a table, or its clusters; `strata` number those of its rows."""
        copies = table.weights.astype(np.int64)
        if table.clusters is not None:
            return _of_clusters(table, table.clusters, strata)
        if not np.array_equal(copies, table.weights):
            ones = np.ones(len(copies), dtype=np.int64)
            return cls(table, ones, table.weights, stratum=strata)
        if strata is not None:
            strata = _by_content(strata, _distinct(table.wide.codes)[1], table.weights)
        first, row = _distinct(table.wide.codes, strata)
        counts = np.bincount(row, copies).astype(np.int64)
        distinct = replace(
            table,
            codes=np.asfortranarray(table.codes[first]),
            weights=counts.astype(np.float64),
            adjusted=table.adjusted_of(first),
        )
        own = None if strata is None else strata[first]
        return cls(distinct, counts, np.ones(len(counts)), stratum=own)

    @property
    def size(self) -> int:
        """How many rows, or clusters, there are to draw."""
        return int(self._there.sum())

    @property
    def what(self) -> str:
        """What is drawn: "row" or "cluster"."""
        return "row" if self.cluster is None else "cluster"

    @property
    def least(self) -> int:
        """How many a table needs: one row, or two clusters."""
        return 1 if self.cluster is None else 2

    def some(self, rng: np.random.Generator, size: int) -> Counts:
        """Draw so many, and say how often each row came."""
        sizes = _allotted(size, [int(there.sum()) for there in self._by_stratum])
        drawn = map(partial(_drawn, rng), self._by_stratum, sizes)
        return self._rows_of(np.sum([*drawn], axis=0))

    def halves(self, rng: np.random.Generator) -> tuple[Counts, Counts]:
        """Draw two disjoint halves; of an odd number (of a stratum) one is left out."""
        halves = []
        for there in self._by_stratum:
            size = int(there.sum()) // 2
            one = _drawn(rng, there, size)
            halves.append((one, _drawn(rng, there - one, size)))
        one, other = np.sum(halves, axis=0)
        return self._rows_of(one), self._rows_of(other)

    @property
    def half(self) -> int:
        """How many rows, or clusters, one of the halves has."""
        return sum(int(there.sum()) // 2 for there in self._by_stratum)

    def check_halves(self) -> None:
        """Raise SettingError if there is too little for two halves."""
        if self.half < self.least:
            few = "one row" if self.size == 1 else f"{self.size} {self.what}s"
            raise SettingError(f"{few} cannot be split into halves, each of at least {self.least}.")

    def with_replacement(self, rng: np.random.Generator) -> Counts:
        """Draw as many as there are, each time from all of them: a bootstrap resample."""
        drawn = [rng.multinomial(there.sum(), there / there.sum()) for there in self._by_stratum]
        return self._rows_of(np.sum(drawn, axis=0))

    @cached_property
    def _there(self) -> Counts:
        """How many there are of what is drawn: copies of each row, or one of each cluster."""
        if self.cluster is None:
            return self.copies
        return np.ones(int(self.cluster.max()) + 1, dtype=np.int64)

    @cached_property
    def _by_stratum(self) -> list[Counts]:
        """How many there are in each stratum; nothing elsewhere."""
        if self.stratum is None:
            return [self._there]
        strata = range(int(self.stratum.max()) + 1)
        return [np.where(self.stratum == stratum, self._there, 0) for stratum in strata]

    def _rows_of(self, drawn: Counts) -> Counts:
        return drawn if self.cluster is None else drawn[self.cluster]

    def folds(self, rng: np.random.Generator, folds: int) -> list[Counts]:
        """Deal all rows to folds of about equal size, so that rare states come into many of them.

        State by state, the rarest first: its rows (or the clusters that have it) that are not dealt
        yet go to the folds that have the fewest of it. So a state of two rows or more is seldom in
        one fold alone.
        """
        if self.size < folds or self.size - -(-self.size // folds) < self.least:
            raise SettingError(f"{self.size} {self.what}s cannot be split into {folds} folds.")
        row = np.repeat(np.arange(len(self._there)), self._there)
        fold = np.full(len(row), -1)
        for of_state in self._states_by_rows():
            mine = of_state[row]
            waiting = rng.permutation(np.flatnonzero(mine & (fold < 0)))
            have = np.bincount(fold[mine & (fold >= 0)], minlength=folds)
            sizes = np.bincount(fold[fold >= 0], minlength=folds)
            fold[waiting] = _deal(rng, have, sizes, len(waiting))
            if (fold >= 0).all():
                break
        dealt = (np.bincount(row[fold == f], minlength=len(self._there)) for f in range(folds))
        return [self._rows_of(of_fold.astype(np.int64)) for of_fold in dealt]

    def _states_by_rows(self) -> Iterator[NDArray[np.bool_]]:
        """The rows (or clusters) of each state, the state with the fewest rows first."""
        counted = [
            (count, j, c)
            for j, codes in enumerate(self.table.wide.codes.T)
            for c, count in enumerate(np.bincount(codes, self.copies).tolist())
        ]
        for _, j, c in sorted(counted):
            rows = self.table.wide.codes[:, j] == c
            yield rows if self.cluster is None else np.bincount(self.cluster, rows) > 0

    def table_of(self, counts: Counts) -> tuple[Table, list[NDArray[np.intp]]]:
        """The rows drawn, with the states seen there; and which of the old states those are."""
        rows = np.flatnonzero(counts)
        drawn = counts[rows]
        part, kept = self.table.with_rows(
            self.table.codes[rows],
            drawn * self.weight[rows],
            self.table.clusters_of(rows),
            self.table.adjusted_of(rows),
        )
        if drawn.max(initial=1) > 1 and drawn.sum() < MANY_COPIES * len(rows):
            copied = np.repeat(np.arange(len(rows)), drawn)
            part = replace(
                part,
                codes=part.codes[copied],
                weights=self.weight[rows][copied],
                clusters=part.clusters_of(copied),
                adjusted=part.adjusted_of(copied),
            )
        return part, kept


def _distinct(
    codes: Codes, strata: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each distinct row is first seen, in an order of the rows; and which one each row is.

    Equal rows in different strata are different.
    """
    parts = [] if strata is None else [strata[:, None].astype(">i8").view(np.uint8)]
    rows = np.ascontiguousarray(np.hstack([*parts, codes]) if parts else codes)
    key = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, row = np.unique(key, return_index=True, return_inverse=True)
    return first, row


def _of_clusters(
    table: Table, clusters: NDArray[np.intp], strata: NDArray[np.intp] | None
) -> Drawer:
    """Rows in order of their clusters, and clusters in order of what is in them."""
    if strata is not None:
        strata = _by_content(strata, _distinct(table.wide.codes)[1], table.weights)
    row = _distinct(table.wide.codes, strata)[1]
    cluster = _by_content(clusters, row, table.weights)
    order = np.lexsort((table.weights, row, cluster))
    ordered = replace(
        table,
        codes=np.asfortranarray(table.codes[order]),
        weights=table.weights[order],
        clusters=cluster[order],
        adjusted=table.adjusted_of(order),
    )
    ones = np.ones(len(order), dtype=np.int64)
    own = None if strata is None else strata[order][np.unique(cluster[order], return_index=True)[1]]
    return Drawer(ordered, ones, ordered.weights, cluster[order], own)


def _by_content(
    groups: NDArray[np.intp], row: NDArray[np.intp], weights: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Groups of rows numbered in an order of what is in them, whatever their numbers were.

    So a draw depends neither on the order of the rows nor on the names of the groups.
    """
    order = np.lexsort((row, groups))
    same = np.append(False, (np.diff(groups[order]) == 0) & (np.diff(row[order]) == 0))
    starts = np.flatnonzero(~same)  # copies of a row in a group are one row, however written
    sums = np.add.reduceat(weights[order], starts)
    content = np.column_stack([row[order][starts].astype(np.float64), sums])
    ends = np.flatnonzero(np.diff(groups[order][starts])) + 1
    of_group = [part.tobytes() for part in np.split(content, ends)]
    rank = np.empty(len(of_group), dtype=np.intp)
    rank[sorted(range(len(of_group)), key=of_group.__getitem__)] = np.arange(len(rank))
    return rank[groups]


def _allotted(size: int, there: list[int]) -> list[int]:
    """So many, shared out by the sizes of strata; those with the largest remainders get one more.

    >>> _allotted(5, [10, 4, 6])
    [3, 1, 1]
    """
    shares = size * np.array(there) / sum(there)
    whole = np.floor(shares).astype(int)
    more = np.argsort(whole - shares, kind="stable")[: size - int(whole.sum())]
    whole[more] += 1
    return [int(n) for n in whole]


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
