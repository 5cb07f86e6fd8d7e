"""Slope and curvature of a loss at given coefficients, the intercept profiled out.

A profiled loss is the least over the intercept. Its slope is that of the loss at the best
intercept, and its curvature a Schur complement; what bounds the curvature of the loss from above
or below bounds that of the profiled loss too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.losses import HuberLoss, LogisticLoss, MultinomialLoss, PoissonLoss, SquaredLoss
from isinglass.losses.families import softmax_terms
from isinglass.losses.forms import zero_sum_basis
from isinglass.losses.linear import LinearLoss, Terms, predictor_objective
from isinglass.losses.newton import minimise
from isinglass.losses.protocol import Block

Array = NDArray[np.float64]
Codes = NDArray[np.integer]

#: A (D, D) curvature of more coefficients is not computed.
MOST_COEFFICIENTS = 4000


@dataclass(frozen=True, eq=False)
class Instance:
    """A loss at given coefficients, in the letters of the theorem.

    Attributes
    ----------
    design : (n, k) array
        The columns that candidates are made of.
    terms : function of the (n, q) predictor
        The mean loss, its slope (n, q) and its curvature (n, q, q).
    groups : tuple of tuples of int
        The design columns of each candidate.
    coef : (k, q) array
        The coefficients: the truth, or an estimate.
    intercept : bool
    ceiling : float
        The curvature of a row is at most this times its share; infinite if there is no such bound.
    reach : float
        By how much, at most, a row's log odds change per unit of change of the coefficients, the
        norms of all candidates summed. The curvature then changes by at most the exponential.
    shares : (n,) array
    """

    design: Array
    terms: Terms
    groups: tuple[Block, ...]
    coef: Array
    intercept: bool
    ceiling: float
    reach: float
    shares: Array

    @property
    def support(self) -> tuple[int, ...]:
        """The candidates with a coefficient."""
        return tuple(at for at, size in enumerate(self.sizes) if size > 0)

    @property
    def sizes(self) -> Array:
        """The norm of each candidate's coefficients."""
        return np.array([float(np.linalg.norm(self.coef[list(g)])) for g in self.groups])

    @property
    def blocks(self) -> tuple[NDArray[np.intp], ...]:
        """The coordinates of each candidate among all coefficients."""
        q = self.coef.shape[1]
        flat = np.arange(self.coef.size).reshape(-1, q)
        return tuple(flat[list(group)].ravel() for group in self.groups)

    def slope_and_curvature(self) -> tuple[Array, Array]:
        """Of the profiled loss: (D,) and (D, D)."""
        _, slope, curvature = self.terms(self._predictor())
        pulls: Array = (self.design.T @ slope).ravel()
        return pulls, _profiled(self.design, curvature, self.intercept)

    def slope(self) -> Array:
        """The slope alone."""
        slopes: Array = self.design.T @ self.terms(self._predictor())[1]
        return slopes.ravel()

    def row_slopes(self) -> Array:
        """What each row adds to the slope of its predictor: (n, q)."""
        return self.terms(self._predictor())[1]

    def largest_curvature(self) -> Array:
        """A (D, D) matrix that no curvature of the profiled loss exceeds."""
        q = self.coef.shape[1]
        rows = self.shares[:, None, None] * np.eye(q) * self.ceiling
        return _profiled(self.design, rows, self.intercept)

    def largest_slope(self) -> float:
        """The largest norm of the slope in one candidate: the noise, if at the truth."""
        slope = self.slope()
        return max((float(np.linalg.norm(slope[block])) for block in self.blocks), default=0.0)

    def _predictor(self) -> Array:
        held: Array = self.design @ self.coef
        if not self.intercept:
            return held
        ones = np.ones((len(held), 1))
        q = held.shape[1]
        objective = predictor_objective(ones, held, self.terms, np.zeros(1))
        return held + minimise(objective, np.zeros(q))


def _profiled(design: Array, curvature: Array, intercept: bool) -> Array:
    """The curvature of all coefficients, re-optimised over the intercept if there is one."""
    columns = np.column_stack([np.ones(len(design)), design]) if intercept else design
    k, q = columns.shape[1], curvature.shape[1]
    whole = np.empty((k, q, k, q))
    for a in range(q):
        for b in range(a + 1):
            gram = columns.T @ (columns * curvature[:, a, b, None])
            whole[:, a, :, b] = whole[:, b, :, a] = gram
    flat = whole.reshape(k * q, k * q)
    if not intercept:
        return flat
    own, cross, rest = flat[:q, :q], flat[:q, q:], flat[q:, q:]
    left: Array = rest - cross.T @ np.linalg.pinv(own, hermitian=True) @ cross
    return (left + left.T) / 2


