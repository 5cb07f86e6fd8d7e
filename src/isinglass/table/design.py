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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.integer]
Clusters = NDArray[np.intp]
Seen = NDArray[np.bool_]


def design_effects(
    codes: Codes,
    weights: Array,
    n_states: Sequence[int],
    *,
    sampling: bool,
    clusters: Clusters | None = None,
    seen: Seen | None = None,
) -> Array:
    """The design effect of every pair of columns, a symmetric (p, p) array.

    Weights are `sampling` weights, or copies of rows. Scores are summed within clusters, if there
    are any: with r and t so alike within them, two rows of a cluster go together by r times t.
    Where values are missing, a pair has the effect of the rows in which both columns are seen.
    """
    squares = weights**2 if sampling else weights
    columns = []
    for j, m in enumerate(n_states):
        here = slice(None) if seen is None else seen[:, j]
        own = None if clusters is None else clusters[here]
        columns.append(_Column(codes[here, j], m, weights[here], squares[here], own))
    rows, of_squares = (_both_seen(each, seen) for each in (weights, squares))
    uneven = np.array([column.unevenness for column in columns])
    effects: Array = _ratio(of_squares, rows) * np.outer(uneven, uneven)
    if clusters is not None:
        pairs = _within_clusters(weights, clusters, seen) - of_squares
        alike = np.array([column.likeness for column in columns])
        effects += _ratio(pairs, rows) * np.outer(alike, alike)
    np.fill_diagonal(effects, 1.0)
    return effects


def _ratio(above: Array, below: Array) -> Array:
    """One where nothing is below: the columns of a pair are never seen together."""
    return np.divide(above, below, out=np.ones_like(below), where=below > 0)


def _both_seen(weights: Array, seen: Seen | None) -> Array:
    """The weight of the rows in which both columns of a pair are seen; the same for all, if all."""
    return np.array(weights.sum()) if seen is None else (seen.T * weights) @ seen


def _within_clusters(weights: Array, clusters: Clusters, seen: Seen | None) -> Array:
    """The squared weight of every cluster, counted likewise, summed over clusters."""
    if seen is None:
        return np.array(np.sum(np.bincount(clusters, weights) ** 2))
    order = np.argsort(clusters, kind="stable")
    ends = np.flatnonzero(np.diff(clusters[order])) + 1
    groups = np.split(order, ends)
    return sum((_both_seen(weights[g], seen[g]) ** 2 for g in groups), np.array(0.0))


@dataclass(frozen=True, eq=False)
class _Column:
    """A column in the rows in which it is seen."""

    codes: Codes
    m: int
    weights: Array
    squares: Array
    clusters: Clusters | None

    @property
    def unevenness(self) -> float:
        """The mean weight of a row's worth of each state, averaged over states, relative to all.

        A state of share p counts 1 - p, its part of the degrees of freedom: rare states count most.
        """
        if self.m < 2:
            return 1.0
        rows = np.bincount(self.codes, self.weights, self.m)
        of_squares = np.bincount(self.codes, self.squares, self.m)
        mean = self.squares.sum() / self.weights.sum()
        each = of_squares / rows * (1 - rows / rows.sum())
        return float(np.sum(each) / (mean * (self.m - 1)))

    @property
    def likeness(self) -> float:
        """How alike two rows of a cluster are in a column: 0 by chance, or less, to 1."""
        x, m, weights, clusters = self.codes, self.m, self.weights, self.clusters
        assert clusters is not None
        n, groups = weights.sum(), int(clusters.max(initial=0)) + 1
        sizes = np.bincount(clusters, weights)
        pairs = np.sum(sizes**2) - self.squares.sum()
        if m < 2 or not pairs > 0:
            return 0.0
        shares = np.bincount(x, weights, m) / n
        counts = np.bincount(clusters * m + x, weights, groups * m).reshape(groups, m)
        within = np.sum((counts - np.outer(sizes, shares)) ** 2, axis=0)
        alone = np.array([np.sum(self.squares * ((x == c) - p) ** 2) for c, p in enumerate(shares)])
        likeness = np.sum((within - alone) / shares) / (pairs * (m - 1))
        return float(np.clip(likeness, 0.0, 1.0))
