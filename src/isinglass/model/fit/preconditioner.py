"""A preconditioner for the joint fit: every column with its edges is solved alone, and added up.

Tables are written with a number for every pair of states, more than is needed: a pair of states
that no row has is then one coordinate, and not a mixture of all contrasts. The curvature of a cell,
diag(p) - pp' between the column's states, is replaced by its diagonal p(1 - p), so that each
state of a column has a matrix of its own over its neighbours' states. It keeps how neighbours go
together, which is what makes fits slow. The other end of an edge adds to its diagonal. Blocks that
overlap, are solved alone and added up, are an additive Schwarz method; that coordinates are
redundant makes it one on a fictitious space (Nepomnyaschikh 1992).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.linear import RIDGE
from isinglass.model.fit.conditionals import Conditional, Look
from isinglass.model.fit.layout import Layout, WideLayout

Array = NDArray[np.float64]
Solve = Callable[[Array], Array]

#: A column is looked at again when a number of its tables has moved so far.
MOVED = 0.3
#: Curvature that every number has at least: a field has no ridge.
LEAST = 1e-12


class Preconditioner:
    """About the inverse of the curvature, for products with slopes.

    Its matrices take at most `memory` bytes; columns beyond that are eased number by number.
    """

    def __init__(
        self, layout: Layout, conditionals: Mapping[int, Conditional], memory: float
    ) -> None:
        self.layout, self.conditionals = layout, conditionals
        self._wide = WideLayout(layout)
        self._others = {
            r: [t for t in layout.neighbours[r] if t in conditionals] for r in conditionals
        }
        self._whole = _first_that_fit(conditionals, memory)
        self._tables: dict[int, Array] = {}
        self._spreads: dict[int, list[Array]] = {}
        self._solve: dict[int, Solve] = {}
        self._positions = {
            r: np.vstack([self._wide.fields[r], *(self._wide.table(t, r) for t in others)])
            for r, others in self._others.items()
        }

    def renew(self, looks: Mapping[int, Look]) -> None:
        """Look again at the columns whose tables have moved since they were looked at."""
        moved = [r for r, look in looks.items() if self._has_moved(r, look)]
        for r in moved:
            self._tables[r] = looks[r].tables
            self._spreads[r] = _by_states(self.conditionals[r], looks[r])
        for r in moved:
            self._solve[r] = self._solver(r, looks[r])

    def _has_moved(self, r: int, look: Look) -> bool:
        before = self._tables.get(r)
        return before is None or bool(np.any(np.abs(look.tables - before) > MOVED))

    def __call__(self, slope: Array) -> Array:
        """Ease a slope over all parameters."""
        wide = self._wide.widened(slope)
        eased = np.zeros_like(wide)
        for r, positions in self._positions.items():
            eased[positions] += self._solve[r](wide[positions])
        return self._wide.narrowed(eased)

    def _solver(self, r: int, look: Look) -> Solve:
        """Solve for the field and the tables of a column, the rest held."""
        conditional = self.conditionals[r]
        across = [self._spreads[t][self._others[t].index(r)] for t in self._others[r]]
        extra = np.vstack([np.full(len(conditional.basis), LEAST), *(RIDGE + w for w in across)])
        if r in self._whole:
            matrices = _matrices(conditional, look)
            at = np.arange(len(extra))
            matrices[:, at, at] += extra.T
            inverse = np.linalg.inv(matrices)
            return lambda wide: np.matmul(inverse, wide.T[:, :, None])[:, :, 0].T
        own = [spread.T for spread in self._spreads[r]]
        field = own[0].sum(axis=0) if own else conditional.shares
        diagonal = extra + np.vstack([field, *own])
        return lambda wide: wide / diagonal


def _first_that_fit(conditionals: Mapping[int, Conditional], memory: float) -> frozenset[int]:
    """The columns whose matrices fit into memory, the smallest first."""
    needed = {
        r: 8 * len(each.basis) * (1 + sum(map(len, each.bases))) ** 2
        for r, each in conditionals.items()
    }
    order = sorted(needed, key=lambda r: needed[r])
    sums = np.cumsum([needed[r] for r in order])
    return frozenset(order[: int(np.searchsorted(sums, memory, side="right"))])


def _by_states(conditional: Conditional, look: Look) -> list[Array]:
    """For each neighbour, rows times p(1 - p) by the column's state and the neighbour's."""
    m = len(conditional.basis)
    sums = [np.zeros(len(basis) * m) for basis in conditional.bases]
    for at, spread in conditional.spreads(look):
        for t in range(len(sums)):
            cell = conditional.codes[at, t, None].astype(np.intp) * m + np.arange(m)
            sums[t] += np.bincount(cell.ravel(), spread.ravel(), minlength=len(sums[t]))
    return [total.reshape(-1, m).T for total in sums]


def _matrices(conditional: Conditional, look: Look) -> Array:
    """For each state of the column, the field and its neighbours' states together."""
    size = 1 + sum(map(len, conditional.bases))
    matrices = np.zeros((len(conditional.basis), size, size))
    for at, spread in conditional.spreads(look):
        features = conditional.indicators(at)
        for a in range(len(matrices)):
            matrices[a] += (features * spread[:, a, None]).T @ features
    return matrices
