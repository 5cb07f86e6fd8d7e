"""What enters the predictor of a column: always, and with each neighbour.

The one place that knows the design of an edge and its degrees of freedom. Another form of an edge
is a subclass of `TableEdge` with its own `design`; columns to adjust for are named in `Always`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@cache
def zero_sum_basis(m: int) -> Array:
    """Orthonormal basis (m, m-1) of the vectors of length m that sum to zero.

    A table of effects is ``basis_r @ B @ basis_t.T``; its squared entries sum to those of B,
    so a ridge on B does not depend on how the states are coded.

    >>> zero_sum_basis(2).round(4).tolist()
    [[-0.7071], [0.7071]]
    """
    basis = np.zeros((m, max(m - 1, 0)))
    for k in range(1, m):
        basis[:k, k - 1] = -1.0
        basis[k, k - 1] = k
        basis[:, k - 1] /= np.sqrt(k * (k + 1))
    basis.setflags(write=False)
    return basis


def table_df(states: int, neighbour_states: int) -> int:
    """Free parameters of a whole table of log-potentials.

    >>> table_df(3, 4)
    6
    """
    return (states - 1) * (neighbour_states - 1)


@dataclass(frozen=True)
class TableEdge:
    """An edge may be any table of log-potentials whose rows and columns sum to zero.

    Parameters
    ----------
    n_states : tuple of int
        States of each column.
    """

    n_states: tuple[int, ...]

    def design(self, r: int, t: int) -> Array | None:
        """Return the tables that an edge of column r to t is a combination of; None for any table.

        A (df, m_r, m_t) array: orthonormal tables, whose rows and columns sum to zero.
        """
        return None

    def df(self, r: int, t: int) -> int:
        """Return the free parameters of an edge of column r to t."""
        design = self.design(r, t)
        return table_df(self.n_states[r], self.n_states[t]) if design is None else len(design)


@dataclass(frozen=True)
class Always:
    """What is in the predictor whatever the support; never a candidate, never dropped.

    It is optimised again in every gain, every removal and every refit.

    Parameters
    ----------
    level : bool
        Whether each state of the column has a free level, the intercept.
    columns : tuple of int
        Columns to adjust for, each with its whole table.
    """

    level: bool = True
    columns: tuple[int, ...] = ()
