"""Pseudo-likelihood: each column given its neighbours, all columns sharing one table per edge.

The sum over columns of log P(column given its neighbours) (Besag, "Statistical analysis of
non-lattice data", The Statistician 24, 1975) is concave, needs no partition function, and works
for any graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from threadpoolctl import threadpool_limits

from isinglass.losses.linear import RIDGE
from isinglass.losses.newton import Objective, minimise
from isinglass.model.fit.alone import Alone, fit_alone
from isinglass.model.fit.conditionals import Conditional, Look, conditional_of
from isinglass.model.fit.descent import Progress, newton, step_in_words
from isinglass.model.fit.layout import Layout, Pair, Positions
from isinglass.model.fit.preconditioner import Preconditioner
from isinglass.model.inference.methods import MEMORY
from isinglass.table import Table

Array = NDArray[np.float64]

#: Parameters up to which Newton's method has the whole matrix of second derivatives.
DENSE = 2000
#: How far the search starts from independent columns towards columns fitted one by one.
SHARES = (1.0, 0.5, 0.25, 0.125, 0.0)


class PseudoLikelihood:
    """Minus the pseudo-log-likelihood per row, plus the ridge.

    `memory` is what may be kept, in bytes; what does not fit is computed again when it is needed.
    """

    def __init__(self, layout: Layout, table: Table, ridge: float, memory: float = MEMORY) -> None:
        self.layout, self.table, self.memory = layout, table, memory
        self.conditionals: dict[int, Conditional] = {}
        kept = 0.0
        for r, m in enumerate(layout.n_states):
            if m > 1:
                each = conditional_of(layout, table, r)
                kept += each.bytes_kept
                self.conditionals[r] = each.keep() if kept <= memory / 2 else each
        self.ridge = np.full(layout.size, ridge)
        for conditional in self.conditionals.values():
            if layout.intercept and conditional.shares.all():
                self.ridge[conditional.positions[0]] = 0.0

    def minimum(self, progress: Progress | None = None) -> Array:
        """The best parameters: by Newton's method, its steps solved by products if need be."""
        start = self._start(progress)
        with threadpool_limits(1, "blas"):  # products are small: threads would wait for each other
            if self.has_room_for_a_matrix:
                return minimise(self._reporting(progress), start)
            ease = Preconditioner(self.layout, self.conditionals, self.memory / 2)
            return newton(lambda x: _Point(self, x, ease), start, progress)

    @property
    def has_room_for_a_matrix(self) -> bool:
        """Whether the whole matrix of second derivatives is small."""
        size = self.layout.size
        return size <= DENSE and 4 * 8 * size**2 <= self.memory

    def _reporting(self, progress: Progress | None) -> Objective:
        steps = count()

        def objective(parameters: Array) -> tuple[float, Array, Array]:
            value, gradient, hessian = self.with_hessian(parameters)
            if progress is not None:
                progress(step_in_words(next(steps), gradient))
            return value, gradient, hessian

        return objective

    def _start(self, progress: Progress | None) -> Array:
        """The best of some points between independent columns and columns fitted one by one.

        Where rows are few for the parameters, the mean of an edge's two tables is far too large.
        """
        self._alone = fit_alone(self.layout, self.table, progress)
        independent, alone = self._independent(), self._alone.parameters()
        starts = (independent + share * (alone - independent) for share in SHARES)
        return min(starts, key=lambda start: self.with_gradient(start)[0])

    @cached_property
    def _alone(self) -> Alone:
        return fit_alone(self.layout, self.table)

    def _independent(self) -> Array:
        """Fields of columns without edges, a little less than their states' shares say."""
        start = np.zeros(self.layout.size)
        if self.layout.intercept:
            for each in self.conditionals.values():
                seen = each.shares
                start[each.positions[0]] = np.log(seen + 1e-3 * seen.sum() + 1e-12) @ each.basis
        return start

    def looks(self, parameters: Array) -> dict[int, Look]:
        """Every column's conditional at some parameters."""
        return {r: each.look(parameters) for r, each in self.conditionals.items()}

    def summed(self, parameters: Array, looks: Mapping[int, Look]) -> tuple[float, Array]:
        """Value and gradient, the ridge with them."""
        value = 0.5 * float(self.ridge @ parameters**2)
        gradient = self.ridge * parameters
        for r, look in looks.items():
            value += look.value
            gradient[self.conditionals[r].positions] += look.gradient
        return value, gradient

    def with_gradient(self, parameters: Array) -> tuple[float, Array]:
        """Value and gradient."""
        return self.summed(parameters, self.looks(parameters))

    def with_hessian(self, parameters: Array) -> tuple[float, Array, Array]:
        """Value, gradient, and the whole matrix of second derivatives."""
        value, gradient = self.with_gradient(parameters)
        return value, gradient, self._curvature(parameters, self.ridge)

    def _curvature(self, parameters: Array, ridge: Array) -> Array:
        hessian = np.diag(ridge)
        for each in self.conditionals.values():
            at = each.positions.ravel()
            hessian[np.ix_(at, at)] += each.hessian(each.look(parameters))
        return hessian

    def unbounded(self, parameters: Array) -> frozenset[Pair]:
        """Edges that only the ridge holds: the rows leave their table open in some direction.

        As in the search: along such a direction the curvature left is at most a few times RIDGE
        times the size of the tables around it, while one row with information gives more. Where
        there are very many parameters each column is fitted alone, and both ends must agree.
        """
        if not self.has_room_for_a_matrix:
            return self._alone.unbounded()
        # With the least ridge, whatever ridge there was in the fit.
        least = np.where(self.ridge > 0, RIDGE, 0.0)
        covariance = _inverse(self._curvature(parameters, least))
        return frozenset(
            pair
            for pair, positions in self.layout.edges.items()
            if positions.size
            and _is_open(covariance, positions.ravel(), self._size_around(parameters, pair))
        )

    def _size_around(self, parameters: Array, pair: Pair) -> float:
        """How large the tables of an edge's two ends are."""
        blocks = (
            parameters[positions].ravel()
            for end in pair
            for positions in self.layout.neighbours[end].values()
        )
        return float(np.linalg.norm(np.concatenate(list(blocks))))


