"""Refits of one column given its neighbours, where edges are products of scores or trends.

An edge is ``A C B[x_t]'``: A of the column's own states, B of its neighbour's, both orthonormal, C
free. A is either all contrasts of the column, or its scores, one number per state; so an edge that
goes by the column's scores has one parameter per feature of the neighbour, whatever the number of
states, and the curvature is small. The plain twin is `isinglass.losses.conditional`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.conditional import NodeFit
from isinglass.losses.forms import TABLE, Form, Forms, zero_sum_basis
from isinglass.losses.linear import RIDGE
from isinglass.losses.newton import minimise
from isinglass.table import Table

Array = NDArray[np.float64]


class ScoredColumn:
    """A column of a table with all its neighbours, which may be left out of single fits."""

    def __init__(
        self, table: Table, r: int, forms: Mapping[int, Form], known: Forms, intercept: bool
    ) -> None:
        self.r, self.forms, self.known = r, dict(forms), known
        self.m, self.intercept, self.n = known.n_states[r], intercept, table.n
        self._cell, first = _cells(table, tuple(forms))
        key = self._cell * self.m + table.codes[:, r]
        size = len(first) * self.m
        counts = np.bincount(key, table.weights, size).astype(np.float64)
        self._counts = counts.reshape(len(first), self.m)
        self._codes = table.codes[first]
        self._table = table

    @cached_property
    def _rows(self) -> Array:
        return np.asarray(self._counts.sum(axis=1))

    def _sides(self, t: int) -> tuple[Array, Array]:
        return self.known.sides(self.r, t, self.forms[t])

    def fit(self, without: int | None = None, start: NodeFit | None = None) -> NodeFit:
        """Minimise the loss, plus the ridge, over all edges but one."""
        active = [t for t in self.forms if t != without]
        if self.m < 2:  # nothing to explain
            tables = {t: np.zeros((1, self.known.n_states[t])) for t in active}
            return NodeFit(tables, np.zeros(1), 0.0, frozenset())
        return _Fit(self, active).solve(start)

    def expected(self, fit: NodeFit, t: int) -> Array:
        """Rows of each state of the column, by those of another, as a fit has them."""
        probability = _softmax(fit.scores(self._codes))[self._cell]
        rows = np.zeros((self.known.n_states[t], self.m))
        np.add.at(rows, self._table.codes[:, t], self._table.weights[:, None] * probability)
        return rows.T


class _Fit:
    """The objective of some edges of a column: those by all contrasts first, then by scores."""

    def __init__(self, column: ScoredColumn, active: list[int]) -> None:
        self.column = column
        self.own = zero_sum_basis(column.m)
        sides = {t: column._sides(t) for t in active}
        self.scored = [t for t in active if sides[t][0].shape[1] < self.own.shape[1]]
        self.whole = [t for t in active if t not in self.scored]
        self.sides, self.active = sides, active
        level = np.ones((len(column._codes), int(column.intercept)))
        self.z1 = np.hstack([level, *(sides[t][1][column._codes[:, t]] for t in self.whole)])
        self.z2 = np.hstack(
            [np.empty((len(level), 0)), *(sides[t][1][column._codes[:, t]] for t in self.scored)]
        )
        # All edges by scores share the column's own.
        self.u = sides[self.scored[0]][0][:, 0] if self.scored else np.zeros(column.m)
        self.q = self.own.shape[1]
        self.ridge = np.full(self.z1.shape[1] * self.q + self.z2.shape[1], RIDGE)
        if column.intercept:
            self.ridge[: self.q] = 0.0

    def _predictor(self, x: Array) -> Array:
        k = self.z1.shape[1] * self.q
        contrasts = self.z1 @ x[:k].reshape(-1, self.q)
        return np.asarray(contrasts @ self.own.T + np.outer(self.z2 @ x[k:], self.u))

    def objective(self, x: Array) -> tuple[float, Array, Array]:
        column, own, u, q = self.column, self.own, self.u, self.q
        scores = self._predictor(x)
        top = scores.max(axis=1)
        weights = np.exp(scores - top[:, None])
        total = weights.sum(axis=1)
        p, rows = weights / total[:, None], column._rows / column.n
        value = float(rows @ (top + np.log(total)) - np.sum(column._counts * scores) / column.n)
        residual = rows[:, None] * p - column._counts / column.n
        gradient = np.concatenate(
            [(self.z1.T @ (residual @ own)).ravel(), self.z2.T @ (residual @ u)]
        )
        means, mean = p @ own, p @ u
        along = (p * u) @ own - mean[:, None] * means  # the covariance of scores and contrasts
        k = self.z1.shape[1] * q
        hessian = np.empty((len(x), len(x)))
        first = hessian[:k, :k].reshape(self.z1.shape[1], q, self.z1.shape[1], q)
        for a in range(q):
            for b in range(a + 1):
                curvature = rows * (p @ (own[:, a] * own[:, b]) - means[:, a] * means[:, b])
                first[:, a, :, b] = first[:, b, :, a] = self.z1.T @ (curvature[:, None] * self.z1)
            cross = self.z1.T @ ((rows * along[:, a])[:, None] * self.z2)
            hessian[a:k:q, k:] = cross
            hessian[k:, a:k:q] = cross.T
        spread = rows * (p @ (u * u) - mean * mean)
        hessian[k:, k:] = self.z2.T @ (spread[:, None] * self.z2)
        value += 0.5 * float(self.ridge @ x**2)
        return value, gradient + self.ridge * x, hessian + np.diag(self.ridge)

    def solve(self, start: NodeFit | None) -> NodeFit:
        x = minimise(self.objective, self._start(start))
        penalty = 0.5 * float(self.ridge @ x**2)
        value, _, hessian = self.objective(x)
        blocks = dict(self._blocks())
        tables = {t: self._table(t, x[blocks[t]]) for t in self.active}
        level = self.own @ x[: self.q] if self.column.intercept else np.zeros(self.column.m)
        unbounded = self._held_by_ridge(x, hessian, blocks)
        known, r, forms = self.column.known, self.column.r, self.column.forms
        df = {t: known.df(r, t, forms[t]) for t in self.active}
        smaller = {t: forms[t] for t in self.active if forms[t] != TABLE}
        return NodeFit(tables, level, value - penalty, unbounded, {}, df, smaller)

    def _blocks(self) -> list[tuple[int, slice]]:
        """Where the parameters of each edge are."""
        found, at = [], int(self.column.intercept) * self.q
        for t in (*self.whole, *self.scored):
            width = self.sides[t][1].shape[1] * (self.q if t in self.whole else 1)
            found.append((t, slice(at, at + width)))
            at += width
        return found

    def _table(self, t: int, block: Array) -> Array:
        left, right = self.sides[t]
        if t in self.whole:
            return np.asarray(self.own @ (right @ block.reshape(-1, self.q)).T)
        return np.outer(left[:, 0], right @ block)

    def _start(self, start: NodeFit | None) -> Array:
        x = np.zeros(len(self.ridge))
        if start is None:
            return x
        if self.column.intercept:
            x[: self.q] = start.intercept @ self.own
        for t, block in self._blocks():
            if t in start.coef:
                left, right = self.sides[t]
                contrasts = right.T @ start.coef[t].T
                x[block] = (contrasts @ (self.own if t in self.whole else left)).ravel()
        return x

    def _held_by_ridge(
        self, x: Array, hessian: Array, blocks: Mapping[int, slice]
    ) -> frozenset[int]:
        """Neighbours whose table the rows leave open; see `isinglass.losses.conditional`."""
        limit = RIDGE + 4 * RIDGE * (1 + float(np.linalg.norm(x[self.ridge > 0])))
        covariance = np.linalg.pinv(hessian, hermitian=True)
        return frozenset(
            t
            for t, own in blocks.items()
            if own.stop > own.start and limit * np.linalg.eigvalsh(covariance[own, own])[-1] >= 1.0
        )


def _cells(table: Table, columns: tuple[int, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The cell of each row, and one row of each cell: rows with equal neighbours share one."""
    cell, first = np.zeros(len(table.codes), dtype=np.intp), np.zeros(1, dtype=np.intp)
    for t in columns:
        key = cell * table.n_states[t] + table.codes[:, t]
        _, first, cell = np.unique(key, return_index=True, return_inverse=True)
    return cell, first


def _softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
