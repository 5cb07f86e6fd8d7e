"""What the deviance of a pair of columns is when nothing links them.

With plenty of rows 2 n gain of an edge without effect is a chi-square. With few rows in the cells
of the pair it is not: its mean and its variance are others. Both are known, given how often each
state of either column occurs. A cell's count is then hypergeometric, and its share of the deviance
is a sum of polynomials, orthogonal under that law, of degree 1, 2, 3, 4 and a rest. Polynomials of
two cells are uncorrelated unless their degrees are equal; then one is expected to be a multiple of
the other, by falling factorials. So mean and variance are exact but for the rest, which is small.
The third cumulant is that of each cell, and between cells that of the terms of degree 1 and 2, as
if they were normal. Three moments make a chi-square of any degrees of freedom, scaled and shifted
(Pearson's type III).

``core/gains/nulls.hpp`` is the twin of this file.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, xlogy

Array = NDArray[np.float64]

#: How far the log of a small tail may be off before a pair is looked at closely.
TOLERATED = 0.1
DEGREES = 4  # of polynomials that are told apart
WIDE, MORE = 6.0, 8.0  # counts further off than so many deviations and so many rows are left out
LARGE = 4.0  # from this standard deviation on, a count has the moments of a nearly normal one
LEAST_SKEW, MOST_SKEW = 0.5, 2.0  # of the skewness of the chi-square with the same two moments


class Null(NamedTuple):
    """A deviance without effect: ``shift + scale * chi-square`` with `df` degrees of freedom.

    `looks` is what a probability is multiplied by where forms of an edge compete for a pair.
    """

    shift: float
    scale: float
    df: float
    looks: float = 1.0

    def times(self, scale: float) -> Null:
        """Return the null of deviances that are so many times as large."""
        return Null(self.shift * scale, self.scale * scale, self.df, self.looks)

    def beyond(self, df: int) -> Null:
        """Return the null of what is left of a deviance without a chi-square that is part of it.

        >>> Null(0.0, 1.0, 16.0).beyond(1)
        Null(shift=0.0, scale=1.0, df=15.0, looks=1.0)
        """
        if self.shift == 0 and self.scale == 1:
            return chi_square(int(self.df) - df)
        mean = self.shift + self.scale * self.df - df
        variance = 2 * self.scale**2 * self.df - 2 * df
        third = 8 * self.scale**3 * self.df - 8 * df
        if not (0 < mean < inf and variance > 0):  # too few rows to tell
            return Null(inf, 1.0, 1.0)
        return _matched(mean, variance, third)


def chi_square(df: int) -> Null:
    """What a deviance is with plenty of rows."""
    return Null(0.0, 1.0, float(df))


def pair_null(rows: ArrayLike, other: ArrayLike) -> Null:
    """The deviance of two columns without a link, whose states have so many rows each.

    >>> pair_null([500, 500, 500], [500, 700, 300])
    Null(shift=0.0, scale=1.0, df=4.0, looks=1.0)
    >>> shift, scale, df, _ = pair_null([10, 12, 8], [9, 10, 11])
    >>> round(shift + scale * df, 4), round(2 * scale**2 * df, 3)  # its mean and its variance
    (4.51, 10.807)
    """
    a, b = np.asarray(rows, dtype=np.float64), np.asarray(other, dtype=np.float64)
    df = (len(a) - 1) * (len(b) - 1)
    if df < 2 or not is_sparse(a, b):
        return chi_square(df)
    return _matched(*_cumulants(np.rint(a), np.rint(b), float(np.rint(a.sum()))))


def is_sparse(a: Array, b: Array) -> bool:
    """Whether the tail of a chi-square would be off: by Williams's (1976) correction."""
    n, df = float(a.sum()), (len(a) - 1) * (len(b) - 1)
    excess = (n * np.sum(1 / a) - 1) * (n * np.sum(1 / b) - 1) / (6 * n)
    far = df + 4 * sqrt(2 * df) + 10  # about where tails are of interest
    return bool(excess * far > 2 * TOLERATED * df)


def _matched(mean: float, variance: float, third: float) -> Null:
    """The shifted and scaled chi-square with these cumulants."""
    if variance <= 1e-9 * mean**2:  # the rows of the states tell all: no deviance is surprising
        return Null(inf, 1.0, 1.0)
    usual = 2 * variance**2 / mean
    third = min(max(third, LEAST_SKEW * usual), MOST_SKEW * usual)
    df = max(8 * variance**3 / third**2, 1.0)
    scale = sqrt(variance / (2 * df))
    return Null(mean - scale * df, scale, df)


