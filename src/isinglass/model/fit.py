"""Parameters of a pairwise model on a known graph: one table an edge, shared by both its ends.

The search refits each column on its own, so an edge has two tables, one from either end. Here all
columns are fitted together. Pseudo-likelihood is the sum over columns of log P(column given its
neighbours) (Besag, "Statistical analysis of non-lattice data", The Statistician 24, 1975); it is
concave, needs no partition function, and works for any graph. Likelihood needs the marginals of
the model, which elimination gives exactly where memory allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import minimize

from isinglass.errors import SettingError
from isinglass.graph import Graph
from isinglass.losses.contrasts import zero_sum_basis
from isinglass.losses.families import softmax_terms
from isinglass.losses.linear import RIDGE, Terms, predictor_objective
from isinglass.losses.newton import minimise
from isinglass.model import elimination
from isinglass.model.field import MEMORY, MarkovField
from isinglass.table import Table

Array = NDArray[np.float64]
Places = NDArray[np.intp]

#: Parameters up to which Newton's method is used, with the whole matrix of second derivatives.
DENSE = 2000


def fit_model(
    table: Table,
    graph: Graph,
    refit: str = "pseudolikelihood",
    *,
    ridge: float = RIDGE,
    intercept: bool = True,
    memory: float = MEMORY,
) -> MarkovField:
    """Fit all parameters of a graph together.

    Minimised is the mean over rows of minus the log-likelihood (or the pseudo-log-likelihood),
    plus ridge/2 times the squared entries of each edge's table in the zero-sum gauge. Fields are
    free, except that of a column with a state in no row that counts. Weights are counts.

    Parameters
    ----------
    table : Table
        As ``isinglass.table.encode`` gives it. Where gaps are left out (``available``), a column
        is explained by the rows where it and its neighbours are seen.
    graph : Graph
        Over the columns of the table; its numbers are not looked at.
    refit : "pseudolikelihood" or "likelihood"
    ridge : float
        Keeps edges finite that the rows leave unbounded (a zero cell, a repeated column). Too
        small to be seen in others; larger values shrink all edges.
    intercept : bool
        Without it there are no fields: the model is symmetric in its states.
    memory : float
        Bytes that the likelihood's elimination may take; more is refused with the number.

    Returns
    -------
    MarkovField

    Examples
    --------
    >>> import isinglass as ig
    >>> from isinglass.table import encode
    >>> true = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> model = fit_model(encode(true.sample(20_000, seed=0)), true.graph)
    >>> model.couplings[0, 1].round(1).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    if refit not in ("pseudolikelihood", "likelihood"):
        raise SettingError(f"refit must be 'pseudolikelihood' or 'likelihood', not {refit!r}.")
    if not 0 <= ridge < np.inf:
        raise SettingError(f"ridge must be a finite number, 0 or more, got {ridge!r}.")
    if graph.names != table.names:
        raise SettingError("the graph and the table have different columns.")
    joint = _PseudoLikelihood(_Layout(table, graph, intercept), table, float(ridge))
    if refit == "pseudolikelihood":
        return joint.layout.field(joint.minimum())
    return joint.layout.field(_Likelihood(joint, table, memory).minimum())


class _Layout:
    """Where each column's field and each edge's block stand among all parameters.

    Blocks are written in orthonormal zero-sum contrasts, so nothing in them is redundant.
    """

    def __init__(self, table: Table, graph: Graph, intercept: bool) -> None:
        self.table, self.intercept = table, intercept
        self.n_states = table.n_answers
        self.bases = [zero_sum_basis(m) for m in self.n_states]
        widths = [basis.shape[1] for basis in self.bases]
        self.size = 0
        self.fields = [self._next(width if intercept else 0) for width in widths]
        self.edges = {
            (link.source, link.target): self._next(
                widths[link.source] * widths[link.target]
            ).reshape(widths[link.source], widths[link.target])
            for link in graph.links
        }
        self.neighbours: list[dict[int, Places]] = [{} for _ in widths]
        for (i, j), places in self.edges.items():
            self.neighbours[i][j] = places.T
            self.neighbours[j][i] = places

    def _next(self, count: int) -> Places:
        self.size += count
        return np.arange(self.size - count, self.size)

    def field(self, parameters: Array) -> MarkovField:
        """The model of some parameters."""
        return MarkovField(
            self.table.names,
            tuple(
                column.states[:m]
                for column, m in zip(self.table.columns, self.n_states, strict=True)
            ),
            tuple(
                basis @ parameters[places] if self.intercept else np.zeros(len(basis))
                for basis, places in zip(self.bases, self.fields, strict=True)
            ),
            {
                (i, j): self.bases[i] @ parameters[places] @ self.bases[j].T
                for (i, j), places in self.edges.items()
            },
            self.table.library,
        )


@dataclass(frozen=True)
class _Conditional:
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


class _PseudoLikelihood:
    """Minus the pseudo-log-likelihood per row, plus the ridge."""

    def __init__(self, layout: _Layout, table: Table, ridge: float) -> None:
        self.layout = layout
        self.conditionals = [
            _conditional(layout, table, r) for r, m in enumerate(layout.n_states) if m > 1
        ]
        self.ridge = np.full(layout.size, ridge)
        for conditional in self.conditionals:
            if layout.intercept and conditional.counts.any(axis=0).all():
                self.ridge[conditional.places[0]] = 0.0

    def minimum(self) -> Array:
        """The best parameters: by Newton's method, or L-BFGS where there are very many."""
        start = self._independent()
        if self.layout.size <= DENSE:
            return minimise(self.with_hessian, start)
        return _lbfgs(self.with_gradient, start)

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

    def with_gradient(self, parameters: Array) -> tuple[float, Array]:
        value = 0.5 * float(self.ridge @ parameters**2)
        gradient = self.ridge * parameters
        for each in self.conditionals:
            own_value, own_gradient = each.with_gradient(parameters)
            value += own_value
            gradient[each.places] += own_gradient
        return value, gradient


