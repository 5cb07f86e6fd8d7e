"""From successes to curves: intervals, a monotone fit, where it crosses, and ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]
Success = Numbers | Sequence[Numbers]
"""For each beta the successes of its repetitions: 0 or 1, NaN where there is no record."""


def mean(values: Numbers) -> float:
    """The mean of what is there; NaN of nothing."""
    seen = values[np.isfinite(values)]
    return float(seen.mean()) if len(seen) else float("nan")


def wilson(successes: float, tries: int, level: float = 0.95) -> tuple[float, float]:
    """Interval of a proportion by Wilson's score method.

    >>> low, high = wilson(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    >>> wilson(0, 0)
    (0.0, 1.0)
    """
    from scipy.stats import binomtest

    if tries == 0:
        return 0.0, 1.0
    found = binomtest(int(successes), tries).proportion_ci(level, method="wilson")
    return max(0.0, float(found.low)), min(1.0, float(found.high))


def monotone(shares: ArrayLike, tries: ArrayLike) -> NDArray[np.float64]:
    """Shares that never fall, nearest to the given ones: pool neighbours that are out of order.

    >>> monotone([0.2, 0.6, 0.4, 1.0], [10, 10, 30, 10]).tolist()
    [0.2, 0.45, 0.45, 1.0]
    """
    from sklearn.isotonic import isotonic_regression

    return np.asarray(isotonic_regression(np.asarray(shares, float), sample_weight=tries))


@dataclass(frozen=True)
class Crossing:
    """The smallest beta at which a curve reaches a level.

    `bound` is "<=" where the first point is already there, ">" where even the last is not.
    """

    beta: float
    bound: str = ""

    def __str__(self) -> str:
        return f"{self.bound}{self.beta:.2f}"


def crossing(betas: Sequence[float], shares: ArrayLike, level: float = 0.95) -> Crossing:
    """Where a rising curve, straight between its points, reaches a level.

    >>> print(crossing([1.0, 2.0, 4.0], [0.5, 0.9, 1.0]))
    3.00
    >>> print(crossing([1.0, 2.0], [0.97, 1.0]), crossing([1.0, 2.0], [0.1, 0.9]))
    <=1.00 >2.00
    """
    heights = np.asarray(shares, float)
    there = np.flatnonzero(heights >= level - 1e-12)
    if not len(there):
        return Crossing(betas[-1], ">")
    if there[0] == 0:
        return Crossing(betas[0], "<=")
    i = int(there[0])
    share = (level - heights[i - 1]) / (heights[i] - heights[i - 1])
    return Crossing(float(betas[i - 1] + share * (betas[i] - betas[i - 1])))


def smallest_beta(betas: Sequence[float], success: Success, level: float = 0.95) -> Crossing:
    """Where the monotone fit to the successes reaches a level."""
    tries = np.array([np.isfinite(tried).sum() for tried in success])
    seen = np.flatnonzero(tries).tolist()
    if not seen:
        return Crossing(betas[0], ">")
    heights = monotone([mean(success[i]) for i in seen], tries[seen])
    return crossing([betas[i] for i in seen], heights, level)


@dataclass(frozen=True)
class Ratio:
    """A ratio of smallest betas, with an interval from the paired bootstrap.

    Infinite where only the lower curve never arrives; NaN where neither does.
    """

    value: float
    low: float
    high: float
    tries: int

    def __str__(self) -> str:
        return f"{_short(self.value)} ({_short(self.low)} to {_short(self.high)})"


def ratio(
    betas: Sequence[float],
    upper: Success,
    lower: Success,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Ratio:
    """How many times the rows of `lower` does `upper` need?

    Both saw the same tables, so tables are drawn again in pairs: at each beta, as many as both
    saw, with replacement. A curve that never arrives needs infinitely many rows; one that is
    there from the first point counts with that point.
    """
    pairs = [_common(a, b) for a, b in zip(upper, lower, strict=True)]
    kept = [k for k, pair in enumerate(pairs) if len(pair)]
    if not kept:
        return Ratio(float("nan"), float("nan"), float("nan"), 0)
    rng = np.random.default_rng(seed)
    where = np.array([betas[k] for k in kept])
    tries = np.array([len(pairs[k]) for k in kept])
    drawn = [_resampled(pairs[k], resamples, rng) for k in kept]
    needs = [
        _needs(where, np.column_stack([shares[:, side] for shares in drawn]), tries, level)
        for side in (0, 1)
    ]
    with np.errstate(invalid="ignore"):
        value, *draws = needs[0] / needs[1]
    known = [draw for draw in draws if not np.isnan(draw)] or [np.nan]
    low, high = np.quantile(known, [0.025, 0.975], method="inverted_cdf")
    return Ratio(float(value), float(low), float(high), int(tries.min()))


def _resampled(pair: Numbers, resamples: int, rng: np.random.Generator) -> Numbers:
    """Shares of both curves at one beta: as seen, then in resamples; (1 + resamples, 2)."""
    drawn = pair[rng.integers(0, len(pair), (resamples, len(pair)))].mean(axis=1)
    return np.vstack([pair.mean(axis=0), drawn])


def _needs(betas: Numbers, shares: Numbers, tries: Numbers, level: float) -> Numbers:
    """`crossing` of the monotone fit to each row of shares; infinite where there is none."""
    heights = _monotone_rows(shares, tries)
    there = heights >= level - 1e-12
    at = there.argmax(axis=1)
    rows, before = np.arange(len(shares)), np.maximum(at - 1, 0)
    below, above = heights[rows, before], heights[rows, at]
    step = np.where(at > 0, (level - below) / np.where(above > below, above - below, 1.0), 0.0)
    need = betas[before] + step * (betas[at] - betas[before])
    return np.where(there.any(axis=1), need, np.inf)


def _monotone_rows(shares: Numbers, tries: Numbers) -> Numbers:
    """`monotone` of each row: the largest, over starts, of the smallest mean, over ends."""
    weight = np.concatenate([[0.0], np.cumsum(tries)])
    total = np.column_stack([np.zeros(len(shares)), np.cumsum(shares * tries, axis=1)])
    best = np.full(shares.shape, -np.inf)
    for j in range(len(tries)):
        means = (total[:, j + 1 :] - total[:, [j]]) / (weight[j + 1 :] - weight[j])
        least = np.minimum.accumulate(means[:, ::-1], axis=1)[:, ::-1]
        best[:, j:] = np.maximum(best[:, j:], least)
    return best


def _common(a: Numbers, b: Numbers) -> Numbers:
    both = np.column_stack([a[: len(b)], b[: len(a)]])
    return both[np.isfinite(both).all(axis=1)]


def _short(number: float) -> str:
    return "-" if np.isnan(number) else "∞" if np.isinf(number) else f"{number:.2f}"