def _cumulants(a: Array, b: Array, n: float) -> tuple[float, float, float]:
    """Mean, variance and third cumulant of the deviance, given the rows of all states."""
    cells = np.array([[_cell(n, min(x, n), min(y, n)) for y in b] for x in a])
    mean, rest, third, spread = np.moveaxis(cells[..., :4], -1, 0)
    factors, variances = np.moveaxis(cells[..., 4:], -1, 0).reshape(2, DEGREES, *mean.shape)
    shared = [
        float(np.sum(f * v * (_carried(a, n, k) @ f @ _carried(b, n, k).T)))
        for k, (f, v) in enumerate(zip(factors, variances, strict=True), start=1)
    ]
    spreads = [np.diag(x / n) - np.outer(x / n, x / n) for x in (a, b)]
    counts = n**2 / (n - 1) * spreads[0], spreads[1]  # their product: covariances of the counts
    between = _third_between(counts, spread, factors[0], factors[1], shared[1])
    return float(mean.sum()), float(rest.sum()) + sum(shared), float(third.sum()) + between


def _carried(rows: Array, n: float, degree: int) -> Array:
    """What the polynomial of one state's count says of another's: row of the first, column."""
    own, others = np.ones(len(rows)), np.ones(len(rows))
    for i in range(degree):
        own, others = own * (rows - i), others * (n - rows - i)
    possible = others > 0
    share = np.where(possible, (-1.0) ** degree / np.where(possible, others, 1.0), 0.0)
    carried = share[:, None] * own[None, :]
    np.fill_diagonal(carried, 1.0)
    return carried


def _third_between(
    counts: tuple[Array, Array], spread: Array, linear: Array, square: Array, shared: float
) -> float:
    """The third cumulant beyond that of single cells: terms of degree 1 and 2, as if normal."""
    own = square * spread
    total, squares, cubes = own.sum(), np.sum(own**2), np.sum(own**3)
    if not (total > 0 and shared > 0):
        return 0.0
    first, second = counts
    pulled = first @ linear @ second
    normal = np.sum(square * (first**2 @ square @ second**2))
    of_squares = cubes * total / squares**2 * (shared / 2) ** 1.5 * sqrt(max(normal, 0.0)) / total
    mixed = np.sum(square * (pulled**2 - (linear * spread) ** 2))
    return float(8 * (of_squares - cubes) + 6 * mixed)


@lru_cache(maxsize=200_000)
def _cell(n: float, a: float, b: float) -> tuple[float, ...]:
    """Moments of one cell's share of the deviance, its count hypergeometric.

    Its mean, the variance of the rest, the third central moment, the variance of the count; then
    the factor of the polynomial of each degree, and the variances of these polynomials.
    """
    if not (0 < a < n and 0 < b < n):
        return (0.0,) * (4 + 2 * DEGREES)
    p, q = a / n, b / n
    spread = n * p * q * (1 - p) * (1 - q) * n / (n - 1)
    if spread >= LARGE**2:
        return _large_cell(n, p, q, spread)
    x, share = _counts(n, a, b, WIDE * sqrt(spread) + MORE)
    d = x - n * p * q
    g = 2.0 * (xlogy(x, np.where(x > 0, x, 1.0) / (n * p * q)) - d)
    mean = float(share @ g)
    rest = float(share @ (g - mean) ** 2)
    factors, variances = np.zeros(DEGREES), np.zeros(DEGREES)
    before, now, var_before, var = np.zeros_like(d), np.ones_like(d), 1.0, 1.0
    for k in range(min(DEGREES, len(x) - 1)):
        centre, back = float(share @ (d * now**2)) / var, var / var_before if k else 0.0
        before, now = now, (d - centre) * now - back * before
        var_before, var = var, float(share @ now**2)
        factors[k], variances[k] = float(share @ (g * now)) / var, var
        rest -= factors[k] ** 2 * var
    third = float(share @ (g - mean) ** 3)
    return (mean, max(rest, 0.0), third, spread, *factors.tolist(), *variances.tolist())


def _counts(n: float, a: float, b: float, reach: float) -> tuple[Array, Array]:
    """The counts of a cell, as far as they are likely, and their probabilities."""
    expected = a * b / n
    low = np.ceil(max(0.0, a + b - n, expected - reach))
    x = np.arange(low, np.floor(min(a, b, expected + reach)) + 1)
    log_p = -(gammaln(x + 1) + gammaln(a - x + 1) + gammaln(b - x + 1) + gammaln(n - a - b + x + 1))
    p = np.exp(log_p - log_p.max())
    return x, p / p.sum()


def _large_cell(n: float, p: float, q: float, spread: float) -> tuple[float, ...]:
    """The same where counts are many: by the first terms of g in powers of the deviation."""
    e = n * p * q
    third = spread * (1 - 2 * p) * (1 - 2 * q) * n / (n - 2)
    fourth = 3 * spread**2 + spread * (1 - 6 * p * (1 - p)) * (1 - 6 * q * (1 - q))
    mean = spread / e - third / (3 * e**2) + fourth / (6 * e**3)
    linear = (third - fourth / (3 * e)) / (e * spread)
    square = 1 / e - third / (e**2 * spread) + spread / e**3
    factors = linear, square, -1 / (3 * e**2), 1 / (6 * e**3)
    variances = (
        spread,
        fourth - third**2 / spread - spread**2,
        6 * spread**3,
        24 * spread**4,
    )
    skew = 8 * (square * spread) ** 3 + 6 * square * (linear * spread) ** 2
    return (mean, 0.0, skew, spread, *factors, *variances)
