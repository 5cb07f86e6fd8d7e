"""The penalised regressions of all columns at all penalties, read from the core's flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from isinglass.core import l1_paths
from isinglass.engine import Progress, merged_rows
from isinglass.table import Table

Array = NDArray[np.float64]

#: Distance from optimality, relative to the penalty, at which a fit is done.
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class ColumnPath:
    """One column's regressions, from the largest penalty to the smallest."""

    lambdas: Array  # (k,)
    #: The columns with a coefficient that is not zero.
    supports: list[tuple[int, ...]]
    #: For each of them its (m, m') table of log-potentials, rows and columns summing to zero.
    coefs: list[dict[int, Array]]
    intercepts: Array  # (k, m), each summing to zero
    losses: Array  # (k,), means without the penalty
    distances: Array  # (k,), from optimality, relative to the penalty

    def __repr__(self) -> str:
        sizes = [len(support) for support in self.supports]
        return f"ColumnPath({len(sizes)} penalties, {min(sizes)} to {max(sizes)} neighbours)"


@dataclass(frozen=True, eq=False)
class L1Paths(Sequence[ColumnPath]):
    """One path per column; item r is the `ColumnPath` of column r."""

    lambdas: Array
    n_states: tuple[int, ...]
    #: Fit number ``r * len(lambdas) + k`` is that of column r at the k-th penalty.
    flat: dict[str, NDArray[Any]]

    @overload
    def __getitem__(self, index: int) -> ColumnPath: ...
    @overload
    def __getitem__(self, index: slice) -> list[ColumnPath]: ...
    def __getitem__(self, index: int | slice) -> ColumnPath | list[ColumnPath]:
        numbers = range(len(self))[index]
        if isinstance(numbers, range):
            return [self._path(r) for r in numbers]
        return self._path(numbers)

    def __len__(self) -> int:
        return len(self.n_states)

    def __repr__(self) -> str:
        return f"L1Paths({len(self)} columns, {len(self.lambdas)} penalties)"

    @cached_property
    def losses(self) -> Array:
        """Mean loss of each column at each penalty, (p, k)."""
        return self.flat["loss"].reshape(len(self), -1)

    @cached_property
    def distances(self) -> Array:
        """Distance from optimality of each column at each penalty, (p, k)."""
        return self.flat["distance"].reshape(len(self), -1)

    def support(self, r: int, k: int) -> NDArray[np.int64]:
        """Return the neighbours of column r at the k-th penalty."""
        at = r * len(self.lambdas) + k
        begin, end = self.flat["support_begin"][at : at + 2]
        return np.asarray(self.flat["support"][begin:end])

    def fit(self, r: int, k: int) -> tuple[Array, dict[int, Array]]:
        """Return the field and the tables of column r at the k-th penalty."""
        m = self.n_states[r]
        at = int(self.flat["number_begin"][r * len(self.lambdas) + k])
        numbers = self.flat["numbers"]
        field, at = numbers[at : at + m], at + m
        tables = {}
        for t in self.support(r, k).tolist():
            size = m * self.n_states[t]
            tables[t] = numbers[at : at + size].reshape(m, -1)
            at += size
        return field, tables

    def followed_by(self, rest: L1Paths) -> L1Paths:
        """These penalties and then others, of the same table."""
        pieces = [self, rest]
        fits = [
            (piece, r * len(piece.lambdas) + k)
            for r in range(len(self))
            for piece in pieces
            for k in range(len(piece.lambdas))
        ]
        flat = {"largest": self.flat["largest"]}
        for name in ("loss", "distance"):
            flat[name] = np.array([piece.flat[name][at] for piece, at in fits])
        for values, begin in (("support", "support_begin"), ("numbers", "number_begin")):
            parts = [piece._part(values, begin, at) for piece, at in fits]
            flat[values] = np.concatenate(parts)
            flat[begin] = np.cumsum([0, *map(len, parts)])
        return replace(self, lambdas=np.concatenate([self.lambdas, rest.lambdas]), flat=flat)

    def _part(self, values: str, begin: str, at: int) -> NDArray[Any]:
        """What a fit has of one of the flat arrays."""
        first, *end = self.flat[begin][at : at + 2].tolist()
        return np.asarray(self.flat[values][first : end[0] if end else None])

    def edge_counts(self) -> NDArray[np.int64]:
        """Count the neighbours of each column at each penalty, (p, k)."""
        return np.diff(self.flat["support_begin"]).reshape(len(self), -1)

    def parameter_counts(self) -> Array:
        """Count the free parameters of the edges of each column at each penalty, (p, k)."""
        free = np.asarray(self.n_states)[self.flat["support"]] - 1
        sums = np.concatenate([[0], np.cumsum(free)])
        by_fit = np.diff(sums[self.flat["support_begin"]]).reshape(len(self), -1)
        return np.asarray(by_fit * (np.asarray(self.n_states)[:, None] - 1), dtype=np.float64)

    def _path(self, r: int) -> ColumnPath:
        fits = [self.fit(r, k) for k in range(len(self.lambdas))]
        return ColumnPath(
            self.lambdas,
            [tuple(tables) for _, tables in fits],
            [tables for _, tables in fits],
            np.array([field for field, _ in fits]),
            self.losses[r],
            self.distances[r],
        )


def learn_paths(
    table: Table,
    lambdas: Array,
    *,
    scales: Array,
    intercept: bool,
    threads: int,
    loss: str = "pseudo",
    progress: Progress | None = None,
) -> L1Paths:
    """Regress every column on all others at penalties that fall."""
    p = len(table.columns)
    flat = l1_paths(
        *merged_rows(table),
        lambdas,
        scales=scales,
        intercept=intercept,
        threads=threads,
        loss=loss,
        tolerance=TOLERANCE,
        n=table.n,
        progress=None if progress is None else lambda done: progress(done, p),
    )
    return L1Paths(lambdas, tuple(table.n_states), flat)


def largest_penalty(table: Table, *, scales: Array, intercept: bool, threads: int) -> float:
    """Return the smallest penalty at which no column has a neighbour."""
    none = learn_paths(table, np.empty(0), scales=scales, intercept=intercept, threads=threads)
    return float(none.flat["largest"].max(initial=0.0))
