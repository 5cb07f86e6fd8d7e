"""Pseudo-likelihood: each column given its neighbours, all columns sharing one table per edge.

The sum over columns of log P(column given its neighbours) (Besag, "Statistical analysis of
non-lattice data", The Statistician 24, 1975) is concave, needs no partition function, and works
for any graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from isinglass.core import cores
from isinglass.core.models import joint_loss
from isinglass.losses.linear import RIDGE
from isinglass.model.fit.alone import Alone, fit_alone
from isinglass.model.fit.blas import from_lower, one_blas_thread
from isinglass.model.fit.conditionals import curvature_of
from isinglass.model.fit.descent import Progress, newton
from isinglass.model.fit.layout import Layout, Pair, Positions
from isinglass.model.fit.restricted import Restricted
from isinglass.model.fit.sharpened import Sharpened
from isinglass.model.inference.methods import MEMORY
from isinglass.table import Table

Array = NDArray[np.float64]

#: Parameters up to which the whole matrix of second derivatives may be made.
DENSE = 2000
#: The damping of the first steps where columns fitted one by one are far from a joint fit.
DAMPING = 0.1
#: How far the search starts from independent columns towards columns fitted one by one.
SHARES = (1.0, 0.5, 0.25, 0.125, 0.0)


class PseudoLikelihood:
    """Minus the pseudo-log-likelihood per row, plus the ridge.

    `memory` is what may be kept, in bytes; what does not fit is computed again when it is needed.
    `forms` name the designs of the layout.
    """

    def __init__(
        self,
        layout: Layout,
        table: Table,
        ridge: float,
        memory: float = MEMORY,
        forms: Mapping[Pair, str] | None = None,
    ) -> None:
        self.layout, self.table, self.memory = layout, table, memory
        self.forms = dict(forms or {})
        self.varying = [r for r, m in enumerate(layout.n_states[: layout.own]) if m > 1]
        self.loss = joint_loss(
            table.wide.codes,
            table.weights / table.n,
            layout.n_states,
            list(layout.edges),
            ridge=ridge,
            intercept=layout.intercept,
            memory=memory,
            threads=cores(),
            adjusted=len(layout.n_states) - layout.own,
        )
        # The share of all rows with each state, where the column and its neighbours are seen.
        shares = np.split(self.loss.shares(), np.cumsum(layout.n_states)[:-1])
        self._shares = {r: shares[r] for r in self.varying}
        self.ridge = np.full(layout.size, ridge)
        for r, share in self._shares.items():
            if share.all():
                self.ridge[layout.fields[r]] = 0.0

    def minimum(self, progress: Progress | None = None, near: Array | None = None) -> Array:
        """The best parameters, by Newton's method, its steps solved by products.

        Parameters near them, if some are known, save fits of every column by itself.
        """
        if near is None:
            start, share = self._start(progress)
        else:
            start, share = self.layout.numbers(near), 1.0
        damping = 0.0 if share == 1.0 else DAMPING
        loss = Sharpened(self)
        if not self.layout.designs:
            return self.layout.contrasts(newton(loss, start, progress, damping))
        within = Restricted(loss, self.layout)
        found = newton(within, within.inside(start), progress, damping)
        return self.layout.contrasts(within.numbers(found))

    @property
    def has_room_for_a_matrix(self) -> bool:
        """Whether the whole matrix of second derivatives is small."""
        size = self.layout.size
        return size <= DENSE and 4 * 8 * size**2 <= self.memory

    def _start(self, progress: Progress | None) -> tuple[Array, float]:
        """The best of some points between independent columns and columns fitted one by one.

        Where rows are few for the parameters, the mean of an edge's two tables is far too large.
        Also returned is the share of the way to it.
        """
        self._alone = fit_alone(self.layout, self.table, self._smaller, progress)
        numbers = self.layout.numbers
        independent, alone = numbers(self._independent()), numbers(self._alone.parameters())
        starts = ((independent + share * (alone - independent), share) for share in SHARES)
        return min(starts, key=lambda start: self.loss.move_to(start[0])[0])

    @cached_property
    def _alone(self) -> Alone:
        return fit_alone(self.layout, self.table, self._smaller)

    @property
    def _smaller(self) -> dict[Pair, str]:
        """The forms of the edges that have designs."""
        return {pair: self.forms[pair] for pair in self.layout.designs if pair in self.forms}

    def _independent(self) -> Array:
        """Fields of columns without edges, a little less than their states' shares say."""
        start = np.zeros(self.layout.size)
        if self.layout.intercept:
            for r, seen in self._shares.items():
                logarithm = np.log(seen + 1e-3 * seen.sum() + 1e-12)
                start[self.layout.fields[r]] = logarithm @ self.layout.bases[r]
        return start

    def with_gradient(self, parameters: Array) -> tuple[float, Array]:
        """Value and gradient."""
        value, slope = self.loss.move_to(self.layout.numbers(parameters))
        return value, self.layout.contrasts(slope)

    def with_hessian(self, parameters: Array) -> tuple[float, Array, Array]:
        """Value, gradient, and the whole matrix of second derivatives."""
        value, gradient = self.with_gradient(parameters)
        return value, gradient, self._assembled(self.ridge)

    def curvatures(self) -> dict[int, tuple[Positions, Array]]:
        """The curvature of each column's loss by itself, and of which parameters.

        It is about the place that the loss last moved to.
        """
        with one_blas_thread():
            return {
                r: curvature_of(self.layout, self.loss.curvature_of(r), r) for r in self.varying
            }

    def _assembled(self, ridge: Array) -> Array:
        hessian = np.diag(ridge)
        for at, curvature in self.curvatures().values():
            hessian[np.ix_(at, at)] += curvature
        return hessian

    def unbounded(self, parameters: Array) -> frozenset[Pair]:
        """Edges that only the ridge holds: the rows leave their table open in some direction.

        As in the search: along such a direction the curvature left is at most a few times RIDGE
        times the size of the tables around it, while one row with information gives more. Then
        either end's own fit is open too, so that only such edges are looked at; where there are
        very many parameters that is all. Most of them are open by themselves, such as where two
        states are never seen together; others only if further tables give way.
        """
        possible = self._alone.unbounded()
        if not possible or not self.has_room_for_a_matrix:
            return possible
        limits = {pair: open_below(self._size_around(parameters, pair)) for pair in possible}
        # With the least ridge, whatever ridge there was in the fit.
        ridge = np.where(self.ridge > 0, RIDGE, 0.0)
        self.loss.move_to(self.layout.numbers(parameters))
        alone = {pair for pair in possible if _flattest(*self._around(pair, ridge)) <= limits[pair]}
        others = sorted(possible - alone)
        if not others:
            return possible
        flattest = self._flattest_of_all(self._assembled(ridge), others)
        return possible - {pair for pair in others if flattest[pair] > limits[pair]}

    def _around(self, pair: Pair, ridge: Array) -> tuple[Array, int]:
        """The curvature of the fields of an edge's ends, then of its table; where that begins.

        It is about the place that the loss last moved to.
        """
        fields = [self.layout.fields[end] for end in pair]
        begin = sum(map(len, fields))
        hessian = np.diag(ridge[np.concatenate([*fields, self.layout.edges[pair].ravel()])])
        tables, at = self.layout.tables(pair), 0
        for end, other in (pair, pair[::-1]):
            own = slice(at, at := at + len(self.layout.fields[end]))
            if end not in self._shares:  # constant, or adjusted for
                continue
            # What is said of this end's states in each state of the other one.
            by_state = tables.transpose(2, 1, 0) if end == pair[0] else tables.transpose(1, 2, 0)
            fit = self.loss.curvature_by_state(end, other)
            curvature = fit.reshape(len(by_state), *(by_state.shape[1],) * 2)
            pull = curvature @ by_state
            basis = self.layout.bases[end][:, : own.stop - own.start]
            hessian[own, own] += basis.T @ curvature.sum(0) @ basis
            hessian[own, begin:] += basis.T @ pull.sum(0)
            hessian[begin:, own] = hessian[own, begin:].T
            hessian[begin:, begin:] += np.tensordot(by_state, pull, ((0, 1), (0, 1)))
        return hessian, begin

    def _flattest_of_all(self, hessian: Array, pairs: Sequence[Pair]) -> dict[Pair, float]:
        """The least curvature of each of some edges' tables, all else making the best of it."""
        blocks = [self.layout.edges[pair].ravel() for pair in pairs]
        last = np.concatenate(blocks)
        first = np.setdiff1d(np.arange(len(hessian)), last)
        covariance = _last_of_inverse(hessian, first, last)
        begins = np.cumsum([0, *(len(block) for block in blocks)])
        return {
            pair: 1.0 / float(np.linalg.eigvalsh(covariance[begin:end, begin:end])[-1])
            for pair, (begin, end) in zip(pairs, pairwise(begins), strict=True)
        }

    def _size_around(self, parameters: Array, pair: Pair) -> float:
        """How large the tables of an edge's two ends are."""
        blocks = (
            parameters[positions].ravel()
            for end in pair
            for positions in self.layout.neighbours[end].values()
        )
        return float(np.linalg.norm(np.concatenate(list(blocks))))


def open_below(size: float) -> float:
    """The curvature up to which a direction counts as held by the ridge; see `unbounded`."""
    return RIDGE + 4 * RIDGE * (1 + size)


def _flattest(hessian: Array, begin: int) -> float:
    """The least curvature of the parameters from one on, those before making the best of it."""
    first, cross = hessian[:begin, :begin], hessian[:begin, begin:]
    left = hessian[begin:, begin:] - cross.T @ np.linalg.pinv(first, hermitian=True) @ cross
    return float(np.linalg.eigvalsh(left)[0])


def _last_of_inverse(hessian: Array, first: Positions, last: Positions) -> Array:
    """The part of the inverse that belongs to the last of two sets of parameters."""
    order = np.concatenate([first, last])
    with one_blas_thread():
        factor, failed = dpotrf(hessian[np.ix_(order, order)], lower=1)
        if failed:  # a column that no row explains has a field without curvature
            inverse = np.linalg.pinv(hessian, hermitian=True)
            return np.asarray(inverse[np.ix_(last, last)], dtype=np.float64)
        begin = len(first)
        lower = dpotri(factor[begin:, begin:], lower=1)[0]
    return from_lower(lower)
