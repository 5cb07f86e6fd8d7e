"""What two columns say of each other with nothing else held: the mutual information of counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Array = NDArray[np.float64]


def table_information(tables: Array) -> Array:
    """Mutual information of each of some tables of counts (..., m, m'), in nats per row.

    >>> table_information(np.array([[2.0, 0.0], [0.0, 2.0]])).round(4).tolist()
    0.6931
    """
    n = tables.sum(axis=(-2, -1))
    margins = sum(xlogy(some, some).sum(axis=-1) for some in (tables.sum(-2), tables.sum(-1)))
    information: Array = (xlogy(tables, tables).sum(axis=(-2, -1)) - margins + xlogy(n, n)) / n
    return information


def trend_information(tables: Array, scores: Array | None, other: Array | None) -> Array:
    """Information of trends in tables of counts: -log(1 - R^2) / 2, in nats per row.

    R is the correlation of two scores, or of one with the means of the other column's states.

    >>> table = np.array([[30.0, 10.0], [10.0, 30.0]])
    >>> trend_information(table, np.arange(2.0), np.arange(2.0)).round(4).tolist()
    0.1438
    """
    if scores is None:
        assert other is not None
        return trend_information(np.swapaxes(tables, -1, -2), other, None)
    n = tables.sum(axis=(-2, -1))
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)

    def spread(counts: Array, of: Array) -> Array:
        return np.asarray((counts @ of**2) - (counts @ of) ** 2 / n)

    if other is None:  # the means of the other column's states
        along = np.einsum("...ac,a->...c", tables, scores)
        mean = rows @ scores
        between = np.divide(along**2, columns, out=np.zeros_like(along), where=columns > 0)
        explained = between.sum(axis=-1) - mean**2 / n
        share = _share(explained, spread(rows, scores))
    else:
        cross = np.einsum("...ac,a,c->...", tables, scores, other)
        cross = cross - (rows @ scores) * (columns @ other) / n
        share = _share(cross**2, spread(rows, scores) * spread(columns, other))
    information: Array = -0.5 * np.log1p(-np.minimum(share, 1 - 1e-12))
    return information


def _share(part: Array, whole: Array) -> Array:
    there = whole > 1e-12
    return np.asarray(np.divide(part, whole, out=np.zeros_like(part), where=there))


def pair_information(cells: Array, begin: NDArray[np.intp]) -> Array:
    """Mutual information of every two columns, in nats of all their rows: a (p, p) array.

    `cells` has the rows of every two states of any columns, those of column j from ``begin[j]`` on.

    >>> rows = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]])
    >>> states = np.column_stack([rows[:, [0]] == [0, 1], rows[:, [1]] == [0, 1]]).astype(float)
    >>> pair_information(states.T @ states, np.array([0, 2])).round(4).tolist()
    [[2.7726, 2.7726], [2.7726, 2.7726]]
    """
    rows = np.add.reduceat(cells, begin, axis=1)  # of a state, where the other column is seen
    total = np.add.reduceat(rows, begin, axis=0)
    margins = np.add.reduceat(xlogy(rows, rows), begin, axis=0)
    joint = np.add.reduceat(np.add.reduceat(xlogy(cells, cells), begin, axis=1), begin, axis=0)
    information: Array = joint - margins - margins.T + xlogy(total, total)
    return np.maximum(information, 0.0)
