"""Likelihood on a known graph: the marginals of the model, by elimination, against the table's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from isinglass.errors import Setting, SettingError
from isinglass.model.field import MarkovField
from isinglass.model.fit.descent import Progress, lbfgs
from isinglass.model.fit.layout import Layout, in_a_row
from isinglass.model.fit.pseudolikelihood import PseudoLikelihood
from isinglass.model.inference import elimination
from isinglass.table import Table

Array = NDArray[np.float64]


#: Steps after the value has no more digits to lose.
POLISHING = 50


class Likelihood:
    """Minus the log-likelihood per row, plus the ridge; gradients are differences of marginals."""

    def __init__(self, pseudo: PseudoLikelihood, table: Table, memory: float) -> None:
        if table.available:
            raise SettingError(
                'refit="likelihood" needs rows without missing values; take ',
                Setting("missing", "drop"),
                ' or "state", or refit="pseudolikelihood".',
            )
        if table.adjusted is not None:
            raise SettingError(
                'refit="likelihood" does not support columns that are adjusted for; use '
                'refit="pseudolikelihood".'
            )
        self.pseudo, self.layout, self.ridge = pseudo, pseudo.layout, pseudo.ridge
        self.table = table
        empty = self._field(np.zeros(self.layout.size))
        way_out = ', or take refit="pseudolikelihood"'
        self.order = elimination.plan_within(empty, memory, way_out, beliefs=True)
        self.shares = _shares(self.layout, table)

    def minimum(self, progress: Progress | None = None) -> Array:
        """From the pseudo-likelihood's answer, in coordinates that its curvature makes round."""
        start = self.pseudo.minimum(progress)
        if not self.pseudo.has_room_for_a_matrix:
            return lbfgs(self.with_gradient, start, progress)
        root = _root(self.pseudo.with_hessian(start)[2])

        def rounded(z: Array) -> tuple[float, Array]:
            value, gradient = self.with_gradient(start + solve_triangular(root, z))
            return value, solve_triangular(root, gradient, trans="T")

        found = _polished(rounded, lbfgs(rounded, np.zeros(len(start)), progress))
        step: Array = solve_triangular(root, found)
        return start + step

    def _field(self, parameters: Array) -> MarkovField:
        return MarkovField(
            self.table.names,
            tuple(tuple(range(m)) for m in self.layout.n_states),
            self.layout.intercepts(parameters),
            self.layout.couplings(parameters),
        )

    def with_gradient(self, parameters: Array) -> tuple[float, Array]:
        field = self._field(parameters)
        log_partition, single, pairs = elimination.marginals(field, self.order)
        expected = self.layout.contrasts(in_a_row(single, (pairs[e] for e in self.layout.edges)))
        value = log_partition - float(self.shares @ parameters)
        value += 0.5 * float(self.ridge @ parameters**2)
        return value, expected - self.shares + self.ridge * parameters


def _shares(layout: Layout, table: Table) -> Array:
    """What the rows say: the shares of states and of pairs of states, as contrasts."""
    m, weights, codes = layout.n_states, table.weights, table.codes.astype(np.intp)
    single = [np.bincount(codes[:, v], weights, count) for v, count in enumerate(m)]
    pairs = [
        np.bincount(codes[:, i] * m[j] + codes[:, j], weights, m[i] * m[j]) for i, j in layout.edges
    ]
    return layout.contrasts(in_a_row(single, pairs) / table.n)


def _polished(rounded: Callable[[Array], tuple[float, Array]], z: Array) -> Array:
    """Whole steps down the slope, while it falls: where rounding hides the value.

    In round coordinates the slope is about the way that is left.
    """
    slope = rounded(z)[1]
    for _ in range(POLISHING):
        there = z - slope
        next_slope = rounded(there)[1]
        if not np.linalg.norm(next_slope) <= 0.9 * np.linalg.norm(slope):
            break
        z, slope = there, next_slope
    return z


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
