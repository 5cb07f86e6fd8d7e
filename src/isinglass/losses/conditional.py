"""The loss of one column given others: a softmax regression on discrete columns.

Everything is computed from counts. Rows with equal neighbours fall into one *cell*, and the
predictor is a function of the cell; gains need only the cells split by the candidate's state.

What is always active, and how an edge enters, are objects of their own: see
:mod:`isinglass.losses.forms`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.contrasts import zero_sum_basis
from isinglass.losses.families import softmax_terms
from isinglass.losses.forms import Always, EdgeForm, Intercept, TableEdge
from isinglass.losses.linear import RIDGE, VANISHING, Terms, predictor_objective
from isinglass.losses.newton import minimise
from isinglass.losses.profile import profiled_minimum
from isinglass.losses.protocol import Block, Fit

Array = NDArray[np.float64]
Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class NodeFit(Fit):
    """A refitted neighbourhood.

    Parameters
    ----------
    coef : dict
        For each neighbour its (m_r, m_t) table of log-potentials, rows and columns summing
        to zero.
    intercept : (m_r,) array
        The field, summing to zero.
    loss : float
        Plain mean loss (negative log-likelihood per row).
    unbounded : frozenset of int
        Neighbours whose table is held finite, or unique, by the ridge alone.
    """

    unbounded: frozenset[int]

    def scores(self, codes: Codes) -> Array:
        """Log-potentials of the column's states in each row."""
        scores = np.tile(self.intercept, (len(codes), 1))
        for t, table in self.coef.items():
            scores += table.T[codes[:, t]]
        return scores

    def log_likelihood(self, codes: Codes, r: int) -> Array:
        """Log-likelihood of column r in each row."""
        scores = self.scores(codes)
        return -softmax_terms(scores, np.eye(scores.shape[1])[codes[:, r]])[0]


