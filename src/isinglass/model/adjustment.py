"""What a model is conditional on: columns that were adjusted for.

The model has intercepts and couplings of the other columns only. Its intercepts hold at one
*reference* state of each column that was adjusted for; at other states they are shifted.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.model.potentials import frozen
from isinglass.table import Table
from isinglass.table.column import as_text
from isinglass.wording import listed

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Adjustment:
    """Columns that a model is conditional on; frozen.

    Attributes
    ----------
    names, states : tuple
        The columns and the labels of their states.
    reference : tuple of int
        The state of each column, by position, at which the intercepts of the model hold.
    shifts : tuple of tuple of arrays
        For each column of the model, and each column here, what its states add to the intercept:
        an array of shape (m_i, m_k), zero at the reference.
    cuts : dict
        From binned columns, by position, to their inner cut points.
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    reference: tuple[int, ...]
    shifts: tuple[tuple[Array, ...], ...]
    cuts: Mapping[int, tuple[float, ...]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "shifts", tuple(tuple(map(frozen, of)) for of in self.shifts))

    @property
    def words(self) -> str:
        """The reference in words: "age <= 21, sex female"."""
        at = zip(self.names, self.states, self.reference, strict=True)
        return listed([f"{name} {as_text(states[code])}" for name, states, code in at])

    def __repr__(self) -> str:
        return f"Adjustment({listed(self.names)}; intercepts at {self.words})"

    def at(self, codes: Sequence[int]) -> Adjustment:
        """The same with another reference."""
        shifts = tuple(
            tuple(shift - shift[:, [code]] for shift, code in zip(of, codes, strict=True))
            for of in self.shifts
        )
        return replace(self, reference=tuple(codes), shifts=shifts)

    def intercepts(self, intercepts: Sequence[Array], codes: Sequence[int]) -> tuple[Array, ...]:
        """The intercepts of a model at other states than the reference."""
        return tuple(
            own + sum((shift[:, code] for shift, code in zip(of, codes, strict=True)), 0.0)
            for own, of in zip(intercepts, self.shifts, strict=True)
        )


def moved(field: MarkovField, codes: Mapping[int, int]) -> MarkovField:
    """The same model, with intercepts at other states of what was adjusted for."""
    adjustment = field.adjusted
    if adjustment is None or not codes:
        return field
    there = [codes.get(k, code) for k, code in enumerate(adjustment.reference)]
    intercepts = adjustment.intercepts(field.intercepts, there)
    return replace(field, intercepts=intercepts, adjusted=adjustment.at(there), errors=None)


def with_columns(field: MarkovField) -> MarkovField:
    """The model with what was adjusted for as its last columns.

    Right for rows in which these are seen; it says nothing of how they are distributed.
    """
    adjustment = field.adjusted
    if adjustment is None:
        return field
    p = len(field.names)
    shifts = {
        (i, p + k): shift
        for i, of in enumerate(adjustment.shifts)
        for k, shift in enumerate(of)
        if shift.any()
    }
    wide = field.from_potentials(
        (*field.names, *adjustment.names),
        (*field.states, *adjustment.states),
        (*field.intercepts, *(np.zeros(len(states)) for states in adjustment.states)),
        {**field.couplings, **shifts},
        field.library,
    )
    cuts = {**field.cuts, **{p + k: cuts for k, cuts in adjustment.cuts.items()}}
    return replace(wide, unbounded=field.unbounded, cuts=cuts)


def reference_of(table: Table) -> tuple[int, ...]:
    """Of each column that is adjusted for, the state of the median row, or the most frequent one.

    The median is for columns whose states have an order.
    """
    if table.adjusted is None:
        return ()
    return tuple(
        _middle(np.bincount(codes, table.weights, len(column.states)), column.ordered)
        for codes, column in zip(table.adjusted.codes.T, table.adjusted.columns, strict=True)
    )


def _middle(rows: NDArray[Any], ordered: bool) -> int:
    if not ordered:
        return int(rows.argmax())
    return int(np.searchsorted(np.cumsum(rows), rows.sum() / 2.0))
