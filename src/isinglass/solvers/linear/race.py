"""Many small minimisations side by side, each given up once it cannot win any more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.linear import VANISHING, LinearLoss
from isinglass.losses.newton import BLIND, MAX_STEPS, SHORTER
from isinglass.solvers.linear.bounds import Bound

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

TOLERANCE = 1e-15
#: So many steps are taken where rounding hides what they gain.
BLIND_STEPS = 50


class Judge:
    """Which problems can still win: those that may reach the bar, or the best so far.

    `scale` turns falls of the loss of some problems into what is compared.
    """

    def __init__(self, scale: Callable[[Array, Numbers], Array], bar: float) -> None:
        self.scale = scale
        self.bar = bar

    def hopeful(self, which: Numbers, reached: Array, possible: Array) -> NDArray[np.bool_]:
        """Those whose possible fall is not below what some problem has reached, less a tie."""
        if len(which):
            self.bar = max(self.bar, float(self.scale(reached, which).max()) - 2e-9)
        return self.scale(possible, which) >= self.bar


class Problems:
    """Minimise the loss over coefficients of designs Z of their own, around held predictors.

    Parameters
    ----------
    loss : LinearLoss
    designs : (m, n, d) array
    reach : (m, d) array
        The largest absolute value of each design column.
    offset : (n, q) or (m, n, q) array
    """

    def __init__(self, loss: LinearLoss, designs: Array, reach: Array, offset: Array) -> None:
        self.loss, self.designs, self.reach = loss, designs, reach
        m, n, self.d = designs.shape
        self.q = offset.shape[-1]
        self.offset = np.broadcast_to(offset, (m, n, self.q))
        self.ridge = np.full(self.d * self.q, VANISHING)

    def least(self, bound: Bound | None = None, judge: Judge | None = None) -> Array:
        """Least loss of each problem; infinite for those given up on the way."""
        m, size = len(self.designs), self.d * self.q
        least = np.full(m, np.inf)
        which = np.arange(m)
        x = np.zeros((m, size))
        value, slope, curvature = self._at(which, x)
        start = value.copy()
        damping, blind_steps = np.zeros(m), np.zeros(m, dtype=int)
        for _ in range(MAX_STEPS):
            step = self._steps(curvature, damping, slope)
            predicted = -0.5 * np.einsum("ma,ma->m", slope, step)
            done = (predicted <= TOLERANCE) | (blind_steps > BLIND_STEPS)
            least[which[done]] = value[done]
            going = ~done
            if bound is not None and judge is not None and bound.anywhere:
                left = bound.block(
                    slope.reshape(-1, self.d, self.q),
                    curvature.reshape(-1, self.d, self.q, self.d, self.q),
                    self.reach[which],
                )
                fall = start[which] - value
                going &= judge.hopeful(which, fall, fall + left)
            which, x, value, slope = which[going], x[going], value[going], slope[going]
            curvature, step, predicted = curvature[going], step[going], predicted[going]
            damping, blind_steps = damping[going], blind_steps[going]
            if not len(which):
                return least
            there = self._at(which, x + step)
            blind = predicted < BLIND * (1 + np.abs(value))
            harmless = value + 1e-12 * (1 + np.abs(value))
            good = there[0] <= np.where(blind, harmless, value - 0.1 * predicted)
            diagonal = np.einsum("maa->ma", curvature).mean(axis=1)
            x = np.where(good[:, None], x + step, x)
            value = np.where(good, there[0], value)
            slope = np.where(good[:, None], there[1], slope)
            curvature = np.where(good[:, None, None], there[2], curvature)
            eased = np.where(damping > 1e-12, damping / 10, 0.0)
            flat = SHORTER * np.abs(slope).max(axis=1)
            more = np.maximum(np.maximum(10 * damping, 1e-4 * diagonal), flat)
            damping = np.where(good, eased, more)
            blind_steps = blind_steps + (good & blind)
        least[which] = value
        return least

    def _at(self, which: Numbers, x: Array) -> tuple[Array, Array, Array]:
        """Value, slope (m, dq) and curvature (m, dq, dq) of some problems."""
        Z = self.designs[which] if len(which) < len(self.designs) else self.designs
        coef = x.reshape(-1, self.d, self.q)
        turned = Z.transpose(0, 2, 1)
        size = self.d * self.q
        hessian = np.empty((len(which), self.d, self.q, self.d, self.q))
        with np.errstate(over="ignore", invalid="ignore"):  # such a point is not taken
            value, slope, curvature = terms_of_many(self.loss, self.offset[which] + Z @ coef)
            for a in range(self.q):
                for b in range(a + 1):
                    hessian[:, :, a, :, b] = turned @ (curvature[:, :, a, b, None] * Z)
                    hessian[:, :, b, :, a] = hessian[:, :, a, :, b]
            slope = (turned @ slope).reshape(-1, size)
        return value, slope, hessian.reshape(-1, size, size)

    def _steps(self, curvature: Array, damping: Array, slope: Array) -> Array:
        size = curvature.shape[1]
        diagonal = np.einsum("maa->ma", curvature)
        extra = damping + 1e-15 * diagonal.max(axis=1, initial=0.0) + 1e-290
        system = curvature + np.eye(size) * (extra[:, None] + self.ridge)[:, None, :]
        step: Array = np.linalg.solve(system, -slope[:, :, None])[:, :, 0]
        return np.where(np.isfinite(step), step, 0.0)


def terms_of_many(loss: LinearLoss, eta: Array) -> tuple[Array, Array, Array]:
    """Loss of each (n, q) predictor of a stack, and slopes and curvatures of its rows."""
    if eta.shape[2] > 1:
        each = [loss.terms(one) for one in eta]
        value, slope, curvature = (np.array(part) for part in zip(*each, strict=True))
        return value, slope, curvature
    values, slopes, curvatures = loss.pointwise(eta[:, :, 0])
    # Not a product, whose rounding would depend on who else is evaluated.
    value = (values * loss.share).sum(axis=1)
    return (
        np.where(np.isfinite(value), value, np.inf),
        (slopes * loss.share)[:, :, None],
        (curvatures * loss.share)[:, :, None, None],
    )