class ConditionalLoss:
    """Mean negative log-likelihood of column `r` given other columns of a discrete table.

    Parameters
    ----------
    codes : (n, p) array of int
        States, counted from 0; every state occurs.
    weights : (n,) array
        Positive weights; their sum is the number of rows.
    r : int
        The column to explain.
    n_states : sequence of int
        States of each column.
    n : float, optional
        What the total loss is divided by, if not the sum of the weights.
    """

    def __init__(
        self,
        codes: Codes,
        weights: Array,
        r: int,
        n_states: Sequence[int],
        *,
        n: float | None = None,
        always: Always | None = None,
        edge: EdgeForm | None = None,
    ) -> None:
        self.codes, self.weights, self.r = codes, weights, r
        self.n_states = tuple(int(m) for m in n_states)
        self.n = float(weights.sum()) if n is None else n
        self.states = self.n_states[r]
        self.always: Always = Intercept() if always is None else always
        self.edge: EdgeForm = TableEdge() if edge is None else edge
        self._basis = zero_sum_basis(self.states)
        self._totals: Array = np.bincount(codes[:, r], weights, minlength=self.states).astype(float)

    @property
    def size(self) -> int:
        """Number of columns of the table."""
        return len(self.n_states)

    @property
    def candidates(self) -> tuple[int, ...]:
        """Columns that could be neighbours: not `r` itself, and not constant ones."""
        if self.states < 2:
            return ()
        return tuple(t for t, m in enumerate(self.n_states) if t != self.r and m > 1)

    def df(self, block: Block) -> int:
        """Free parameters of the edges in a block."""
        return sum(self.edge.df(self.states, self.n_states[t]) for t in block)

    def fit(self, active: Sequence[int], start: NodeFit | None = None) -> NodeFit:
        """Minimise the loss, plus the ridge, over the tables of the columns in `active`."""
        active = tuple(active)
        if self.states < 2:  # nothing to explain
            tables = {t: np.zeros((1, self.n_states[t])) for t in active}
            return NodeFit(tables, np.zeros(1), 0.0, frozenset())
        cell, first_row = self.cells_of(active)
        counts = _cross(cell, self.codes[:, self.r], self.weights, self.states)
        design, blocks = self.design(active, first_row)
        free = self.always.features(1).shape[1]
        ridge = np.concatenate([np.zeros(free), np.full(design.shape[1] - free, RIDGE)])
        objective = predictor_objective(
            design,
            np.zeros((len(design), self.states - 1)),
            self._terms(counts),
            ridge,
        )
        flat = minimise(objective, self._first(design.shape[1], blocks, start))
        unbounded = self._held_by_ridge(flat, objective(flat)[2], ridge, blocks)
        solution = flat.reshape(design.shape[1], self.states - 1)
        return self._node_fit(solution, design, counts, blocks, unbounded)

    def gains(self, fit: NodeFit, blocks: Sequence[Block]) -> Array:
        """How far each candidate edge alone can lower the loss, as a limit."""
        cell, first_row = self.cells_of(tuple(fit.coef))
        scores = fit.scores(self.codes[first_row])
        if self.always.level_only and self.edge.saturated:
            return self._separate_gains(scores, cell, [t for (t,) in blocks])
        return np.array([self._joint_gain(fit, scores, cell, t) for (t,) in blocks])

    def costs(self, fit: NodeFit, blocks: Sequence[Block]) -> Array:
        """How much the loss rises when an edge is removed and the field re-optimised."""
        cell, first_row = self.cells_of(tuple(fit.coef))
        counts = _cross(cell, self.codes[:, self.r], self.weights, self.states)
        neighbours = self.codes[first_row]
        return np.array([self._cost(fit, t, neighbours, counts) for (t,) in blocks])

    def _cost(self, fit: NodeFit, t: int, neighbours: Codes, counts: Array) -> float:
        others = {s: table for s, table in fit.coef.items() if s != t}
        scores = NodeFit(others, fit.intercept, fit.loss, frozenset()).scores(neighbours)
        if self.always.level_only:
            rows = counts.sum(axis=1, keepdims=True)
            least = profiled_minimum(scores, rows, self._totals[None, :])[0]
            return float(least - np.sum(counts * scores)) / self.n - fit.loss
        return float(softmax_terms(scores, counts)[0].sum()) / self.n - fit.loss

    def _separate_gains(self, scores: Array, cell: NDArray[np.intp], columns: list[int]) -> Array:
        """With a free field the search separates over the states of the candidate."""
        gains = np.empty(len(columns))
        top = scores.max(axis=1)
        log_total = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        for part in _parts(columns, scores.size, self.n_states):
            split, totals, owner = self.split(cell, [columns[i] for i in part], len(scores))
            change = log_total @ split - profiled_minimum(scores, split, totals)
            gains[part] = np.bincount(owner, change, minlength=len(part)) / self.n
        return gains

    def split(
        self, cell: NDArray[np.intp], columns: list[int], cells: int
    ) -> tuple[Array, Array, NDArray[np.intp]]:
        """Rows in each cell, and in each state of `r`, by state of each of the columns."""
        sizes = [self.n_states[t] for t in columns]
        owner = np.repeat(np.arange(len(columns)), sizes)
        target = self.codes[:, self.r].astype(np.intp)
        split = [
            _cross(cell, self.codes[:, t], self.weights, self.n_states[t], cells) for t in columns
        ]
        totals = [
            _cross(self.codes[:, t], target, self.weights, self.states, self.n_states[t])
            for t in columns
        ]
        return np.hstack(split), np.vstack(totals), owner

    def _joint_gain(self, fit: NodeFit, scores: Array, cell: NDArray[np.intp], t: int) -> float:
        """The search over the always-active part and one block together."""
        m = self.n_states[t]
        split = cell * m + self.codes[:, t]
        keys, split = np.unique(split, return_inverse=True)
        counts = _cross(split, self.codes[:, self.r], self.weights, self.states)
        design = np.hstack([self.always.features(len(keys)), self.edge.features(m)[keys % m]])
        offset = (scores @ self._basis)[keys // m]
        terms = self._terms(counts)
        objective = predictor_objective(design, offset, terms, np.full(design.shape[1], VANISHING))
        start = np.zeros(design.shape[1] * (self.states - 1))
        found = minimise(objective, start, tolerance=1e-15)
        found = found.reshape(design.shape[1], self.states - 1)
        return fit.loss - terms(offset + design @ found)[0]

    def cells_of(self, columns: Block) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The cell of each row, and one row of each cell."""
        cell = np.zeros(len(self.codes), dtype=np.intp)
        first_row = np.zeros(1, dtype=np.intp)
        for t in columns:
            key = cell * self.n_states[t] + self.codes[:, t]
            _, first_row, cell = np.unique(key, return_index=True, return_inverse=True)
        return cell, first_row

    def design(self, active: Block, first_row: NDArray[np.intp]) -> tuple[Array, dict[int, slice]]:
        """Design columns of each cell, and where each neighbour's are."""
        parts = [self.always.features(len(first_row))]
        blocks, at = {}, parts[0].shape[1]
        for t in active:
            part = self.edge.features(self.n_states[t])[self.codes[first_row, t]]
            blocks[t] = slice(at, at + part.shape[1])
            at += part.shape[1]
            parts.append(part)
        return np.hstack(parts), blocks

    def _terms(self, counts: Array) -> Terms:
        basis, n = self._basis, self.n

        def terms(eta: Array) -> tuple[float, Array, Array]:
            value, slope, curvature = softmax_terms(eta @ basis.T, counts)
            return (
                float(value.sum()) / n,
                (slope @ basis) / n,
                (basis.T @ curvature @ basis) / n,
            )

        return terms

    def _first(self, rows: int, blocks: dict[int, slice], start: NodeFit | None) -> Array:
        first = np.zeros((rows, self.states - 1))
        if start is not None:
            if self.always.level_only:
                first[0] = start.intercept @ self._basis
            for t in blocks.keys() & start.coef.keys():
                first[blocks[t]] = self.edge.features(self.n_states[t]).T @ (
                    start.coef[t].T @ self._basis
                )
        return first.ravel()

    def _held_by_ridge(
        self, flat: Array, hessian: Array, ridge: Array, blocks: dict[int, slice]
    ) -> frozenset[int]:
        """Neighbours whose table the data leave open in some direction.

        Along a direction in which the loss only falls towards infinity, the ridge stops the
        fit where the data's pull equals its own, so the curvature left there is at most a
        few times RIDGE times the size of the tables; where columns are collinear it is zero.
        Directions the data determine have a curvature of one row's order or more.
        """
        if not blocks:
            return frozenset()
        q = self.states - 1
        covariance = np.linalg.pinv(hessian, hermitian=True)
        size = np.linalg.norm(flat.reshape(-1, q)[ridge > 0])
        limit = RIDGE + 4 * RIDGE * (1 + size)
        held = set()
        for t, rows in blocks.items():
            own = slice(rows.start * q, rows.stop * q)
            if limit * np.linalg.eigvalsh(covariance[own, own])[-1] >= 1.0:
                held.add(t)
        return frozenset(held)

    def _node_fit(
        self,
        solution: Array,
        design: Array,
        counts: Array,
        blocks: dict[int, slice],
        unbounded: frozenset[int],
    ) -> NodeFit:
        tables = {
            t: self._basis @ (self.edge.features(self.n_states[t]) @ solution[rows]).T
            for t, rows in blocks.items()
        }
        field = np.zeros(self.states)
        if self.always.level_only:
            field = self._basis @ solution[0]
        loss = self._terms(counts)(design @ solution)[0]
        return NodeFit(tables, field, loss, unbounded)


def _cross(
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    weights: Array,
    width: int,
    height: int | None = None,
) -> Array:
    """Weighted cross-tabulation of two codings."""
    height = int(rows.max()) + 1 if height is None else height
    flat = rows.astype(np.intp) * width + columns
    counts = np.bincount(flat, weights, minlength=height * width)
    return counts.astype(np.float64, copy=False).reshape(height, width)


def _parts(columns: list[int], work: int, n_states: tuple[int, ...]) -> list[list[int]]:
    """Positions in `columns`, cut into runs that keep the memory of one search modest."""
    budget = max(1, 4_000_000 // max(work, 1))
    parts: list[list[int]] = []
    load = budget + 1
    for i, t in enumerate(columns):
        if load + n_states[t] > budget:
            parts.append([])
            load = 0
        parts[-1].append(i)
        load += n_states[t]
    return parts
