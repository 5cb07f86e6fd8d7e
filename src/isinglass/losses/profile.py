"""The one small search behind every gain and removal cost of a graph.

Given held scores of some cells, shift them by one vector v, the same in all cells, so that
the counts become most likely: minimise ``rows . lse(scores + v) - totals . v``. States that do
not occur get the shift minus infinity, their limit. Many such problems share the scores and
are solved side by side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]

MAX_STEPS = 1000
HALVINGS = 20
LEAST_DAMPING = 1e-13  # keeps a system of states that nothing ties together solvable


def profiled_minimum(scores: Array, rows: Array, totals: Array) -> Array:
    """Least value of ``rows . lse(scores + v) - totals . v`` over v, for each problem.

    Parameters
    ----------
    scores : (cells, K) array
    rows : (cells, problems) array
        Rows of each cell that take part in a problem.
    totals : (problems, K) array
        Rows in each state; they sum to those of `rows`.
    """
    seen = totals > 0
    minimum: Array = np.einsum("sb,sb->b", rows, scores[:, np.argmax(seen, axis=1)])
    left = np.flatnonzero(seen.sum(axis=1) > 1)  # one state alone is certain: done above
    shift = np.where(seen[left], 0.0, -np.inf)
    for _ in range(MAX_STEPS):
        if not len(left):
            break
        value, expected, curvature = _moments(scores, rows[:, left], totals[left], shift)
        slope = np.where(seen[left], totals[left] - expected, 0.0)
        step = _newton_steps(curvature, slope, seen[left])
        promise = 0.5 * np.einsum("ba,ba->b", slope, step)
        enough = 1e-15 * totals[left].sum(axis=1)
        minimum[left] = value - np.clip(promise, 0.0, enough)
        going = promise > enough
        left, shift, step, promise = left[going], shift[going], step[going], promise[going]
        value, expected = value[going], expected[going]

        def there(which: Indices, by: Array, left: Indices = left, shift: Array = shift) -> Array:
            problems = left[which]
            return _value(scores, rows[:, problems], totals[problems], shift[which] + by)

        step = _shortened(there, step, value, promise)
        stuck = ~step.any(axis=1)
        step[stuck] = _scaling_steps(totals[left[stuck]], expected[stuck])
        shift = shift + step
    return minimum


def _shortened(
    there: Callable[[Indices, Array], Array], step: Array, value: Array, promise: Array
) -> Array:
    """Newton steps, halved until a share of their promise is kept; zero where that never is."""
    taken = np.zeros_like(step)
    todo = np.arange(len(step))
    for length in 0.5 ** np.arange(HALVINGS):
        trial = there(todo, length * step[todo])
        # Where rounding hides the decrease, the step is taken unless it is seen to be wrong.
        rounding = 1e-13 * np.abs(value[todo])
        good = trial <= value[todo] - 0.1 * length * promise[todo]
        good |= (promise[todo] <= rounding) & (trial <= value[todo] + rounding)
        taken[todo[good]] = length * step[todo[good]]
        todo = todo[~good]
        if not len(todo):
            break
    return taken


def _value(scores: Array, rows: Array, totals: Array, shift: Array) -> Array:
    shifted = scores[:, None, :] + shift[None, :, :]
    top = shifted.max(axis=2)
    lse = top + np.log(np.exp(shifted - top[:, :, None]).sum(axis=2))
    return _minus_linear(np.einsum("sb,sb->b", rows, lse), totals, shift)


def _moments(scores: Array, rows: Array, totals: Array, shift: Array) -> tuple[Array, Array, Array]:
    """Value, expected totals and their curvature for each problem."""
    shifted = scores[:, None, :] + shift[None, :, :]
    top = shifted.max(axis=2, keepdims=True)
    weights = np.exp(shifted - top)
    total = weights.sum(axis=2, keepdims=True)
    probability = weights / total
    weighted = rows[:, :, None] * probability
    value = np.einsum("sb,sb->b", rows, (top + np.log(total))[:, :, 0])
    curvature = -np.einsum("sba,sbc->bac", weighted, probability)
    diagonal = np.arange(scores.shape[1])
    curvature[:, diagonal, diagonal] = 0.0
    curvature[:, diagonal, diagonal] = -curvature.sum(axis=2)
    return _minus_linear(value, totals, shift), weighted.sum(axis=0), curvature


def _minus_linear(value: Array, totals: Array, shift: Array) -> Array:
    linear: Array = np.einsum("ba,ba->b", totals, np.where(totals > 0, shift, 0.0))
    return value - linear


def _newton_steps(curvature: Array, slope: Array, seen: Flags) -> Array:
    """Newton steps in the gauge in which the seen state of most curvature has no shift.

    Each shift is in units of its own curvature: where states are nearly separated, these differ by
    many orders of magnitude.
    """
    own = np.where(seen, np.einsum("baa->ba", curvature), 0.0)
    free = own > 0
    free[np.arange(len(own)), np.argmax(own, axis=1)] = False
    units = np.divide(1.0, np.sqrt(own), out=np.zeros_like(own), where=free)
    system = curvature * units[:, :, None] * units[:, None, :]
    diagonal = np.arange(seen.shape[1])
    system[:, diagonal, diagonal] = 1.0 + LEAST_DAMPING
    step = np.linalg.solve(system, (slope * units)[:, :, None])[:, :, 0] * units
    # No sensible step is longer; a flat slope far from the minimum may ask for one.
    return np.asarray(np.clip(step, -50.0, 50.0))


def _scaling_steps(totals: Array, expected: Array) -> Array:
    """Steps of iterative scaling: slower than Newton's, but they never raise the value."""
    seen = totals > 0
    ratio = np.divide(totals, expected, out=np.ones_like(totals), where=seen)
    return np.log(ratio)
