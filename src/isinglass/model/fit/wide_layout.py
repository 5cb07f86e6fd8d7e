"""Parameters with a number for every state and every pair of states: more than are needed.

Slopes in them follow from slopes in contrasts, and steps go back to contrasts: what a table says of
one column alone goes to that column's field. Columns and edges of one shape are done together.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from isinglass.model.fit.layout import Layout, Pair, Places

Array = NDArray[np.float64]


class _Edges(NamedTuple):
    """Edges of one shape: their tables, the fields of both ends, and the parameters."""

    left: Array
    right: Array
    tables: Places  # (edges, m_i, m_j)
    ends: tuple[Places, Places]  # (edges, m_i), (edges, m_j)
    parameters: Places  # (edges, m_i - 1, m_j - 1)


class WideLayout:
    """Where every state of a field and every pair of states of an edge stand.

    Attributes
    ----------
    fields : list of arrays (m_r,)
    size : int

    Examples
    --------
    >>> wide = WideLayout(Layout([2, 3], [(0, 1)]))
    >>> wide.size, wide.table(1, 0).tolist()
    (11, [[5, 8], [6, 9], [7, 10]])
    >>> wide.widened(np.array([1.0, 0.0, 0.0, 0.0, 0.0])).round(2).tolist()
    [-0.71, 0.71, 0.0, 0.0, 0.0, -0.24, -0.24, -0.24, 0.24, 0.24, 0.24]
    """

    def __init__(self, layout: Layout) -> None:
        self.layout, self.size = layout, 0
        self.fields = [self._next(m) for m in layout.n_states]
        self._tables: dict[Pair, Places] = {}
        groups: dict[Pair, list[Pair]] = defaultdict(list)
        for (i, j), places in layout.edges.items():
            if places.size:  # else one end is constant
                shape = layout.n_states[i], layout.n_states[j]
                self._tables[i, j] = self._next(shape[0] * shape[1]).reshape(shape)
                groups[shape].append((i, j))
        self._edges = [self._group(pairs) for pairs in groups.values()]
        self._columns = defaultdict(list)
        for r, m in enumerate(layout.n_states):
            if m > 1 and layout.intercept:
                self._columns[m].append(r)

    def _next(self, count: int) -> Places:
        self.size += count
        return np.arange(self.size - count, self.size)

    def _group(self, pairs: list[Pair]) -> _Edges:
        (i, j), layout = pairs[0], self.layout
        return _Edges(
            layout.bases[i],
            layout.bases[j],
            np.stack([self._tables[pair] for pair in pairs]),
            (
                np.stack([self.fields[i] for i, _ in pairs]),
                np.stack([self.fields[j] for _, j in pairs]),
            ),
            np.stack([layout.edges[pair] for pair in pairs]),
        )

    def table(self, t: int, r: int) -> Places:
        """Where the table of an edge stands, states of column t first."""
        return self._tables[t, r] if t < r else self._tables[r, t].T

    def widened(self, slope: Array) -> Array:
        """Slopes along every state of a field and every pair of states of a table."""
        wide = np.zeros(self.size)
        for columns in self._columns.values():
            wide[self._of(columns)] = slope[self._parameters(columns)] @ self._basis(columns).T
        for left, right, tables, (i, j), parameters in self._edges:
            table = left @ slope[parameters] @ right.T
            table += wide[i][:, :, None] / len(right)
            table += wide[j][:, None, :] / len(left)
            wide[tables] = table
        return wide

    def narrowed(self, wide: Array) -> Array:
        """Parameters from such numbers, by the transpose."""
        parameters = np.zeros(self.layout.size)
        fields = wide[: sum(self.layout.n_states)].copy()
        for left, right, tables, (i, j), places in self._edges:
            table = wide[tables]
            parameters[places] = left.T @ table @ right
            np.add.at(fields, i, table.mean(axis=2))
            np.add.at(fields, j, table.mean(axis=1))
        for columns in self._columns.values():
            parameters[self._parameters(columns)] = fields[self._of(columns)] @ self._basis(columns)
        return parameters

    def _of(self, columns: list[int]) -> Places:
        return np.stack([self.fields[r] for r in columns])

    def _parameters(self, columns: list[int]) -> Places:
        return np.stack([self.layout.fields[r] for r in columns])

    def _basis(self, columns: list[int]) -> Array:
        return self.layout.bases[columns[0]]