def _conditional(layout: _Layout, table: Table, r: int) -> _Conditional:
    others = layout.neighbours[r]
    m = layout.n_states[r]
    codes, weights = _rows_that_count(layout, table, [r, *others])
    cells, counts = _cells(codes, weights, [m, *(layout.n_states[t] for t in others)])
    parts = [np.ones((len(cells), 1))] if layout.intercept else [np.empty((len(cells), 0))]
    parts += [layout.bases[t][cells[:, at]] for at, t in enumerate(others)]
    places = [layout.fields[r].reshape(-1, m - 1), *others.values()]
    return _Conditional(np.hstack(parts), counts / table.n, np.vstack(places), layout.bases[r])


def _rows_that_count(layout: _Layout, table: Table, columns: list[int]) -> tuple[Any, Array]:
    """Codes of some columns, and weights, of the rows where all of them are seen."""
    codes = table.codes[:, columns]
    if not table.available:
        return codes, table.weights
    seen = (codes < np.array([layout.n_states[v] for v in columns])).all(axis=1)
    return codes[seen], table.weights[seen]


def _cells(codes: Any, weights: Array, n_states: list[int]) -> tuple[Places, Array]:
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


class _Likelihood:
    """Minus the log-likelihood per row, plus the ridge; gradients are differences of marginals."""

    def __init__(self, pseudo: _PseudoLikelihood, table: Table, memory: float) -> None:
        if table.available:
            raise SettingError(
                'refit="likelihood" needs rows without gaps; take missing="drop" or "state", or '
                'refit="pseudolikelihood".'
            )
        self.pseudo, self.layout, self.ridge = pseudo, pseudo.layout, pseudo.ridge
        empty = self.layout.field(np.zeros(self.layout.size))
        self.order = elimination.plan(empty, memory)
        elimination.check_memory(
            self.order, 0, memory, ', or take refit="pseudolikelihood"', beliefs=True
        )
        self.shares = _shares(self.layout, table)

    def minimum(self) -> Array:
        """From the pseudo-likelihood's answer, in coordinates that its curvature makes round."""
        start = self.pseudo.minimum()
        if self.layout.size > DENSE:
            return _lbfgs(self.with_gradient, start)
        root = _root(self.pseudo.with_hessian(start)[2])

        def rounded(z: Array) -> tuple[float, Array]:
            value, gradient = self.with_gradient(start + solve_triangular(root, z))
            return value, solve_triangular(root, gradient, trans="T")

        step: Array = solve_triangular(root, _lbfgs(rounded, np.zeros(len(start))))
        return start + step

    def with_gradient(self, parameters: Array) -> tuple[float, Array]:
        field = self.layout.field(parameters)
        log_partition, single, pairs = elimination.marginals(field, self.order)
        expected = _contrasts(self.layout, single, pairs)
        value = log_partition - float(self.shares @ parameters)
        value += 0.5 * float(self.ridge @ parameters**2)
        return value, expected - self.shares + self.ridge * parameters


def _shares(layout: _Layout, table: Table) -> Array:
    """What the rows say: the shares of states and of pairs of states, as contrasts."""
    m, weights, codes = layout.n_states, table.weights, table.codes.astype(np.intp)
    single = [np.bincount(codes[:, v], weights, count) / table.n for v, count in enumerate(m)]
    pairs = {}
    for i, j in layout.edges:
        cell = codes[:, i] * m[j] + codes[:, j]
        counts = np.bincount(cell, weights, minlength=m[i] * m[j])
        pairs[i, j] = counts.reshape(m[i], m[j]) / table.n
    return _contrasts(layout, single, pairs)


def _contrasts(layout: _Layout, single: list[Array], pairs: dict[tuple[int, int], Array]) -> Array:
    moments = np.zeros(layout.size)
    if layout.intercept:
        for places, basis, shares in zip(layout.fields, layout.bases, single, strict=True):
            moments[places] = shares @ basis
    for (i, j), places in layout.edges.items():
        moments[places] = layout.bases[i].T @ pairs[i, j] @ layout.bases[j]
    return moments


def _root(hessian: Array) -> Array:
    """An upper triangular root of a matrix that may be singular to rounding."""
    diagonal = np.diag(hessian)
    for extra in (0.0, *(10.0**power for power in range(-14, 1))):
        try:
            root: Array = cholesky(hessian + np.diag(extra * (diagonal + 1e-12)))
        except LinAlgError:
            continue
        return root
    return np.eye(len(hessian))


def _lbfgs(objective: Any, start: Array) -> Array:
    """Minimise by L-BFGS, in at most 1000 steps; less if the gradient falls below 1e-10."""
    if not len(start):
        return start
    options = {"maxcor": 40, "ftol": 0.0, "gtol": 1e-10, "maxiter": 1000, "maxfun": 3000}
    found: Array = minimize(objective, start, jac=True, method="L-BFGS-B", options=options).x
    return found
