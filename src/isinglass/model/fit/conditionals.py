"""One column given its neighbours: the cells that its rows fall into, and its curvature there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from isinglass.model.fit.layout import Layout, Positions
from isinglass.table import Table

Array = NDArray[np.float64]


def curvature_of(layout: Layout, curvature: Array, r: int) -> tuple[Positions, Array]:
    """Second derivatives of column r's loss between its parameters, and which parameters.

    `curvature` has them between numbers: r's states within the states of each neighbour, the field
    as a neighbour of one state first.
    """
    own, others = layout.bases[r], layout.neighbours[r]
    if any(_pair(r, t) in layout.designs for t in others):
        return _curvature_by_design(layout, curvature, r)
    design = block_diag(np.ones((1, int(layout.intercept))), *(layout.bases[t] for t in others))
    positions = np.vstack([layout.fields[r].reshape(-1, own.shape[1]), *others.values()])
    half = _contrasts(design, own, curvature.reshape(len(design), len(own), -1))
    whole = _contrasts(design, own, half.T.reshape(len(design), len(own), -1))
    return positions.ravel(), whole


def _curvature_by_design(layout: Layout, curvature: Array, r: int) -> tuple[Positions, Array]:
    """The same where edges of the column have designs."""
    own = layout.bases[r]
    positions, parts = [layout.fields[r]], [own[:, : len(layout.fields[r])]]
    for t in layout.neighbours[r]:
        pair = _pair(r, t)
        tables = layout.tables(pair)
        by_neighbour = tables if pair[0] == t else tables.transpose(0, 2, 1)
        parts.append(by_neighbour.reshape(len(tables), -1).T)
        positions.append(layout.edges[pair].ravel())
    design = block_diag(*parts)
    return np.concatenate(positions), design.T @ curvature.reshape(len(design), -1) @ design


def _pair(r: int, t: int) -> tuple[int, int]:
    return min(r, t), max(r, t)


def _contrasts(design: Array, own: Array, numbers: Array) -> Array:
    """Contrasts of neighbours and of the column itself, of numbers by both, and by others."""
    features = np.tensordot(design.T, numbers, 1)
    contrasts: Array = np.matmul(own.T, features)
    return contrasts.reshape(-1, numbers.shape[2])


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
    cell = np.zeros(len(codes), dtype=np.intp)
    first = np.zeros(min(len(codes), 1), dtype=np.intp)  # a row of each cell
    for at, m in enumerate(n_states):
        key = cell * m + codes[:, at]
        if len(first) * m <= 4 * len(codes):
            occurs = np.bincount(key, minlength=len(first) * m) > 0
            cell = (np.cumsum(occurs) - 1)[key]
        else:
            cell = np.unique(key, return_inverse=True)[1]
        first = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.intp)
        first[cell] = np.arange(len(cell))
    return cell, codes[first]
