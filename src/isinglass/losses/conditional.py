"""The loss of one column given others: a softmax regression on discrete columns.

Everything is computed from counts. Rows with equal neighbours fall into one *cell*, and the
predictor is a function of the cell; gains need only the cells split by the candidate's state.

What is always active, and how an edge enters, are objects of their own: see
:mod:`isinglass.losses.forms`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from isinglass.losses.families import softmax_terms
from isinglass.losses.forms import TABLE, Always, Form, Forms, table_df, zero_sum_basis
from isinglass.losses.linear import RIDGE, VANISHING, Terms, predictor_objective
from isinglass.losses.newton import Objective, minimise
from isinglass.losses.nulls import Null, chi_square, pair_null
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
    always : dict
        The tables of columns that are adjusted for.
    parameters : dict, optional
        Free parameters of each edge, where edges are not whole tables.
    forms : dict
        The forms of the edges that are not whole tables.
    """

    unbounded: frozenset[int]
    always: Mapping[int, Array] = field(default_factory=dict)
    parameters: Mapping[int, int] | None = None
    forms: Mapping[int, Form] = field(default_factory=dict)

    def form(self, t: int) -> Form:
        """Return the form of the edge to a neighbour."""
        return self.forms.get(t, TABLE)

    @property
    def df(self) -> Mapping[int, int]:
        """Free parameters of the edge to each neighbour."""
        if self.parameters is not None:
            return self.parameters
        return {t: table_df(*table.shape) for t, table in self.coef.items()}

    def adjusting(self, p: int) -> NodeFit:
        """The same, where columns from the p-th on are adjusted for: no neighbours."""
        beside = {t: table for t, table in self.coef.items() if t >= p}
        if not beside:
            return self
        own = {t: table for t, table in self.coef.items() if t < p}
        unbounded = frozenset(t for t in self.unbounded if t < p)
        parameters = self.parameters and {t: self.parameters[t] for t in own}
        forms = {t: form for t, form in self.forms.items() if t < p}
        return NodeFit(own, self.intercept, self.loss, unbounded, beside, parameters, forms)

    def scores(self, codes: Codes) -> Array:
        """Log-potentials of the column's states in each row."""
        scores = np.tile(self.intercept, (len(codes), 1))
        for t, table in (*self.always.items(), *self.coef.items()):
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
    always : Always, optional
        What is in the predictor whatever the neighbours; by default an intercept.
    forms : Forms, optional
        The forms that edges may have; by default whole tables.
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
        forms: Forms | None = None,
    ) -> None:
        self.codes, self.weights, self.r = codes, weights, r
        self.n_states = tuple(int(m) for m in n_states)
        self.n = float(weights.sum()) if n is None else n
        self.states = self.n_states[r]
        self.always = Always() if always is None else always
        self.forms = Forms(self.n_states, edges="table") if forms is None else forms
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

    @property
    def always_rows(self) -> int:
        """Design columns of what is always active."""
        return int(self.always.level)

    def df(self, block: Block) -> int:
        """Free parameters of the whole tables in a block."""
        return sum(self.forms.df(self.r, t, TABLE) for t in block)

    def null(self, t: int, form: Form = TABLE) -> Null:
        """What the deviance of an edge to t is when there is none.

        Few rows per cell are no matter where each parameter is moved by a sum over all rows.
        """
        if not (self.always.level and form == TABLE):
            return chi_square(self.forms.df(self.r, t, form))
        return pair_null(self._totals, np.bincount(self.codes[:, t], self.weights))

    def has_empty_cell(self, t: int) -> bool:
        """Whether some state of the column never meets some state of t."""
        rows = _cross(self.codes[:, t], self.codes[:, self.r], self.weights, self.states)
        return not rows.all()

    def fit(
        self, active: Mapping[int, Form] | Sequence[int], start: NodeFit | None = None
    ) -> NodeFit:
        """Minimise the loss, plus the ridge, over edges to the columns in `active`.

        They have the forms that `active` says, or else are whole tables.
        """
        forms = active if isinstance(active, Mapping) else dict.fromkeys(active, TABLE)
        active = tuple(forms)
        if self.states < 2:  # nothing to explain
            tables = {t: np.zeros((1, self.n_states[t])) for t in active}
            return NodeFit(tables, np.zeros(1), 0.0, frozenset())
        cell, first_row = self.cells_of(active)
        counts = _cross(cell, self.codes[:, self.r], self.weights, self.states)
        design, blocks = self.design(active, first_row)
        ridge = np.full(design.shape[1], RIDGE)
        ridge[: self.always.level] = 0.0
        objective = predictor_objective(
            design,
            np.zeros((len(design), self.states - 1)),
            self._terms(counts),
            ridge,
        )
        within = self._within(blocks, forms)
        flat = _minimise(objective, self._first(design.shape[1], blocks, start), within)
        unbounded = self._held_by_ridge(flat, objective(flat)[2], ridge, within, forms)
        solution = flat.reshape(design.shape[1], self.states - 1)
        loss = self._terms(counts)(design @ solution)[0]
        return self._node_fit(solution, loss, blocks, forms, unbounded)

    def gains(self, fit: NodeFit, blocks: Sequence[Block]) -> Array:
        """How far each candidate edge alone, a whole table, can lower the loss, as a limit."""
        return fit.loss - self.least(fit, [(t, TABLE) for (t,) in blocks])

    def costs(self, fit: NodeFit, blocks: Sequence[Block]) -> Array:
        """How much the loss rises when an edge is removed and the field re-optimised."""
        return self.least(fit, [(t, None) for (t,) in blocks]) - fit.loss

    def least(self, fit: NodeFit, edges: Sequence[tuple[int, Form | None]]) -> Array:
        """The infimum of the loss over the field and one edge in some form, all others held.

        One number for each edge; its form is None if there is to be none.
        """
        cell, first_row = self.cells_of(tuple(fit.coef))
        scores = fit.scores(self.codes[first_row])
        least = np.empty(len(edges))
        whole = [i for i, (_, form) in enumerate(edges) if form == TABLE and self.always.level]
        gains = self._separate_gains(scores, cell, [edges[i][0] for i in whole])
        least[whole] = fit.loss - gains
        for i in set(range(len(edges))).difference(whole):
            t, form = edges[i]
            held = scores
            if t in fit.coef:
                held = scores - fit.coef[t].T[self.codes[first_row, t]]
            least[i] = (
                self._least_without(held, cell, first_row)
                if form is None
                else self._least_with(t, form, held, cell, first_row)
            )
        return least

    def _least_without(
        self, scores: Array, cell: NDArray[np.intp], first_row: NDArray[np.intp]
    ) -> float:
        counts = _cross(cell, self.codes[:, self.r], self.weights, self.states)
        if self.always.level:
            rows = counts.sum(axis=1, keepdims=True)
            least = profiled_minimum(scores, rows, self._totals[None, :])[0]
            return float(least - np.sum(counts * scores)) / self.n
        return self._least(scores, self._always_features(self.codes[first_row]), counts)

    def _separate_gains(self, scores: Array, cell: NDArray[np.intp], columns: list[int]) -> Array:
        """With a free level and whole tables each state of the candidate is a search of its own."""
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

    def _least_with(
        self,
        t: int,
        form: Form,
        scores: Array,
        cell: NDArray[np.intp],
        first_row: NDArray[np.intp],
    ) -> float:
        """The least loss over what is always active and an edge to t together."""
        m = self.n_states[t]
        keys, split = np.unique(cell * m + self.codes[:, t], return_inverse=True)
        counts = _cross(split, self.codes[:, self.r], self.weights, self.states)
        always = self._always_features(self.codes[first_row[keys // m]])
        features = np.hstack([always, zero_sum_basis(m)[keys % m]])
        rows = slice(always.shape[1], features.shape[1])
        return self._least(scores[keys // m], features, counts, self._within({t: rows}, {t: form}))

    def _least(
        self, scores: Array, features: Array, counts: Array, within: Array | None = None
    ) -> float:
        """The least loss when held scores are shifted by combinations of design columns."""
        offset, terms = scores @ self._basis, self._terms(counts)
        k, q = features.shape[1], self.states - 1
        objective = predictor_objective(features, offset, terms, np.full(k, VANISHING))
        found = _minimise(objective, np.zeros(k * q), within, tolerance=1e-15)
        return terms(offset + features @ found.reshape(k, q))[0]

    def within(self, fit: NodeFit) -> Array | None:
        """Orthonormal columns that span the coefficients of a fit's forms; None for all."""
        blocks = self.design(tuple(fit.coef), np.zeros(1, dtype=np.intp))[1]
        return self._within(blocks, {t: fit.form(t) for t in fit.coef})

    def _within(self, blocks: Mapping[int, slice], forms: Mapping[int, Form]) -> Array | None:
        """Orthonormal columns that span the coefficients which edges may have; None for all."""
        designs = {t: self.forms.design(self.r, t, forms[t]) for t in blocks if t in forms}
        if all(design is None for design in designs.values()):
            return None
        q = self.states - 1
        spans = [np.eye(self.always_rows * q)]
        for t, design in designs.items():
            if design is None:
                spans.append(np.eye((self.n_states[t] - 1) * q))
            else:
                of_t = zero_sum_basis(self.n_states[t])
                span = np.einsum("xa,kxy,yj->jak", self._basis, design, of_t)
                spans.append(span.reshape(-1, len(design)))
        within: Array = block_diag(*spans)
        return within

    def cells_of(self, columns: Block) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The cell of each row, and one row of each cell."""
        cell = np.zeros(len(self.codes), dtype=np.intp)
        first_row = np.zeros(1, dtype=np.intp)
        for t in columns:
            key = cell * self.n_states[t] + self.codes[:, t]
            _, first_row, cell = np.unique(key, return_index=True, return_inverse=True)
        return cell, first_row

    def design(self, active: Block, first_row: NDArray[np.intp]) -> tuple[Array, dict[int, slice]]:
        """Design columns of each cell, and where those of each other column are."""
        blocks, at = {}, int(self.always.level)
        for t in active:
            blocks[t] = slice(at, at + self.n_states[t] - 1)
            at = blocks[t].stop
        codes = self.codes[first_row]
        edges = [zero_sum_basis(self.n_states[t])[codes[:, t]] for t in active]
        return np.hstack([self._always_features(codes), *edges]), blocks

    def _always_features(self, codes: Codes) -> Array:
        """Design columns of what is always active, for some rows."""
        return np.ones((len(codes), int(self.always.level)))

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
            if self.always.level:
                first[0] = start.intercept @ self._basis
            tables = start.coef
            for t in blocks.keys() & tables.keys():
                first[blocks[t]] = zero_sum_basis(self.n_states[t]).T @ (tables[t].T @ self._basis)
        return first.ravel()

    def _held_by_ridge(
        self,
        flat: Array,
        hessian: Array,
        ridge: Array,
        within: Array | None,
        forms: Mapping[int, Form],
    ) -> frozenset[int]:
        """Neighbours whose table the data leave open in some direction.

        Along a direction in which the loss only falls towards infinity, the ridge stops the
        fit where the data's pull equals its own, so the curvature left there is at most a
        few times RIDGE times the size of the tables; where columns are collinear it is zero.
        Directions the data determine have a curvature of one row's order or more.
        """
        if not forms:
            return frozenset()
        q = self.states - 1
        if within is not None:
            hessian = within.T @ hessian @ within
        covariance = np.linalg.pinv(hessian, hermitian=True)
        size = np.linalg.norm(flat.reshape(-1, q)[ridge > 0])
        limit = RIDGE + 4 * RIDGE * (1 + size)
        held, begin = set(), self.always_rows * q
        for t, form in forms.items():
            own = slice(begin, begin + self.forms.df(self.r, t, form))
            begin = own.stop
            if limit * np.linalg.eigvalsh(covariance[own, own])[-1] >= 1.0:
                held.add(t)
        return frozenset(held)

    def _node_fit(
        self,
        solution: Array,
        loss: float,
        blocks: dict[int, slice],
        forms: Mapping[int, Form],
        unbounded: frozenset[int],
    ) -> NodeFit:
        tables = {
            t: self._basis @ (zero_sum_basis(self.n_states[t]) @ solution[rows]).T
            for t, rows in blocks.items()
        }
        level = self._basis @ solution[0] if self.always.level else np.zeros(self.states)
        df = {t: self.forms.df(self.r, t, form) for t, form in forms.items()}
        smaller = {t: form for t, form in forms.items() if form != TABLE}
        return NodeFit(tables, level, loss, unbounded, {}, df, smaller)


def _minimise(objective: Objective, start: Array, within: Array | None, **options: float) -> Array:
    """Minimise, within the span of some orthonormal columns if there are any."""
    if within is None:
        return minimise(objective, start, **options)

    def inside(x: Array) -> tuple[float, Array, Array]:
        value, gradient, hessian = objective(within @ x)
        return value, within.T @ gradient, within.T @ hessian @ within

    found: Array = within @ minimise(inside, within.T @ start, **options)
    return found


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
    run = np.cumsum([n_states[t] for t in columns], dtype=np.intp) // budget
    return [np.flatnonzero(run == some).tolist() for some in np.unique(run)]