def contrasts(codes: Codes, n_states: Sequence[int]) -> tuple[Array, tuple[Block, ...]]:
    """All columns of a table in orthonormal zero-sum contrasts, and where each column's are."""
    parts = [zero_sum_basis(m)[codes[:, t]] for t, m in enumerate(n_states)]
    ends = np.cumsum([0, *(m - 1 for m in n_states)])
    groups = tuple(tuple(range(a, b)) for a, b in pairwise(ends.tolist()))
    return np.hstack(parts), groups


def column_instance(
    codes: Codes,
    weights: Array,
    n_states: Sequence[int],
    r: int,
    tables: Mapping[int, Array],
    *,
    intercept: bool = True,
    prepared: tuple[Array, tuple[Block, ...]] | None = None,
) -> Instance:
    """Column r of a table given the others, at some (m_r, m_t) tables of log-potentials."""
    design, groups = contrasts(codes, n_states) if prepared is None else prepared
    m, own = n_states[r], groups[r]
    others = [t for t in range(len(n_states)) if t != r and n_states[t] > 1]
    kept = [i for t in others for i in groups[t]]
    check_size(len(kept) * (m - 1))
    place = {i: at for at, i in enumerate(kept)}
    coef = np.zeros((len(kept), m - 1))
    basis = zero_sum_basis(m)
    for t, table in tables.items():
        rows = [place[i] for i in groups[t]]
        coef[rows] = zero_sum_basis(n_states[t]).T @ table.T @ basis
    shares = weights / weights.sum()
    counts = np.eye(m)[codes[:, r]] * shares[:, None]

    def terms(eta: Array) -> tuple[float, Array, Array]:
        value, slope, curvature = softmax_terms(eta @ basis.T, counts)
        return float(value.sum()), slope @ basis, basis.T @ curvature @ basis

    widest = max((1 - 1 / n_states[t] for t in others), default=0.0)
    # Re-optimised, the intercept moves a row by at most m - 1 times as much: see docs/theory.md.
    reach = float(np.sqrt(2 * widest)) * (m if intercept else 1)
    return Instance(
        np.delete(design, list(own), axis=1),
        terms,
        tuple(tuple(place[i] for i in groups[t]) for t in others),
        coef,
        intercept,
        0.5,
        reach,
        shares,
    )


def loss_instance(loss: LinearLoss, coef: Array, groups: Sequence[Block]) -> Instance:
    """A regression's loss at some coefficients, in the units of its columns."""
    check_size(loss.size * loss.width)
    design = loss.design
    ceilings = {SquaredLoss: 1.0, HuberLoss: 1.0, LogisticLoss: 0.25, MultinomialLoss: 0.5}
    if type(loss) not in (*ceilings, PoissonLoss):
        raise SettingError(
            f"the theorem's constants are known for the losses of isinglass.losses, not for a "
            f"{type(loss).__name__}."
        )
    width = design.high - design.low
    size = width if loss.intercept else np.maximum(np.abs(design.low), np.abs(design.high))
    reach = float(size.max(initial=0.0))
    if isinstance(loss, SquaredLoss):
        reach = 0.0
    elif isinstance(loss, HuberLoss):
        reach = float("inf")
    elif isinstance(loss, MultinomialLoss):
        reach *= float(np.sqrt(2)) * (len(loss.classes) / 2 if loss.intercept else 1)
    return Instance(
        design.columns(range(loss.size)),
        loss.terms,
        tuple(map(tuple, groups)),
        np.reshape(np.asarray(coef, dtype=np.float64), (loss.size, loss.width)),
        loss.intercept,
        ceilings.get(type(loss), float("inf")),
        reach,
        loss.share,
    )


def check_size(coefficients: int) -> None:
    """Refuse matrices that would not fit."""
    if coefficients > MOST_COEFFICIENTS:
        raise SettingError(
            f"a column has {coefficients:,} coefficients; at most {MOST_COEFFICIENTS:,} are "
            "possible here. Take fewer columns, or fewer states."
        )