class _Point:
    """The objective at some parameters, as Newton's method looks at it."""

    def __init__(self, joint: PseudoLikelihood, parameters: Array, ease: Preconditioner) -> None:
        self._joint, self._ease = joint, ease
        self._looks = joint.looks(parameters)
        self._renewed = False
        self.value, self.gradient = joint.summed(parameters, self._looks)

    def product(self, direction: Array) -> Array:
        """The curvature times a direction."""
        product: Array = self._joint.ridge * direction
        for r, look in self._looks.items():
            each = self._joint.conditionals[r]
            product[each.positions] += each.product(look, direction)
        return product

    def ease(self, slope: Array) -> Array:
        """About the inverse of the curvature, times a slope."""
        if not self._renewed:  # not at trial points that are given up
            self._ease.renew(self._looks)
            self._renewed = True
        return self._ease(slope)


def open_below(size: float) -> float:
    """The curvature up to which a direction counts as held by the ridge; see `unbounded`."""
    return RIDGE + 4 * RIDGE * (1 + size)


def _is_open(covariance: Array, positions: Positions, size: float) -> bool:
    block = covariance[np.ix_(positions, positions)]
    return bool(open_below(size) * np.linalg.eigvalsh(block)[-1] >= 1.0)


def _inverse(hessian: Array) -> Array:
    try:
        inverse: Array = cho_solve(cho_factor(hessian), np.eye(len(hessian)))
    except LinAlgError:  # a column that no row explains has a field without curvature
        return np.asarray(np.linalg.pinv(hessian, hermitian=True), dtype=np.float64)
    return inverse
