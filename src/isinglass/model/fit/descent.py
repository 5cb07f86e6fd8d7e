"""Minimisers for models of many parameters: Newton's method by products alone, and L-BFGS."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from isinglass.errors import StoppedEarly, Wording

Array = NDArray[np.float64]
Progress = Callable[[str], None]
"""Takes a few words on how far a fit has come."""

#: Steps after which L-BFGS and Newton's method give up.
STEPS = 1000
NEWTON_STEPS = 200
#: Products with the curvature in one step of Newton's method.
PRODUCTS = 1000
#: Newton's method is done when the next step would gain no more than this.
TOLERANCE = 1e-18
#: Below this share of the value rounding hides a decrease: whole steps are taken, if harmless.
BLIND = 1e-13
#: There, a step must promise at most this share of what the last one did: near a minimum that the
#: rows determine, steps shrink ever faster; along unbounded edges they go on for long.
QUICKLY = 0.1
#: No number moves farther in one step.
FARTHEST = 30.0
#: What is left of the damping after a whole step; below the least there is none.
LESS, LEAST_DAMPING = 0.1, 1e-9
#: Residuals of steps far from the minimum, and near it.
LOOSE, TIGHT = 0.3, 1e-4
#: The largest slope that L-BFGS leaves.
SLOPE = 1e-10


class Loss(Protocol):
    """A convex function that is looked at in one place after the other."""

    def move_to(self, numbers: Array, /) -> tuple[float, Array]:
        """The value and the slope in a place; what follows is about this place."""
        ...

    def multiply(self, direction: Array, /) -> Array:
        """The curvature, with the damping on its diagonal, times a direction."""
        ...

    def renew(self, damping: float, /) -> None:
        """See to it that `multiply` and `ease` are about this place, with such a damping."""
        ...

    def ease(self, slope: Array, /) -> Array:
        """About the inverse of the curvature, times a slope."""
        ...

    def improve(self, products: int, /) -> bool:
        """Make `ease` better, if so many products in one step say that it pays; False if not."""
        ...


def newton(
    loss: Loss, start: Array, progress: Progress | None = None, damping: float = 0.0
) -> Array:
    """Minimise a convex function, each step solved by conjugate gradients.

    Steps are solved the more exactly the faster the slope falls (Eisenstat and Walker 1996).
    `damping` keeps the first steps short (Levenberg 1944): far from the minimum, where some numbers
    have next to no curvature, whole steps go astray. It falls with every step that keeps its
    promise.
    """
    x = start
    value, slope = loss.move_to(x)
    steepness = last = np.inf
    for step in range(NEWTON_STEPS):
        report = _report(progress, step, slope)
        loss.renew(damping)
        eased = loss.ease(-slope)
        before, steepness = steepness, float(np.sqrt(-slope @ eased))
        share = float(np.clip(0.5 * (steepness / before) ** 1.5, TIGHT, LOOSE)) if step else LOOSE
        direction = conjugate_gradients(loss, -slope, eased, share, report)
        predicted = 0.5 * float(damping * direction @ direction - slope @ direction)
        blind = predicted < BLIND * (1.0 + abs(value))
        if not predicted > TOLERANCE or (blind and predicted > QUICKLY * last):
            return x
        # Below rounding whole steps are taken, if they do no harm.
        least = -1e-12 * (1.0 + abs(value)) if blind else 0.1 * predicted
        found = _line_search(loss, x, direction, value, least)
        if found is None:
            return x
        length, there = found
        damping = _damping_after(length, (value - there[0]) / predicted, damping)
        x, last = x + length * direction, predicted
        value, slope = there
    _warn_of_steps(len(start), NEWTON_STEPS, slope)
    return x


Look = tuple[float, Array]
"""Value and slope in a place."""


def _damping_after(length: float, kept: float, damping: float) -> float:
    """The next damping, after a step of some length that kept a share of what it had promised."""
    if length < 1.0:
        return damping * 2 / length
    if kept < 0.5:
        return damping
    return LESS * damping if damping > LEAST_DAMPING else 0.0


def _line_search(
    loss: Loss, x: Array, direction: Array, value: float, fall: float
) -> tuple[float, Look] | None:
    """The first of ever shorter steps that falls enough, for its length; None if there is none."""
    length = 1.0
    while length > 1e-12:
        there = loss.move_to(x + length * direction)
        if there[0] <= value - length * fall:
            return length, there
        length /= 2
    return None


def conjugate_gradients(
    loss: Loss,
    right: Array,
    eased: Array,
    share: float,
    report: Callable[[int], None] | None = None,
) -> Array:
    """Solve curvature times x = right until the residual is a share of what it was.

    Or until x is so long that the curvature there is another one (Steihaug 1983). `eased` is the
    right-hand side, eased.
    """
    x, residual = np.zeros_like(right), right.copy()
    direction, norm = eased, float(residual @ eased)
    wanted = norm * share**2
    for count in range(PRODUCTS):
        if not norm > wanted:
            break
        if report is not None:
            report(count)
        if loss.improve(count):
            direction = eased = loss.ease(residual)
            norm, wanted = float(residual @ eased), float(right @ loss.ease(right)) * share**2
        product = loss.multiply(direction)
        curvature = float(direction @ product)
        if not curvature > 0:
            break
        x += norm / curvature * direction
        longest = float(np.abs(x).max())
        if longest > FARTHEST:
            return x * (FARTHEST / longest)
        residual -= norm / curvature * product
        eased = loss.ease(residual)
        before, norm = norm, float(residual @ eased)
        direction = eased + norm / before * direction
    return x


def lbfgs(
    objective: Callable[[Array], tuple[float, Array]],
    start: Array,
    progress: Progress | None = None,
) -> Array:
    """Minimise until the gradient falls below 1e-10, or rounding leaves nothing to gain.

    A `StoppedEarly` warning says so if the steps run out before.
    """
    if not len(start):
        return start
    steps = 0

    def after_step(intermediate_result: Any) -> None:
        nonlocal steps
        steps += 1
        if progress is not None:
            progress(f"step {steps}, log-likelihood {-intermediate_result.fun:.9g} per row")

    options = {"maxcor": 40, "ftol": 0.0, "gtol": SLOPE, "maxiter": STEPS, "maxfun": 3 * STEPS}
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", options=options, callback=after_step
    )
    if found.status == 1:
        _warn_of_steps(len(start), found.nit, found.jac)
    answer: Array = found.x
    return answer


def _report(progress: Progress | None, step: int, slope: Array) -> Callable[[int], None] | None:
    """Say in which step a fit is, and how steep it still is, product by product."""
    if progress is None:
        return None
    words = step_in_words(step, slope)
    return lambda products: progress(f"{words}, product {products + 1}")


def step_in_words(step: int, slope: Array) -> str:
    """How far a fit has come.

    >>> step_in_words(2, np.array([0.01, -0.2]))
    'step 3, largest slope 2e-01'
    """
    return f"step {step + 1}, largest slope {np.abs(slope).max(initial=0.0):.0e}"


def _warn_of_steps(parameters: int, steps: int, slope: Array) -> None:
    warnings.warn(
        StoppedEarly(
            f"the fit of {parameters:,} parameters stopped after {steps:,} steps, with a largest "
            f"slope of {np.abs(slope).max():.1g} (the target is 1e-10): couplings have fewer "
            "correct digits, and unbounded edges may stop short.",
            Wording(" A larger ridge makes the fit quicker.", ""),
        ),
        stacklevel=3,
    )
