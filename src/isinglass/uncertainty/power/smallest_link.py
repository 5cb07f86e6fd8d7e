"""How large must a link be, to be found?

At the end of a column's search, the gain of an edge that is not in is a quadratic form of its
slope. For an edge whose table has parameters v (in orthonormal zero-sum contrasts) the slope is
normal, with mean `free` v and variance `free` / n, the curvatures of
:mod:`isinglass.losses.information`; and 2 n gain is close to rho times a noncentral chi-square
with df degrees of freedom and noncentrality n v' K v / rho, where K = free held^-1 free and rho is
the mean of the eigenvalues of held^-1 free. For one parameter that is exact to first order.

The size of a link of any numbers of states is its *typical odds ratio*: the exponential of the
root mean square of the log odds ratios of all its two-by-two tables. That is
exp(2 |v| / sqrt(df)), and the odds ratio itself for two columns of two states.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, chndtr, ndtri

from isinglass.losses.forms import table_df, zero_sum_basis
from isinglass.losses.information import Information
from isinglass.solvers.equivalent import log_chi2_sf

Array = NDArray[np.float64]

#: Directions over which the power for a link of several parameters is averaged.
DIRECTIONS = 32


def typical_log_odds(table: Array) -> float:
    """Root mean square of the log odds ratios in all two-by-two parts of a zero-sum table.

    >>> typical_log_odds(np.array([[0.5, -0.5], [-0.5, 0.5]]))
    2.0
    """
    return float(2.0 * np.linalg.norm(table) / np.sqrt(table_df(*table.shape)))


def least_log_odds(
    edge: Information, needed: float, n: float, power: float, looks: float = 1.0
) -> float:
    """The smallest log of a typical odds ratio that is found with this power in n rows.

    `needed` is the evidence that a link must exceed, a chi-square with one degree of freedom, and
    `looks` what probabilities are multiplied by where forms compete for the pair. The power for
    links of several parameters is the mean over all directions.
    """
    return 2.0 * least_length(edge, needed, n, power, looks) / float(np.sqrt(len(edge.held)))


def least_length(
    edge: Information, needed: float, n: float, power: float, looks: float = 1.0
) -> float:
    """The same as the root of the sum of the squared log-potentials of a link."""
    df = len(edge.held)
    back = np.linalg.pinv(edge.held, hermitian=True, rcond=1e-10)
    share = float(np.trace(back @ edge.free)) / df
    if not share > 1e-9:  # the neighbours tell the column, or the candidate, without error
        return float("inf")
    critical = critical_value(needed, df, looks) / share
    if df == 1:
        return float((np.sqrt(critical) + float(ndtri(power))) / np.sqrt(n * edge.free[0, 0]))
    pull = edge.free @ back @ edge.free
    along = np.einsum("di,ij,dj->d", directions(df), pull, directions(df))
    return _length(critical, df, n * np.maximum(along, 0.0) / share, power)


def least_in_states(
    edge: Information,
    needed: float,
    n: float,
    power: float,
    states: tuple[int, int],
    *,
    looks: float = 1.0,
) -> Array:
    """The smallest log odds ratio of a link in one state of each column, for every two states.

    Such a link has that odds ratio in every two-by-two table with both states, and none in others.
    `states` are the numbers of them, of the column that is explained and of the other; of two and
    two the answer is `least_log_odds`. The power is that for this one shape.
    """
    df = len(edge.held)
    back = np.linalg.pinv(edge.held, hermitian=True, rcond=1e-10)
    share = float(np.trace(back @ edge.free)) / df
    if not share > 1e-9:
        return np.full(states, np.inf)
    own, other = (zero_sum_basis(m) for m in states)
    shapes = np.einsum("aq,bk->abkq", own, other).reshape(*states, df)
    pull = np.einsum("abi,ij,abj->ab", shapes, edge.free @ back @ edge.free, shapes)
    critical = critical_value(needed, df, looks) / share
    if df == 1:
        wanted = float(np.sqrt(critical) + ndtri(power))
    else:
        wanted = _length(critical, df, np.ones(1), power)
    with np.errstate(divide="ignore"):
        return np.asarray(wanted / np.sqrt(n * np.maximum(pull, 0.0) / share))


def critical_value(needed: float, df: int, looks: float = 1.0) -> float:
    """The chi-square with df degrees of freedom that is as surprising as one with one.

    The better of two looks must be so many times less probable.

    >>> round(critical_value(3.8415, 1), 4), round(critical_value(3.8415, 4), 3)
    (3.8415, 9.488)
    """
    if df == 1 and looks == 1:
        return needed
    log_tail = float(log_chi2_sf(needed, 1)) - float(np.log(looks))
    if log_tail > -600:
        return float(chdtri(df, np.exp(log_tail)))
    return _far_critical(log_tail, df)


def _far_critical(log_tail: float, df: int) -> float:
    """By bisection, where the tail is too small to be written down."""
    low, high = 0.0, -4.0 * log_tail + 20.0 * df
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if float(log_chi2_sf(middle, df)) < log_tail else (middle, high)
    return high


def _length(critical: float, df: int, pulls: Array, power: float) -> float:
    """The length at which the mean power over some directions reaches the power asked for."""
    usual = (np.sqrt(critical) + ndtri(power)) / np.sqrt(max(float(np.median(pulls)), 1e-300))
    lengths = usual * np.exp(np.linspace(-1.0, 2.0, 31))
    found = 1.0 - chndtr(critical, df, np.minimum(np.outer(lengths**2, pulls), 1e6)).mean(axis=1)
    if not found[-1] > power:
        return float("inf")
    return float(np.exp(np.interp(power, np.maximum.accumulate(found), np.log(lengths))))


@cache
def directions(df: int) -> Array:
    """Evenly spread unit vectors, always the same."""
    drawn = np.random.default_rng(df).normal(size=(DIRECTIONS, df))
    unit: Array = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit
