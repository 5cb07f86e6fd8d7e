"""One column given its neighbours: the cells that its rows fall into, and its curvature there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from isinglass.model.fit.layout import Layout, Positions
from isinglass.table import Table

Array = NDArray[np.float64]


def curvature_of(layout: Layout, contrasts: Array, r: int) -> tuple[Positions, Array]:
    """Second derivatives of column r's loss between its parameters, and which parameters.

    `contrasts` has them as if all edges were whole tables: r's contrasts within those of each
    neighbour, the field first.
    """
    others = layout.neighbours[r]
    own = layout.bases[r].shape[1]
    size = math.isqrt(contrasts.size)
    begin = 0 if layout.intercept else own
    curvature = contrasts.reshape(size, size)[begin:, begin:]
    positions = np.concatenate([layout.fields[r], *(block.ravel() for block in others.values())])
    if not any(_pair(r, t) in layout.designs for t in others):
        return positions, curvature
    parts = [np.eye(len(layout.fields[r])), *(_contrasts_of_edge(layout, r, t) for t in others)]
    design = block_diag(*parts)
    return positions, design.T @ curvature @ design


def _contrasts_of_edge(layout: Layout, r: int, t: int) -> Array:
    """What each parameter of an edge of r says in contrasts of r's states within those of t's."""
    pair = _pair(r, t)
    if pair not in layout.designs:
        return np.eye(layout.edges[pair].size)
    tables = layout.designs[pair] if pair[0] == t else layout.designs[pair].transpose(0, 2, 1)
    contrasts: Array = layout.bases[t].T @ tables @ layout.bases[r]
    return contrasts.reshape(len(tables), -1).T


def _pair(r: int, t: int) -> tuple[int, int]:
    return min(r, t), max(r, t)


def rows_that_count(
    layout: Layout, table: Table, columns: Sequence[int]
) -> tuple[NDArray[np.integer[Any]], Array]:
    """Codes of some columns, and weights, of the rows where all of them are seen."""
    codes = table.codes[:, list(columns)]
    if not table.available:
        return codes, table.weights
    seen = (codes < np.array([layout.n_states[v] for v in columns])).all(axis=1)
    return codes[seen], table.weights[seen]


def cells_of(
    codes: NDArray[np.integer[Any]], n_states: Sequence[int]
) -> tuple[Positions, NDArray[np.integer[Any]]]:
    """The cell of each row, and the combination of states that each cell stands for.

    >>> cell, cells = cells_of(np.array([[0, 2], [1, 0], [0, 2]]), [2, 3])
    >>> cell.tolist(), cells.tolist()
    ([0, 1, 0], [[0, 2], [1, 0]])
    """
    cell, count = np.zeros(len(codes), dtype=np.intp), 1
    for at, m in enumerate(n_states):
        if count * m > 4 * len(codes):  # none but the numbers that occur
            numbers, cell = np.unique(cell, return_inverse=True)
            count = len(numbers)
        cell, count = cell * m + codes[:, at], count * m
    if count <= 4 * len(codes):
        occurs = np.bincount(cell, minlength=count) > 0
        cell, count = (np.cumsum(occurs) - 1)[cell], int(occurs.sum())
    else:
        numbers, cell = np.unique(cell, return_inverse=True)
        count = len(numbers)
    first = np.zeros(count, dtype=np.intp)  # a row of each cell
    first[cell] = np.arange(len(cell))
    return cell, codes[first]
