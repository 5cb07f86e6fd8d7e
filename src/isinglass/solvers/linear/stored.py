"""A sharper bound for sparse columns, from the rows where they are not zero.

A column with few entries moves few rows, but those far: the bound from slope and curvature at the
fit is loose there, or there is none. So its coefficient is first searched alone, which takes its
stored entries only, and the bound is taken where that ends; the intercept has little left to gain.
Where the column separates classes its coefficient has no end; but its rows cannot lose less than
nothing, and the other rows are the intercept's alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.design import SparseDesign
from isinglass.losses.families import LogisticLoss, PoissonLoss
from isinglass.solvers.linear.bounds import Bound, Level

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

STEPS = 6
#: No step moves a row's predictor by more.
LONGEST = 4.0


def sharper(
    loss: LogisticLoss | PoissonLoss, bound: Bound, columns: Numbers, eta: Array, level: Level
) -> tuple[Array, Array]:
    """What some columns gain at least and at most, around a fitted predictor; one score per row.

    `level` has the slope and the curvature of the intercept at the fit.
    """
    design = loss.design
    assert isinstance(design, SparseDesign)
    rows, x, begin = design.entries(columns)
    counts = np.diff(np.append(begin, len(x)))
    y, share, held = loss.y[rows], loss.share[rows], eta[rows]

    def sums(values: Array) -> Array:
        total = np.add.reduceat(np.append(values, 0.0), begin) if len(begin) else np.zeros(0)
        return np.where(counts > 0, total, 0.0)

    def at(coef: Array) -> tuple[Array, Array, Array]:
        value, slope, curvature = loss.rows_at(held + x * np.repeat(coef, counts), y)
        return share * value, share * slope, share * curvature

    coef = np.zeros(len(columns))
    reach = np.maximum(np.abs(design.low), np.abs(design.high))[columns]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        start, first_slope, first_curvature = at(coef)
        best, fall = coef, np.zeros(len(columns))
        for _ in range(STEPS):
            value, slope, curvature = at(coef)
            now = sums(start - value)
            better = now >= fall
            best, fall = np.where(better, coef, best), np.where(better, now, fall)
            step = -sums(slope * x) / sums(curvature * x**2)
            most = LONGEST / np.maximum(reach, 1e-300)
            step = np.clip(np.where(np.isfinite(step), step, 0.0), -most, most)
            if not (np.abs(step) * reach > 1e-9).any():
                break
            coef = coef + step
        value, slope, curvature = at(best)
        fall = sums(start - value)
        pull, form = sums(slope * x), sums(curvature * x**2)
        low, high = design.low[columns], design.high[columns]
        own = Level()
        if loss.intercept:
            own_slope = level.slope + sums(slope - first_slope)
            own_curvature = level.curvature + sums(curvature - first_curvature)
            mean = sums(curvature * x) / own_curvature
            pull, form = pull - mean * own_slope, form - mean**2 * own_curvature
            low, high = low - mean, high - mean
            own = Level(own_slope, own_curvature)
        scale = loss.scale[columns]
        reach = np.maximum(np.abs(low), np.abs(high)) / scale
        left = bound.single(pull / scale, form / scale**2, reach, own)
        most = sums(start - share * loss.least_of_rows(y))
        if loss.intercept:
            others = level.slope - sums(first_slope), level.curvature - sums(first_curvature)
            most = most + bound.single(*others, np.ones(len(columns)), Level())
    return fall, np.fmin(
        np.where(np.isfinite(left), fall + left, np.inf), most * (1 + 1e-9) + 1e-12
    )
