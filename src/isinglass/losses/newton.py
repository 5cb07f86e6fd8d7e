"""One minimiser for all smooth convex losses: Newton's method, damped when it must be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

Array = NDArray[np.float64]
Objective = Callable[[Array], tuple[float, Array, Array]]

MAX_STEPS = 500
# Below this predicted decrease, rounding hides the true one: whole steps are taken, if harmless.
BLIND = 1e-13
# A step that was refused is not tried again with more than the inverse of this in a coordinate.
SHORTER = 1e-6


def minimise(
    objective: Objective, x: Array, *, tolerance: float = 1e-18, steady: float = 0.0
) -> Array:
    """Minimise a convex function given its value, gradient and Hessian.

    Stops when the decrease that Newton's model predicts falls below `tolerance`. Where the
    minimum lies at infinity, that is far out on the slope, at a finite point. `steady` is added to
    all curvatures when a step is computed: it shortens steps, and moves no minimum.

    Near a minimum each decrease is to the one before as that is to its own, squared: the last step
    is known to be the last before it is taken, and the function is not evaluated after it.
    """
    value, gradient, hessian = objective(x)
    damping = 0.0
    before = 0.0
    blind_steps = 0
    for _ in range(MAX_STEPS):
        step = _solve(hessian, damping + steady, -gradient)
        with np.errstate(over="ignore"):  # far out on a flat slope; the step is then refused
            predicted = -0.5 * float(gradient @ step)
        if predicted <= tolerance or blind_steps > 50:
            break
        trial: Array = x + step
        quick = damping == 0 and predicted < before
        if quick and predicted * (predicted / before) ** 2 <= tolerance:
            return trial
        trial_value, trial_gradient, trial_hessian = objective(trial)
        blind = predicted < BLIND * (1.0 + abs(value))
        harmless = value + 1e-12 * (1.0 + abs(value))
        if trial_value <= (harmless if blind else value - 0.1 * predicted):
            x, value, gradient, hessian = trial, trial_value, trial_gradient, trial_hessian
            before = predicted if damping == 0 else 0.0
            damping = damping / 10 if damping > 1e-12 else 0.0
            blind_steps += blind
        else:
            flat = SHORTER * float(np.abs(gradient).max())
            before = 0.0
            damping = max(10 * damping, 1e-4 * float(np.mean(np.diag(hessian))), flat)
    return x


def _solve(hessian: Array, damping: float, right: Array) -> Array:
    """Solve with the Hessian plus the least multiple of the identity that makes it positive."""
    size = len(right)
    if size == 0:
        return right
    diagonal = np.diagonal(hessian)
    extra, scale = damping, max(float(diagonal.max()), 1e-300)
    for power in range(-16, 3):
        system = np.array(hessian, order="F")
        system.flat[:: size + 1] += extra
        _, step, failed = dposv(system, right, overwrite_a=True)
        if not failed and np.isfinite(step).all():
            found: Array = step
            return found
        extra = max(damping, scale * 10.0**power)
    return np.zeros(size)
