"""Pseudo-likelihood: each column given its neighbours, all columns sharing one table an edge.

The sum over columns of log P(column given its neighbours) (Besag, "Statistical analysis of
non-lattice data", The Statistician 24, 1975) is concave, needs no partition function, and works
for any graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from isinglass.engine import fit_neighbourhoods
from isinglass.losses.families import softmax_terms
from isinglass.losses.linear import RIDGE, Terms, predictor_objective
from isinglass.losses.newton import minimise
from isinglass.model.descent import lbfgs
from isinglass.model.layout import Layout, Pair, Places
from isinglass.table import Table

Array = NDArray[np.float64]

#: Parameters up to which Newton's method is used, with the whole matrix of second derivatives.
DENSE = 2000


@dataclass(frozen=True)
class Conditional:
    """One column given its neighbours: a softmax regression on the cells its rows fall into.

    Attributes
    ----------
    design : array (cells, k)
        Contrasts of the neighbours' states, after a one for the field.
    counts : array (cells, m)
        The share of all rows in each cell, by state of the column.
    places : array (k, m - 1)
        Which of all parameters the coefficients are.
    basis : array (m, m - 1)
    """

    design: Array
    counts: Array
    places: Places
    basis: Array

    @cached_property
    def terms(self) -> Terms:
        def terms(eta: Array) -> tuple[float, Array, Array]:
            value, slope, curvature = softmax_terms(eta @ self.basis.T, self.counts)
            return float(value.sum()), slope @ self.basis, self.basis.T @ curvature @ self.basis

        return terms

    def with_hessian(self, parameters: Array) -> tuple[float, Array, Array]:
        """Loss, gradient and Hessian over the flattened coefficients."""
        k, q = self.places.shape
        objective = predictor_objective(
            self.design, np.zeros((len(self.design), q)), self.terms, np.zeros(k)
        )
        return objective(parameters[self.places].ravel())

    def with_gradient(self, parameters: Array) -> tuple[float, Array]:
        """Loss and gradient, without anything of the size of a Hessian."""
        scores = self.design @ parameters[self.places] @ self.basis.T
        top = scores.max(axis=1, keepdims=True)
        chance = np.exp(scores - top)
        total = chance.sum(axis=1, keepdims=True)
        chance /= total
        rows = self.counts.sum(axis=1, keepdims=True)
        value = float(np.sum(rows * (top + np.log(total))) - np.sum(self.counts * scores))
        return value, self.design.T @ ((rows * chance - self.counts) @ self.basis)


class PseudoLikelihood:
    """Minus the pseudo-log-likelihood per row, plus the ridge."""

    def __init__(self, layout: Layout, table: Table, ridge: float) -> None:
        self.layout, self.table = layout, table
        self.conditionals = [
            _conditional(layout, table, r) for r, m in enumerate(layout.n_states) if m > 1
        ]
        self.ridge = np.full(layout.size, ridge)
        for conditional in self.conditionals:
            if layout.intercept and conditional.counts.any(axis=0).all():
                self.ridge[conditional.places[0]] = 0.0

    def minimum(self) -> Array:
        """The best parameters: by Newton's method, or L-BFGS where there are very many."""
        start = self._node_by_node()
        if self.layout.size <= DENSE:
            return minimise(self.with_hessian, start)
        return lbfgs(self.with_gradient, start)

    def _node_by_node(self) -> Array:
        """Each column fitted alone, and the two tables of an edge averaged: near the minimum.

        Far from it Newton's method would let what rows never show sink by about one a step.
        """
        layout, table = self.layout, self.table
        if table.available:
            return self._independent()
        neighbours = [sorted(others) for others in layout.neighbours]
        runs = fit_neighbourhoods(table, neighbours, intercept=layout.intercept, threads=1)
        fits = [runs.fit(r, 0) for r in range(len(neighbours))]
        start = np.zeros(layout.size)
        for basis, places, fit in zip(layout.bases, layout.fields, fits, strict=True):
            start[places] = (basis.T @ fit.intercept)[: len(places)]
        for (i, j), places in layout.edges.items():
            if not places.size:  # with a constant column
                continue
            mean = (fits[i].coef[j] + fits[j].coef[i].T) / 2
            start[places] = layout.bases[i].T @ mean @ layout.bases[j]
        return start

    def _independent(self) -> Array:
        """Fields of columns without edges, a little less than their states' shares say."""
        start = np.zeros(self.layout.size)
        if self.layout.intercept:
            for each in self.conditionals:
                seen = each.counts.sum(axis=0)
                start[each.places[0]] = np.log(seen + 1e-3 * seen.sum() + 1e-12) @ each.basis
        return start

    def with_hessian(self, parameters: Array) -> tuple[float, Array, Array]:
        value = 0.5 * float(self.ridge @ parameters**2)
        gradient = self.ridge * parameters
        hessian = np.diag(self.ridge)
        for each in self.conditionals:
            own_value, own_gradient, own_hessian = each.with_hessian(parameters)
            at = each.places.ravel()
            value += own_value
            gradient[at] += own_gradient
            hessian[np.ix_(at, at)] += own_hessian
        return value, gradient, hessian

    def unbounded(self, parameters: Array) -> frozenset[Pair]:
        """Edges that only the ridge holds: the rows leave their table open in some direction.

        As in the search: along such a direction the curvature left is at most a few times RIDGE
        times the size of the tables around it, while one row that speaks gives more. Where there
        are very many parameters each column is looked at alone, and both ends must agree.
        """
        if self.layout.size > DENSE:
            return self._unbounded_at_both_ends(parameters)
        covariance = _inverse(self._curvature(parameters))
        return frozenset(
            (i, j)
            for (i, j), places in self.layout.edges.items()
            if self.layout.edges[i, j].size
            and _is_open(covariance, places.ravel(), self._size_around(parameters, (i, j)))
        )

    def _curvature(self, parameters: Array) -> Array:
        """Second derivatives with the least ridge, whatever ridge there was in the fit."""
        hessian = np.diag(np.where(self.ridge > 0, RIDGE, 0.0))
        for each in self.conditionals:
            at = each.places.ravel()
            hessian[np.ix_(at, at)] += each.with_hessian(parameters)[2]
        return hessian

    def _unbounded_at_both_ends(self, parameters: Array) -> frozenset[Pair]:
        ends: dict[Pair, int] = dict.fromkeys(self.layout.edges, 0)
        for r, each in self._by_column().items():
            at = each.places.ravel()
            ridge = np.diag(np.where(self.ridge[at] > 0, RIDGE, 0.0))
            covariance = _inverse(each.with_hessian(parameters)[2] + ridge)
            for t, places in self.layout.neighbours[r].items():
                own = np.flatnonzero(np.isin(at, places))
                pair = (min(r, t), max(r, t))
                size = self._size_around(parameters, pair)
                ends[pair] += len(own) > 0 and _is_open(covariance, own, size)
        return frozenset(pair for pair, count in ends.items() if count == 2)

    def _by_column(self) -> dict[int, Conditional]:
        varying = (r for r, m in enumerate(self.layout.n_states) if m > 1)
        return dict(zip(varying, self.conditionals, strict=True))

    def _size_around(self, parameters: Array, pair: Pair) -> float:
        """How large the tables of an edge's two ends are."""
        blocks = (
            parameters[places].ravel()
            for end in pair
            for places in self.layout.neighbours[end].values()
        )
        return float(np.linalg.norm(np.concatenate(list(blocks))))

    def with_gradient(self, parameters: Array) -> tuple[float, Array]:
        value = 0.5 * float(self.ridge @ parameters**2)
        gradient = self.ridge * parameters
        for each in self.conditionals:
            own_value, own_gradient = each.with_gradient(parameters)
            value += own_value
            gradient[each.places] += own_gradient
        return value, gradient


