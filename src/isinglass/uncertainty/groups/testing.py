"""Wald tests of differences between groups: of single edges, and of all of them together.

The statistic of an edge is a quadratic form in the differences of its parameters, with the inverse
of their covariance. All edges together are tested by the sum of these statistics. Edges share rows,
so the sum is not a chi-square: it is compared with a multiple of a chi-square that has its mean and
its variance (Satterthwaite, "An approximate distribution of estimates of variance components",
Biometrics Bulletin 2, 1946). The inverse of the covariance of all parameters at once is never
needed, which is far off where there are many parameters for the rows.

Covariances are estimated, too, from the rows or clusters of the smallest group at worst: so the
tests are those of Hotelling ("The generalization of Student's ratio", Ann. Math. Statist. 2, 1931),
with F distributions instead of chi-squares. With many rows there is no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Statistic:
    """A statistic, its degrees of freedom, and the probability of a larger one."""

    value: float
    df: float
    p_value: float


@dataclass(frozen=True, eq=False)
class Differences:
    """How the parameters of edges differ between groups.

    Attributes
    ----------
    values : (k,) array
        Differences of all groups but the first from the first, edge by edge.
    covariance : (k, k) array
    blocks : list of slices
        Where the differences of each edge stand.
    units : float
        Rows, or clusters, of the smallest group.
    """

    values: Array
    covariance: Array
    blocks: Sequence[slice]
    units: float

    def of_edge(self, at: int) -> Statistic:
        """Test whether an edge is the same in all groups."""
        block = self.blocks[at]
        spread, values = self.covariance[block, block], self.values[block]
        statistic = float(values @ np.linalg.pinv(spread, hermitian=True) @ values)
        df = len(values)
        return Statistic(statistic, float(df), self._p_value(statistic, df, df))

    def of_all(self) -> Statistic:
        """Test whether all edges are the same in all groups."""
        if not self.blocks:
            return Statistic(0.0, 0.0, 1.0)
        weights = np.zeros_like(self.covariance)
        for block in self.blocks:
            weights[block, block] = np.linalg.pinv(self.covariance[block, block], hermitian=True)
        statistic = float(self.values @ weights @ self.values)
        along = weights @ self.covariance
        mean, square = float(np.trace(along)), float(np.sum(along * along.T))
        df, scaled = mean**2 / square, statistic * mean / square
        return Statistic(scaled, df, self._p_value(scaled, df, 1))

    def _p_value(self, statistic: float, df: float, inverted: int) -> float:
        """Of a statistic with the inverse of an estimated covariance of so many numbers.

        Where numbers are as many as rows, there is no evidence.
        """
        left = self.units - inverted
        if left < 1.0:
            return 1.0
        return float(fdtrc(df, left, statistic * left / (df * max(self.units - 1.0, 1.0))))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for all tests together (Holm, Scand. J. Statist. 6, 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    worst, adjusted = 0.0, [0.0] * len(p_values)
    for rank, at in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = worst
    return adjusted
