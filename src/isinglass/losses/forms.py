"""What enters the predictor of a column: always, and with each neighbour.

Adjusting for further columns, or linking two ordered columns by one product of scores in
place of a whole table, is one more class here.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.contrasts import zero_sum_basis

Array = NDArray[np.float64]


class EdgeForm(Protocol):
    """How a neighbour's state enters the predictor."""

    #: The predictor may shift freely within each state of the neighbour.
    saturated: bool

    def features(self, states: int) -> Array:
        """Design columns of a neighbour, one row for each of its states."""
        ...

    def df(self, states: int, neighbour_states: int) -> int:
        """Free parameters of an edge."""
        ...


class TableEdge:
    """An edge is a whole table of log-potentials, (m_r - 1)(m_t - 1) numbers."""

    saturated = True

    def features(self, states: int) -> Array:
        """Orthonormal zero-sum contrasts of the neighbour's states."""
        return zero_sum_basis(states)

    def df(self, states: int, neighbour_states: int) -> int:
        """(m_r - 1)(m_t - 1)."""
        return (states - 1) * (neighbour_states - 1)


class Always(Protocol):
    """What is in the predictor whatever the support; never a candidate, never penalised."""

    #: Nothing but a free level for each state of the column.
    level_only: bool

    def features(self, cells: int) -> Array:
        """Design columns of the always-active part, one row a cell."""
        ...


class Intercept:
    """A field for each state of the column, re-optimised in every gain and removal."""

    level_only = True

    def features(self, cells: int) -> Array:
        """One column of ones."""
        return np.ones((cells, 1))


class NoIntercept:
    """No field at all, as in the paper's experiments."""

    level_only = False

    def features(self, cells: int) -> Array:
        """No column."""
        return np.ones((cells, 0))
