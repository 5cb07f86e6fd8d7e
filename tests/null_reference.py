"""The deviance of two columns that nothing links, written out; nothing is shared with the package.

Cells are taken two by two, in one large matrix; probabilities are scipy's.
"""

from functools import cache
from itertools import product

import numpy as np
from scipy.special import perm, xlogy
from scipy.stats import hypergeom


@cache
def null_of(rows: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, float, float]:
    """Return shift, scale and degrees of freedom."""
    df, n = (len(rows) - 1) * (len(other) - 1), sum(rows)
    uneven = [n * sum(1 / x for x in margin) - 1 for margin in (rows, other)]
    off = uneven[0] * uneven[1] / (6 * n) * (df + 4 * np.sqrt(2 * df) + 10) / (2 * df)
    if df == 1 or off <= 0.1:
        return 0.0, 1.0, float(df)
    mean, variance, third = cumulants(
        [int(np.rint(x)) for x in rows], [int(np.rint(x)) for x in other], int(np.rint(n))
    )
    if variance <= 1e-9 * mean**2:
        return np.inf, 1.0, 1.0
    usual = 2 * variance**2 / mean
    third = np.clip(third, 0.5 * usual, 2 * usual)
    degrees = max(8 * variance**3 / third**2, 1.0)
    scale = np.sqrt(variance / (2 * degrees))
    return mean - scale * degrees, scale, degrees


def cumulants(rows: list[int], other: list[int], n: int) -> tuple[float, float, float]:
    """Return mean, variance and third cumulant, given the rows of each state."""
    cells = [Cell(n, min(a, n), min(b, n)) for a, b in product(rows, other)]
    mean = sum(cell.mean for cell in cells)
    own = sum(cell.variance for cell in cells)
    between = [covariances(rows, other, n, cells, k) for k in (1, 2, 3, 4)]
    variance = own + sum(np.sum(matrix) - np.trace(matrix) for matrix in between)
    return mean, variance, third_cumulant(rows, other, n, cells, np.sum(between[1]))


class Cell:
    """A cell's share of the deviance, in polynomials that are orthogonal under its law."""

    def __init__(self, n: int, a: int, b: int):
        x = np.arange(max(0, a + b - n), min(a, b) + 1)
        p = hypergeom(n, a, b).pmf(x)
        x, p = x[p > 0], p[p > 0]
        d = x - a * b / n
        g = 2 * (xlogy(x, np.maximum(x, 1) * n / max(a * b, 1)) - d)
        self.mean, self.spread = p @ g, p @ d**2
        self.factor, self.size = np.zeros(5), np.zeros(5)  # of the polynomial that begins with d**k
        if self.spread >= 16:
            self.expand(n, a / n, b / n)
            return
        self.variance, self.third = p @ (g - self.mean) ** 2, p @ (g - self.mean) ** 3
        for k in range(1, min(5, len(x))):
            below = np.vander(d, k, increasing=True)
            weighted = np.sqrt(p)[:, None] * below
            fit = np.linalg.lstsq(weighted, np.sqrt(p) * d**k, rcond=None)[0]
            polynomial = d**k - below @ fit
            self.size[k] = p @ polynomial**2
            self.factor[k] = p @ (g * polynomial) / self.size[k]

    def expand(self, n: int, p: float, q: float) -> None:
        """Take g as d^2/e - d^3/(3 e^2) + d^4/(6 e^3), the count as nearly normal."""
        e, s = n * p * q, self.spread
        m3 = s * (1 - 2 * p) * (1 - 2 * q) * n / (n - 2)
        m4 = 3 * s**2 + s * (1 - 6 * p * (1 - p)) * (1 - 6 * q * (1 - q))
        self.mean = s / e - m3 / (3 * e**2) + m4 / (6 * e**3)
        self.factor[1:3] = m3 / (e * s) - m4 / (3 * e**2 * s), 1 / e - m3 / (e**2 * s) + s / e**3
        self.factor[3:] = -1 / (3 * e**2), 1 / (6 * e**3)
        self.size[1:] = s, m4 - m3**2 / s - s**2, 6 * s**3, 24 * s**4
        self.variance = np.sum(self.factor**2 * self.size)
        linear, square = self.factor[1:3] * s
        self.third = 8 * square**3 + 6 * (square / s) * linear**2


def covariances(rows: list[int], other: list[int], n: int, cells: list[Cell], k: int) -> np.ndarray:
    """Return those of the terms of degree k of all cells."""
    carried = np.kron(expected(rows, n, k), expected(other, n, k))
    factor, size = (
        np.array([vector[k] for vector in each])
        for each in (
            [cell.factor for cell in cells],
            [cell.size for cell in cells],
        )
    )
    return np.outer(factor * size, factor) * carried


def expected(rows: list[int], n: int, k: int) -> np.ndarray:
    """Return the share of one state's polynomial that is expected of another's."""
    share = np.eye(len(rows))
    for c, x in enumerate(rows):
        for d, y in enumerate(rows):
            if c != d and n - x >= k:
                share[c, d] = (-1) ** k * perm(y, k) / perm(n - x, k)
    return share


def third_cumulant(
    rows: list[int], other: list[int], n: int, cells: list[Cell], shared: float
) -> float:
    """Return it: exact within cells, of normal terms of degree 1 and 2 between them."""
    linear, square = (np.array([cell.factor[k] for cell in cells]) for k in (1, 2))
    spread = np.array([cell.spread for cell in cells])
    own = square * spread
    within = sum(cell.third for cell in cells)
    if not (own.sum() > 0 and shared > 0):
        return within
    p, q = np.array(rows) / n, np.array(other) / n
    covariance = n**2 / (n - 1) * np.kron(np.diag(p) - np.outer(p, p), np.diag(q) - np.outer(q, q))
    alike = np.sum(own**3) * own.sum() / np.sum(own**2) ** 2
    normal = square @ covariance**2 @ square
    squares = alike * (shared / 2) ** 1.5 * np.sqrt(max(normal, 0)) / own.sum()
    mixed = square @ ((covariance @ linear) ** 2 - (linear * spread) ** 2)
    return within + 8 * (squares - np.sum(own**3)) + 6 * mixed
