"""The same model in other people's numbers: -1/+1, 0/1, and against a reference state.

In every coding the log-potential of a row is ``constant`` plus its intercepts plus its couplings,
exactly; only how much of it stands where differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.model.labelled import Evidence, known_codes
from isinglass.parameters import checked

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Coded:
    """Parameters of a model in some coding: "ising", "01" or "reference".

    For "reference", `intercepts` are arrays with a number for each state, and `couplings` go from
    (i, j), i < j, to tables of shape (m_i, m_j); otherwise both hold numbers. The `constant` is
    what is left of the log-potential.
    """

    coding: str
    intercepts: Array | tuple[Array, ...]
    couplings: Mapping[tuple[int, int], Any]
    constant: float

    @property
    def matrix(self) -> Array:
        """The couplings of "ising" and "01" as a symmetric matrix with a diagonal of zeros."""
        if self.coding == "reference":
            raise SettingError('a coupling is a table in the coding "reference": see couplings.')
        matrix = np.zeros((len(self.intercepts), len(self.intercepts)))
        for (i, j), coupling in self.couplings.items():
            matrix[i, j] = matrix[j, i] = coupling
        return matrix


@checked
def to_coding(field: MarkovField, coding: str, *, reference: Evidence | None = None) -> Coded:
    """Write the same model in other numbers, exactly.

    Parameters
    ----------
    coding : "ising", "01" or "reference"
        For columns of two states, spins of -1 and +1, or indicators of the second state. For
        any, tables that are zero where one of the columns has its reference state.
    reference : dict, optional
        From columns to the labels of their reference states; the first ones by default.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> field.to_coding("ising").couplings[0, 1]
    0.5
    >>> coded = field.to_coding("01")
    >>> coded.couplings[0, 1], coded.intercepts.tolist(), coded.constant
    (2.0, [-1.0, -2.0, -1.0], 1.0)
    """
    if coding == "reference":
        _, known = known_codes(field, reference)
        return against(field, [known.get(v, 0) for v in range(len(field.names))])
    for name, m in zip(field.names, field.n_states, strict=True):
        if m > 2:
            raise SettingError(
                f"{name!r} has {m} states; the coding {coding!r} is for columns of two states. "
                "Take 'reference'."
            )
    coded = Coded(coding, field.intercepts, field.couplings, 0.0)
    if coding == "01":
        coded = replace(against(field, [0] * len(field.names)), coding=coding)
    # The numbers of the second states; a constant column has none and gets zero.
    return replace(
        coded,
        intercepts=np.array([float(f[1]) if len(f) == 2 else 0.0 for f in coded.intercepts]),
        couplings={
            pair: float(table[1, 1]) if table.shape == (2, 2) else 0.0
            for pair, table in coded.couplings.items()
        },
    )


def against(field: MarkovField, reference: Sequence[int]) -> Coded:
    """Nothing for a row in which all columns have their reference state, but the constant."""
    intercepts = [f - f[k] for f, k in zip(field.intercepts, reference, strict=True)]
    constant = sum(float(f[k]) for f, k in zip(field.intercepts, reference, strict=True))
    couplings = {}
    for (i, j), table in field.couplings.items():
        a, b = reference[i], reference[j]
        intercepts[i] += table[:, b] - table[a, b]
        intercepts[j] += table[a, :] - table[a, b]
        constant += float(table[a, b])
        couplings[i, j] = table_against(table, a, b)
    return Coded("reference", tuple(intercepts), couplings, constant)


def table_against(table: Array, a: int, b: int) -> Array:
    """Log odds ratios of each pair of states against states a and b.

    >>> table_against(np.array([[0.5, -0.5], [-0.5, 0.5]]), 0, 0).tolist()
    [[0.0, 0.0], [0.0, 2.0]]
    """
    return np.asarray((table - table[:, b : b + 1]) - (table[a] - table[a, b]))
