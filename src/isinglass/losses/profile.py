"""The one small search behind every gain and removal cost of a graph.

Given held scores of some cells, shift them by one vector v, the same in all cells, so that
the counts become most likely: minimise ``sum_s n_s lse(scores_s + v) - totals . v``. States
that do not occur get the shift minus infinity, their limit. Many such problems share the
scores and are solved side by side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MAX_STEPS = 1000


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
    # A state that no row shows is never the largest, so -inf here stays out of lse(...).
    shift = np.where(seen, 0.0, -np.inf)
    minimum = np.zeros(len(totals))
    # Newton's step where it helps; else a step of iterative scaling, which always does.
    active = np.flatnonzero(seen.sum(axis=1) > 1)
    lone = np.flatnonzero(seen.sum(axis=1) == 1)
    for b in lone:  # one state only: certain, so lse equals its own score
        minimum[b] = rows[:, b] @ scores[:, int(np.argmax(seen[b]))]
    value, expected, curvature = _moments(scores, rows[:, active], shift[active], totals[active])
    for _ in range(MAX_STEPS):
        if not len(active):
            break
        step = _newton_steps(curvature, totals[active] - expected, seen[active])
        promise = 0.5 * np.sum(np.where(seen[active], totals[active] - expected, 0) * step, axis=1)
        done = promise <= 1e-15 * totals[active].sum(axis=1)
        minimum[active[done]] = value[done] - promise[done]
        keep = ~done
        active, step, promise = active[keep], step[keep], promise[keep]
        value, expected, curvature = value[keep], expected[keep], curvature[keep]
        if not len(active):
            break
        trial = shift[active] + step
        new = _moments(scores, rows[:, active], trial, totals[active])
        blind = promise <= 1e-13 * np.abs(value)
        failed = np.flatnonzero(~blind & ~(new[0] <= value - 0.1 * promise))
        if len(failed):
            with np.errstate(divide="ignore", invalid="ignore"):
                scaling = np.log(totals[active[failed]] / expected[failed])
            scaling = np.where(seen[active[failed]], scaling, 0.0)
            trial[failed] = shift[active[failed]] + scaling
            again = _moments(scores, rows[:, active[failed]], trial[failed], totals[active[failed]])
            for old, renewed in zip(new, again, strict=True):
                old[failed] = renewed
        shift[active] = trial
        value, expected, curvature = new
    minimum[active] = value
    return minimum


def _moments(
    scores: Array, rows: Array, shift: Array, totals: Array
) -> tuple[Array, Array, Array]:
    """Value, expected totals and their curvature for each problem."""
    shifted = scores[:, None, :] + shift[None, :, :]
    top = shifted.max(axis=2, keepdims=True)
    weights = np.exp(shifted - top)
    total = weights.sum(axis=2, keepdims=True)
    chance = weights / total
    finite = np.where(totals > 0, shift, 0.0)
    value = np.einsum("sb,sb->b", rows, (top + np.log(total))[:, :, 0]) - np.sum(
        totals * finite, axis=1
    )
    weighted = rows[:, :, None] * chance
    expected = weighted.sum(axis=0)
    curvature = -np.einsum("sba,sbc->bac", weighted, chance)
    diagonal = np.arange(scores.shape[1])
    curvature[:, diagonal, diagonal] = 0.0
    curvature[:, diagonal, diagonal] = -curvature.sum(axis=2)
    return value, expected, curvature


def _newton_steps(curvature: Array, slope: Array, seen: Array) -> Array:
    """Newton steps in the gauge in which the shifts of the seen states sum to zero."""
    pairs = seen[:, :, None] & seen[:, None, :]
    scale = np.maximum(np.einsum("baa->b", curvature), 1e-300)[:, None, None]
    system = np.where(pairs, curvature / scale + 1.0, 0.0)
    diagonal = np.arange(seen.shape[1])
    system[:, diagonal, diagonal] += np.where(seen, 0.0, 1.0) + 1e-15
    right = np.where(seen, slope, 0.0) / scale[:, :, 0]
    step: Array = np.linalg.solve(system, right[:, :, None])[:, :, 0]
    # No sensible step is longer; a flat slope far from the minimum may ask for one.
    return np.where(seen, np.clip(step, -50.0, 50.0), 0.0)
