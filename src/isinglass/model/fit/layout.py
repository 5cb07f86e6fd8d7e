"""Where each column's field and each edge's table stand among all parameters of a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.contrasts import zero_sum_basis

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]
Positions = NDArray[np.intp]
Pair = tuple[int, int]


class Layout:
    """All parameters of a graph in one vector, fields first, then edges.

    Fields and tables are written in orthonormal zero-sum contrasts, so nothing is redundant.

    `fields` and `edges` hold the positions of each column's field, (m_r - 1,), and of each edge's
    block, (m_i - 1, m_j - 1); `neighbours` has those blocks again for each column r, from neighbour
    t to shape (m_t - 1, m_r - 1).

    Examples
    --------
    >>> layout = Layout([2, 3], [(0, 1)])
    >>> layout.size, layout.edges[0, 1].tolist()
    (5, [[3, 4]])
    """

    def __init__(
        self, n_states: Sequence[int], edges: Iterable[Pair], intercept: bool = True
    ) -> None:
        self.n_states, self.intercept = tuple(n_states), intercept
        self.bases = [zero_sum_basis(m) for m in self.n_states]
        widths = [basis.shape[1] for basis in self.bases]
        self.size = 0
        self.fields = [self._next(width if intercept else 0) for width in widths]
        self.edges = {
            (i, j): self._next(widths[i] * widths[j]).reshape(widths[i], widths[j])
            for i, j in edges
        }
        self.neighbours: list[dict[int, Positions]] = [{} for _ in widths]
        for (i, j), positions in self.edges.items():
            self.neighbours[i][j] = positions.T
            self.neighbours[j][i] = positions

    def _next(self, count: int) -> Positions:
        self.size += count
        return np.arange(self.size - count, self.size)

    def intercepts(self, parameters: Array) -> tuple[Array, ...]:
        """The field of each column, in the zero-sum gauge."""
        return tuple(
            basis @ parameters[positions] if self.intercept else np.zeros(len(basis))
            for basis, positions in zip(self.bases, self.fields, strict=True)
        )

    def couplings(self, parameters: Array) -> dict[Pair, Array]:
        """The table of each edge, in the zero-sum gauge."""
        return {
            (i, j): self.bases[i] @ parameters[positions] @ self.bases[j].T
            for (i, j), positions in self.edges.items()
        }

    def parameters(self, field: MarkovField) -> Array:
        """The parameters of a model on these edges."""
        vector = np.zeros(self.size)
        if self.intercept:
            for basis, positions, numbers in zip(
                self.bases, self.fields, field.intercepts, strict=True
            ):
                vector[positions] = basis.T @ numbers
        for (i, j), positions in self.edges.items():
            vector[positions] = self.bases[i].T @ field.couplings[i, j] @ self.bases[j]
        return vector

    def edge_positions(self) -> Positions:
        """The positions of all edges' parameters."""
        blocks = [positions.ravel() for positions in self.edges.values()]
        return np.concatenate([np.empty(0, dtype=np.intp), *blocks])


class _Edges(NamedTuple):
    """Edges of one shape: their tables, the fields of both ends, and the parameters."""

    left: Array
    right: Array
    tables: Positions  # (edges, m_i, m_j)
    ends: tuple[Positions, Positions]  # (edges, m_i), (edges, m_j)
    parameters: Positions  # (edges, m_i - 1, m_j - 1)


class WideLayout:
    """Parameters with a number for every state and every pair of states: more than are needed.

    Slopes in them follow from slopes in contrasts, and steps go back to contrasts: what a table
    says of one column alone goes to that column's field. Columns and edges of one shape are done
    together.

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
        self._tables: dict[Pair, Positions] = {}
        groups: dict[Pair, list[Pair]] = defaultdict(list)
        for (i, j), positions in layout.edges.items():
            if positions.size:  # else one end is constant
                shape = layout.n_states[i], layout.n_states[j]
                self._tables[i, j] = self._next(shape[0] * shape[1]).reshape(shape)
                groups[shape].append((i, j))
        self._edges = [self._group(pairs) for pairs in groups.values()]
        self._columns = defaultdict(list)
        for r, m in enumerate(layout.n_states):
            if m > 1 and layout.intercept:
                self._columns[m].append(r)

    def _next(self, count: int) -> Positions:
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

    def table(self, t: int, r: int) -> Positions:
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
        for left, right, tables, (i, j), positions in self._edges:
            table = wide[tables]
            parameters[positions] = left.T @ table @ right
            np.add.at(fields, i, table.mean(axis=2))
            np.add.at(fields, j, table.mean(axis=1))
        for columns in self._columns.values():
            parameters[self._parameters(columns)] = fields[self._of(columns)] @ self._basis(columns)
        return parameters

    def _of(self, columns: list[int]) -> Positions:
        return np.stack([self.fields[r] for r in columns])

    def _parameters(self, columns: list[int]) -> Positions:
        return np.stack([self.layout.fields[r] for r in columns])

    def _basis(self, columns: list[int]) -> Array:
        return self.layout.bases[columns[0]]
