"""One column given its neighbours: the cells that its rows fall into, and its curvature there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from isinglass.model.fit.layout import Layout, Positions
from isinglass.table import Table

Array = NDArray[np.float64]

#: Numbers in one block of cells.
BLOCK = 2_000_000


def curvature_of(
    layout: Layout, table: Table, r: int, parameters: Array
) -> tuple[Positions, Array]:
    """The second derivatives of column r's loss given its neighbours, and of which parameters."""
    others = {t: positions for t, positions in layout.neighbours[r].items() if positions.size}
    codes, weights = rows_that_count(layout, table, [r, *layout.neighbours[r]])
    columns = [
        1 + list(layout.neighbours[r]).index(t) for t in others
    ]  # constant ones are left out
    cell, cells = cells_of(codes[:, columns], [layout.n_states[t] for t in others])
    rows: Array = np.bincount(cell, weights / table.n, len(cells)).astype(np.float64)
    own = layout.bases[r]
    positions = np.vstack([layout.fields[r].reshape(-1, own.shape[1]), *others.values()])
    k, q = positions.shape
    hessian = np.zeros((k, q, k, q))
    for at in _blocks(len(cells), k + len(own) ** 2):
        parts = [np.ones((at.stop - at.start, int(layout.intercept)))]
        parts += [layout.bases[t][cells[at, place]] for place, t in enumerate(others)]
        design = np.hstack(parts)
        probability = softmax(design @ parameters[positions] @ own.T, axis=1)
        weight = _curvature_of_cells(rows[at], probability, own)
        for a in range(q):
            for b in range(a + 1):
                hessian[:, a, :, b] += (design * weight[:, a, b, None]).T @ design
    for a in range(q):
        for b in range(a):
            hessian[:, b, :, a] = hessian[:, a, :, b]
    return positions.ravel(), hessian.reshape(k * q, k * q)


def _blocks(cells: int, width: int) -> Iterator[slice]:
    step = max(1, BLOCK // width)
    for start in range(0, cells, step):
        yield slice(start, min(start + step, cells))


def _curvature_of_cells(rows: Array, probability: Array, basis: Array) -> Array:
    """The curvature of each cell between the column's contrasts."""
    curvature = -probability[:, :, None] * probability[:, None, :]
    at = np.arange(probability.shape[1])
    curvature[:, at, at] += probability
    of_contrasts: Array = rows[:, None, None] * (basis.T @ curvature @ basis)
    return of_contrasts


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
