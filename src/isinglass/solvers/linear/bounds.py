"""How far a loss can fall, at most, from its slope and curvature at one point.

Both bounds are proved in docs/regression.md. They are for a stack of small problems: over the
coefficients of a block and the intercept, all in units in which a row's predictor changes by at
most `reach` per coefficient. For single coefficients they are in core/moments/bounds.hpp.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.linear import LinearLoss

Array = NDArray[np.float64]

#: Slopes and curvatures are rounded; bounds are widened by more than that.
WIDER, MORE = 1 + 1e-7, 1e-12


class Bound(Protocol):
    """An upper bound on what is still to be gained."""

    #: Whether it is also good at points other than the fit.
    anywhere: bool

    def curvature(self, loss: LinearLoss, eta: Array, curvature: Array) -> Array:
        """The rows' (n, q, q) curvatures that the bound is about."""
        ...

    def block(self, slope: Array, curvature: Array, reach: Array) -> Array:
        """For (m, d, q) slopes, (m, d, q, d, q) curvatures and (m, d) reaches."""
        ...


class SelfConcordant:
    """|l'''| <= range(v) l'' along any change v of a row's scores: logistic, Poisson, softmax.

    `contrasts` are the (c, q) differences between two scores of a row.
    """

    anywhere = True

    def __init__(self, contrasts: Array) -> None:
        self.contrasts = contrasts

    def curvature(self, loss: LinearLoss, eta: Array, curvature: Array) -> Array:
        return curvature

    def block(self, slope: Array, curvature: Array, reach: Array) -> Array:
        inverse = inverses(curvature)
        with np.errstate(invalid="ignore", over="ignore"):
            decrement = np.einsum("mjq,mjqkr,mkr->m", slope, inverse, slope)
            pairs = np.einsum("cq,mjqkr,cr->mcjk", self.contrasts, inverse, self.contrasts)
            spread = np.einsum("mcjk,mj,mk->mc", np.abs(pairs), reach, reach).max(axis=1)
            return np.where(_inverted(curvature, inverse), self._fall(decrement, spread), np.inf)

    def _fall(self, decrement: Array, spread: Array) -> Array:
        """B(u)/kappa^2 with u = lambda kappa, B(u) = u + (1 - u) log(1 - u); none from u = 1 on."""
        u = np.sqrt(decrement * spread) * WIDER
        known = u < 1
        inner = np.where(known, u, 0.0)
        # Its first terms where it cancels.
        small = inner**2 * (1 / 2 + inner * (1 / 6 + inner / 12))
        whole = np.where(inner < 1e-4, small, inner + (1 - inner) * np.log1p(-inner))
        fall: Array = np.where(known, whole / spread * WIDER + MORE, np.inf)
        return fall


class HuberBound:
    """By duality, from the rows whose residuals are well inside the bend.

    Changing their residuals by at most k/4 leaves them inside, and makes the slope vanish: that is
    a point of the dual problem, whose value no loss can fall below.
    """

    anywhere = False

    def __init__(self, k: float) -> None:
        self.margin = k / 4

    def curvature(self, loss: LinearLoss, eta: Array, curvature: Array) -> Array:
        inside = np.abs(eta[:, 0] - loss.y) <= 3 * self.margin
        share: Array = loss.share * inside
        return share[:, None, None]

    def block(self, slope: Array, curvature: Array, reach: Array) -> Array:
        inverse = inverses(curvature)
        with np.errstate(invalid="ignore", over="ignore"):
            step = np.einsum("mjqkr,mkr->mjq", inverse, slope)
            moved = np.einsum("mjq,mj->m", np.abs(step), reach)
            fall = self._fall(np.einsum("mjq,mjq->m", step, slope), moved)
            return np.where(_inverted(curvature, inverse), fall, np.inf)

    def _fall(self, decrement: Array, moved: Array) -> Array:
        known = moved * WIDER <= self.margin
        fall: Array = np.where(known, decrement / 2 * WIDER + MORE, np.inf)
        return fall


def inverses(curvature: Array) -> Array:
    """Inverses of stacked (d, q, d, q) curvatures; infinite entries where there is none."""
    m, d, q = curvature.shape[:3]
    flat = curvature.reshape(m, d * q, d * q)
    try:
        inverse = np.linalg.inv(flat)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(flat)
        with np.errstate(divide="ignore", invalid="ignore"):
            inverse = np.einsum("mab,mb,mcb->mac", vectors, 1 / np.maximum(values, 0.0), vectors)
    return np.asarray(inverse, dtype=np.float64).reshape(curvature.shape)


def _inverted(forms: Array, inverse: Array) -> NDArray[np.bool_]:
    """Which of some stacked matrices are the inverses of others, not what rounding made of them."""
    m, size = len(forms), int(np.prod(forms.shape[1:3]))
    with np.errstate(over="ignore", invalid="ignore"):
        product = forms.reshape(m, size, size) @ inverse.reshape(m, size, size)
        off = np.abs(product - np.eye(size)).max(axis=(1, 2))
    return np.asarray(off < 1e-6)
