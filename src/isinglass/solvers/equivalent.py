"""One-parameter equivalents: gains of blocks of any size on one scale.

Under no effect, 2 n gain of a block with df parameters is about chi-square with df degrees
of freedom, or what its null says. Its equivalent is the gain of one parameter that would be as
surprising.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincc, gammaln, log_ndtr, ndtri_exp

from isinglass.losses.nulls import Null

Array = NDArray[np.float64]

LOG_2 = float(np.log(2.0))


def one_parameter_gain(gain: ArrayLike, df: ArrayLike, n: float, looks: ArrayLike = 1) -> Array:
    """Gain of a one-parameter block that would be as surprising as `gain` of df parameters.

    The better of two looks is as surprising as its probability times `looks` says.

    >>> one_parameter_gain([0.01, 0.01], [1, 4], n=1000).round(5).tolist()
    [0.01, 0.00606]
    >>> one_parameter_gain([0.01, 0.01], [1, 4], n=1000, looks=2).round(5).tolist()
    [0.00934, 0.00541]
    """
    gain, df, looks = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (gain, df, looks)))
    equivalent = np.array(np.maximum(gain, 0.0))
    others = ((df > 1) | (looks > 1)) & (equivalent > 0)
    tail = log_chi2_sf(2.0 * n * equivalent[others], df[others]) + np.log(looks[others])
    equivalent[others] = ndtri_exp(np.minimum(tail, 0.0) - LOG_2) ** 2 / (2.0 * n)
    return equivalent


def calibrated_gain(gain: ArrayLike, nulls: Sequence[Null], n: float) -> Array:
    """The same where 2 n gain without effect is ``shift + scale * chi-square``, one null each.

    >>> calibrated_gain([0.01, 0.01], [Null(0.0, 1.0, 4.0), Null(2.0, 1.1, 4.0)], 1000).round(5)
    array([0.00606, 0.00455])
    """
    gain = np.asarray(gain, np.float64)
    shift, scale, df, looks = np.array(nulls, dtype=np.float64).reshape(-1, 4).T
    above = np.maximum(gain - shift / (2.0 * n), 0.0) / scale
    return one_parameter_gain(np.where(gain > 0, above, 0.0), df, n, looks)


def one_parameter_level(probability: float) -> float:
    """Chi-square with one degree of freedom that is exceeded with this probability.

    >>> round(one_parameter_level(0.05), 4)
    3.8415
    """
    return float(ndtri_exp(np.log(probability) - LOG_2) ** 2)


def false_edges_threshold(expected: float, n: float, p: int) -> float:
    """The gain that a one-parameter edge without effect passes with probability expected/(p(p-1)).

    >>> round(false_edges_threshold(0.05, n=1000, p=20), 5)
    0.00731
    """
    return one_parameter_level(min(expected / max(p * (p - 1), 1), 1.0)) / (2.0 * n)


def false_coefficients_threshold(expected: float, n: float, p: int) -> float:
    """The gain that a coefficient without effect passes with probability expected/p.

    >>> round(false_coefficients_threshold(0.05, n=1000, p=20), 5)
    0.00457
    """
    return one_parameter_level(min(expected / max(p, 1), 1.0)) / (2.0 * n)


def log_chi2_sf(x: ArrayLike, df: ArrayLike) -> Array:
    """Log of the upper tail of a chi-square, accurate however far out."""
    x, df = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(df, np.float64))
    tail = gammaincc(df / 2, x / 2)
    far = tail < 1e-200
    with np.errstate(divide="ignore"):
        log_tail = np.array(np.log(tail))
    log_tail[far] = _log_gammaincc_far(df[far] / 2, x[far] / 2)
    one = df == 1  # the one place where a closed form exists; exact to the last digit
    log_tail[one] = LOG_2 + log_ndtr(-np.sqrt(x[one]))
    return log_tail


def _log_gammaincc_far(a: Array, x: Array) -> Array:
    """Log of the upper incomplete gamma ratio by its continued fraction (Lentz), x above a."""
    tiny = 1e-300
    b = x + 1.0 - a
    c = np.full_like(x, 1.0 / tiny)
    d = 1.0 / b
    fraction = d.copy()
    for i in range(1, 1000):
        numerator = -i * (i - a)
        b = b + 2.0
        d = numerator * d + b
        c = b + numerator / c
        d = 1.0 / np.where(np.abs(d) < tiny, tiny, d)
        c = np.where(np.abs(c) < tiny, tiny, c)
        factor = c * d
        fraction = fraction * factor
        if np.all(np.abs(factor - 1.0) < 1e-16):
            break
    log_tail: Array = a * np.log(x) - x - gammaln(a) + np.log(fraction)
    return log_tail