def open_below(size: float) -> float:
    """The curvature up to which a direction counts as held by the ridge; see `unbounded`."""
    return RIDGE + 4 * RIDGE * (1 + size)


def _is_open(covariance: Array, places: Places, size: float) -> bool:
    block = covariance[np.ix_(places, places)]
    return bool(open_below(size) * np.linalg.eigvalsh(block)[-1] >= 1.0)


def _inverse(hessian: Array) -> Array:
    try:
        inverse: Array = cho_solve(cho_factor(hessian), np.eye(len(hessian)))
    except LinAlgError:  # a column that no row explains has a field without curvature
        return np.asarray(np.linalg.pinv(hessian, hermitian=True), dtype=np.float64)
    return inverse


def _conditional(layout: Layout, table: Table, r: int) -> Conditional:
    others = layout.neighbours[r]
    m = layout.n_states[r]
    codes, weights = rows_that_count(layout, table, [r, *others])
    cells, counts = cells_of(codes, weights, [m, *(layout.n_states[t] for t in others)])
    parts = [np.ones((len(cells), 1))] if layout.intercept else [np.empty((len(cells), 0))]
    parts += [layout.bases[t][cells[:, at]] for at, t in enumerate(others)]
    places = [layout.fields[r].reshape(-1, m - 1), *others.values()]
    return Conditional(np.hstack(parts), counts / table.n, np.vstack(places), layout.bases[r])


def rows_that_count(layout: Layout, table: Table, columns: list[int]) -> tuple[Any, Array]:
    """Codes of some columns, and weights, of the rows where all of them are seen."""
    codes = table.codes[:, columns]
    if not table.available:
        return codes, table.weights
    seen = (codes < np.array([layout.n_states[v] for v in columns])).all(axis=1)
    return codes[seen], table.weights[seen]


def cells_of(codes: Any, weights: Array, n_states: list[int]) -> tuple[Places, Array]:
    """Combinations of all columns but the first, and the weight of each by the first's states."""
    cell = np.zeros(len(codes), dtype=np.intp)
    found = np.zeros((1, 0), dtype=np.intp)
    for at, m in enumerate(n_states[1:], start=1):
        key = cell * m + codes[:, at]
        if len(found) * m <= 4 * len(codes):
            occurs = np.bincount(key, minlength=len(found) * m) > 0
            kept, cell = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[key]
        else:
            kept, cell = np.unique(key, return_inverse=True)
        found = np.column_stack([found[kept // m], kept % m])
    m = n_states[0]
    counts: Array = np.bincount(cell * m + codes[:, 0], weights, minlength=len(found) * m).astype(
        np.float64
    )
    return found, counts.reshape(len(found), m)
