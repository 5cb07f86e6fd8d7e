"""Design effects: how many times more a pair varies than by rows drawn one by one, all alike.

The score of a pair is a sum over rows, of its weight times the residuals of both columns. The
variance of that sum, relative to what gains are compared with, is tr(H^-1 B)/df (Rao and Scott
1981), and gains and evidence of the pair are divided by it. Where nothing links two columns, B is
a product of what either does: of how far its states differ in their weights, and of how alike it
is within clusters. So every column has two numbers, which many rows estimate, and a pair has
their products; what a pair's few rows of large weight happen to say does not enter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.integer]
Clusters = NDArray[np.intp]


def design_effects(
    codes: Codes,
    weights: Array,
    n_states: Sequence[int],
    *,
    sampling: bool,
    clusters: Clusters | None = None,
) -> Array:
    """The design effect of every pair of columns, a symmetric (p, p) array.

    Weights are `sampling` weights, or copies of rows. Scores are summed within clusters, if there
    are any: with r and t so alike within them, two rows of a cluster go together by r times t.
    """
    n = weights.sum()
    squares = weights**2 if sampling else weights
    own = squares.sum() / n
    columns = list(zip(codes.T, n_states, strict=True))
    uneven = np.array([_unevenness(x, m, weights, squares) for x, m in columns])
    effects: Array = own * np.outer(uneven, uneven)
    if clusters is not None:
        pairs = np.sum(np.bincount(clusters, weights) ** 2) - squares.sum()
        alike = np.array([_likeness(x, m, weights, squares, clusters) for x, m in columns])
        effects += pairs / n * np.outer(alike, alike)
    np.fill_diagonal(effects, 1.0)
    return effects


def _unevenness(x: Codes, m: int, weights: Array, squares: Array) -> float:
    """The mean weight of a row's worth of each state, averaged over states, relative to all.

    A state of share p counts 1 - p, its part of the degrees of freedom: rare states count most.
    """
    if m < 2:
        return 1.0
    rows, of_squares = np.bincount(x, weights, m), np.bincount(x, squares, m)
    mean = squares.sum() / weights.sum()
    return float(np.sum(of_squares / rows * (1 - rows / rows.sum())) / (mean * (m - 1)))


def _likeness(x: Codes, m: int, weights: Array, squares: Array, clusters: Clusters) -> float:
    """How alike two rows of a cluster are in a column: 0 by chance, or less, to 1."""
    n, groups = weights.sum(), int(clusters.max()) + 1
    shares = np.bincount(x, weights, m) / n
    sizes = np.bincount(clusters, weights)
    pairs = np.sum(sizes**2) - squares.sum()
    if m < 2 or not pairs > 0:
        return 0.0
    counts = np.bincount(clusters * m + x, weights, groups * m).reshape(groups, m)
    within = np.sum((counts - np.outer(sizes, shares)) ** 2, axis=0)
    alone = np.array([np.sum(squares * ((x == c) - p) ** 2) for c, p in enumerate(shares)])
    likeness = np.sum((within - alone) / shares) / (pairs * (m - 1))
    return float(np.clip(likeness, 0.0, 1.0))
