"""Where each column's field and each edge's table stand among all parameters of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
        return self.contrasts(
            in_a_row(field.intercepts, (field.couplings[pair] for pair in self.edges))
        )

    def basis(self) -> csr_matrix:
        """The matrix that turns parameters into numbers; its transpose turns slopes back."""
        fields = [
            basis[:, : len(positions)]
            for basis, positions in zip(self.bases, self.fields, strict=True)
        ]
        tables = [np.kron(self.bases[i], self.bases[j]) for i, j in self.edges]
        return block_diag([*fields, *tables], format="csr")

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
            left, right = self.bases[i], self.bases[j]
            table = numbers[at : at + len(left) * len(right)].reshape(len(left), len(right))
            vector[positions] = left.T @ table @ right
            at += table.size
        return vector


def in_a_row(of_columns: Iterable[NDArray[Any]], of_edges: Iterable[NDArray[Any]]) -> Array:
    """Numbers of columns' states and tables of edges, as one vector."""
    return np.concatenate([*of_columns, *(table.ravel() for table in of_edges)])
