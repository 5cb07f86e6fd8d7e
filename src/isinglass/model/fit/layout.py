"""Where each column's field and each edge's table stand among all parameters of a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_matrix

from isinglass.losses.forms import zero_sum_basis

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]
Positions = NDArray[np.intp]
Pair = tuple[int, int]


class Layout:
    """All parameters of a graph in one vector, fields first, then edges.

    Fields and tables are written in orthonormal zero-sum contrasts, so nothing is redundant. An
    edge in `designs` may be no table but a combination of its design: (df, m_i, m_j) tables that
    are orthonormal and whose rows and columns sum to zero (see ``isinglass.losses.forms``).

    `fields` and `edges` hold the positions of each column's field, (m_r - 1,), and of each edge's
    block, (m_i - 1, m_j - 1), or (df,) with a design; `neighbours` has those blocks again for each
    column r, from neighbour t to shape (m_t - 1, m_r - 1), or (df,). The last `adjusted` columns
    are given: they have no fields.

    Examples
    --------
    >>> layout = Layout([2, 3], [(0, 1)])
    >>> layout.size, layout.edges[0, 1].tolist()
    (5, [[3, 4]])
    >>> product = np.array([[[1, 0, -1], [-1, 0, 1]]]) / 2
    >>> ordered = Layout([2, 3], [(0, 1)], designs={(0, 1): product})
    >>> ordered.size, ordered.edges[0, 1].tolist()
    (4, [3])
    """

    def __init__(
        self,
        n_states: Sequence[int],
        edges: Iterable[Pair],
        intercept: bool = True,
        designs: Mapping[Pair, Array] | None = None,
        adjusted: int = 0,
    ) -> None:
        self.n_states, self.intercept = tuple(n_states), intercept
        self.own = len(self.n_states) - adjusted
        self.designs = dict(designs or {})
        self.bases = [zero_sum_basis(m) for m in self.n_states]
        widths = [basis.shape[1] for basis in self.bases]
        self.size = 0
        self.fields = [
            self._next(width if intercept and r < self.own else 0) for r, width in enumerate(widths)
        ]
        self.edges = {pair: self._next_block(pair, widths) for pair in edges}
        self.neighbours: list[dict[int, Positions]] = [{} for _ in widths]
        for (i, j), positions in self.edges.items():
            self.neighbours[i][j] = positions.T
            self.neighbours[j][i] = positions

    def _next_block(self, pair: Pair, widths: Sequence[int]) -> Positions:
        if pair in self.designs:
            return self._next(len(self.designs[pair]))
        shape = widths[pair[0]], widths[pair[1]]
        return self._next(shape[0] * shape[1]).reshape(shape)

    def _next(self, count: int) -> Positions:
        self.size += count
        return np.arange(self.size - count, self.size)

    def intercepts(self, parameters: Array) -> tuple[Array, ...]:
        """The field of each column, in the zero-sum gauge."""
        return tuple(
            basis @ parameters[positions] if len(positions) else np.zeros(len(basis))
            for basis, positions in zip(self.bases, self.fields, strict=True)
        )

    def couplings(self, parameters: Array) -> dict[Pair, Array]:
        """The table of each edge, in the zero-sum gauge."""
        return {
            pair: self._coupling(pair, parameters[positions])
            for pair, positions in self.edges.items()
        }

    def _coupling(self, pair: Pair, block: Array) -> Array:
        if pair in self.designs:
            return np.asarray(np.tensordot(block, self.designs[pair], 1))
        return np.asarray(self.bases[pair[0]] @ block @ self.bases[pair[1]].T)

    def block(self, pair: Pair, table: Array) -> Array:
        """The parameters of a table, or of what an edge of this form can say of it."""
        if pair in self.designs:
            return np.asarray(np.tensordot(self.designs[pair], table, 2))
        return np.asarray(self.bases[pair[0]].T @ table @ self.bases[pair[1]])

    def tables(self, pair: Pair) -> Array:
        """The tables that the parameters of an edge, in a row, are coefficients of.

        >>> Layout([2, 2], [(0, 1)]).tables((0, 1)).round(3).tolist()
        [[[0.5, -0.5], [-0.5, 0.5]]]
        """
        if pair in self.designs:
            return self.designs[pair]
        left, right = (self.bases[v] for v in pair)
        tables: Array = np.einsum("ap,bq->pqab", left, right).reshape(-1, len(left), len(right))
        return tables

    def parameters(self, field: MarkovField) -> Array:
        """The parameters of a model on these edges."""
        return self.contrasts(
            in_a_row(field.intercepts, (field.couplings[pair] for pair in self.edges))
        )

    def basis(self) -> csr_matrix:
        """The matrix that turns parameters into numbers; its transpose turns slopes back."""
        fields = [
            basis[:, : len(positions)]
            for basis, positions in zip(self.bases, self.fields, strict=True)
        ]
        tables = [self.tables(pair) for pair in self.edges]
        flat = [table.reshape(len(table), math.prod(table.shape[1:])).T for table in tables]
        return block_diag([*fields, *flat], format="csr")

    def numbers(self, parameters: Array) -> Array:
        """One number per state of each column, then one per pair of states of each edge."""
        return in_a_row(self.intercepts(parameters), self.couplings(parameters).values())

    def contrasts(self, numbers: Array) -> Array:
        """Parameters, or slopes along them, from such numbers."""
        vector, at = np.zeros(self.size), 0
        for basis, positions in zip(self.bases, self.fields, strict=True):
            vector[positions] = (numbers[at : at + len(basis)] @ basis)[: len(positions)]
            at += len(basis)
        for (i, j), positions in self.edges.items():
            shape = self.n_states[i], self.n_states[j]
            table = numbers[at : at + shape[0] * shape[1]].reshape(shape)
            vector[positions] = self.block((i, j), table)
            at += table.size
        return vector


def in_a_row(of_columns: Iterable[NDArray[Any]], of_edges: Iterable[NDArray[Any]]) -> Array:
    """Numbers of columns' states and tables of edges, as one vector."""
    return np.concatenate([*of_columns, *(table.ravel() for table in of_edges)])
