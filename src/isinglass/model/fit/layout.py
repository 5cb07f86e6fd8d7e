"""Where each column's field and each edge's table stand among all parameters of a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.contrasts import zero_sum_basis

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]
Places = NDArray[np.intp]
Pair = tuple[int, int]


class Layout:
    """All parameters of a graph in one vector, fields first, then edges.

    Fields and tables are written in orthonormal zero-sum contrasts, so nothing is redundant.

    Attributes
    ----------
    size : int
        How many parameters there are.
    fields : list of arrays (m_r - 1,)
        The places of each column's field; empty without intercepts.
    edges : dict of arrays (m_i - 1, m_j - 1)
        The places of each edge's block.
    neighbours : list of dict
        For each column r, from neighbour t to the places of their block, shape (m_t - 1, m_r - 1).

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
        self.neighbours: list[dict[int, Places]] = [{} for _ in widths]
        for (i, j), places in self.edges.items():
            self.neighbours[i][j] = places.T
            self.neighbours[j][i] = places

    def _next(self, count: int) -> Places:
        self.size += count
        return np.arange(self.size - count, self.size)

    def intercepts(self, parameters: Array) -> tuple[Array, ...]:
        """The field of each column, in the zero-sum gauge."""
        return tuple(
            basis @ parameters[places] if self.intercept else np.zeros(len(basis))
            for basis, places in zip(self.bases, self.fields, strict=True)
        )

    def couplings(self, parameters: Array) -> dict[Pair, Array]:
        """The table of each edge, in the zero-sum gauge."""
        return {
            (i, j): self.bases[i] @ parameters[places] @ self.bases[j].T
            for (i, j), places in self.edges.items()
        }

    def parameters(self, field: MarkovField) -> Array:
        """The parameters of a model on these edges."""
        vector = np.zeros(self.size)
        if self.intercept:
            for basis, places, numbers in zip(
                self.bases, self.fields, field.intercepts, strict=True
            ):
                vector[places] = basis.T @ numbers
        for (i, j), places in self.edges.items():
            vector[places] = self.bases[i].T @ field.couplings[i, j] @ self.bases[j]
        return vector

    def edge_places(self) -> Places:
        """The places of all edges' parameters."""
        blocks = [places.ravel() for places in self.edges.values()]
        return np.concatenate([np.empty(0, dtype=np.intp), *blocks])
