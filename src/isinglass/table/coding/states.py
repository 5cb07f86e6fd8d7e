"""From a column's distinct labels to its states: learned in fit, looked up afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from isinglass.errors import Setting, SettingError, TableError, UnseenState
from isinglass.table.coding.bins import bin_factor, no_number
from isinglass.table.coding.codes import Codes
from isinglass.table.coding.factor import Factor
from isinglass.table.coding.labels import has_infinity, key, sort_labels
from isinglass.table.column import Column
from isinglass.table.high import high_last, low_then_high
from isinglass.wording import listing, quoted


def check_finite(name: str, factor: Factor) -> None:
    """Raise TableError if the column holds an infinite number."""
    kind = factor.labels.dtype.kind
    infinite = (
        bool(np.isinf(factor.labels).any())
        if kind == "f"
        else kind == "O" and has_infinity(factor.labels)
    )
    if infinite:
        raise TableError(
            f"column {name!r} holds an infinite number (inf); replace it by a finite one, or "
            "by NaN if the value is unknown."
        )


def learn_states(
    name: str, factor: Factor, missing: str, high: Mapping[str, Any]
) -> tuple[Column, Codes]:
    """The states of a column in their order, and its rows in codes of them."""
    states, ordered = sort_labels(factor.plain_labels(), factor.categories, factor.nominal)
    incomplete, counted = bool(factor.missing.any()), missing == "state"
    if len(states) == 2 and not ordered:
        states, ordered = low_then_high(states), True
    if name in high:
        _check_no_missing_state(name, incomplete and counted)
        states, ordered = high_last(name, states, high[name]), True
    if incomplete:
        # Two states have an order even if one of them is the missing state, the high one.
        states, ordered = [*states, None], len(states) == 1 if counted else ordered
    column = Column(name, tuple(states), ordered)
    return column, look_up_states(column, factor)


def _check_no_missing_state(name: str, has_one: bool) -> None:
    if has_one:
        raise SettingError(
            Setting("high"),
            f" names a state of column {name!r}, whose missing values are a state of their own (",
            Setting("missing", "state"),
            "), always the last one. Leave this column out.",
        )


def look_up_states(column: Column, factor: Factor) -> Codes:
    """The rows of a column in codes of states that are known already."""
    if column.cuts is not None:
        factor = _in_known_bins(column, factor)
    place = {key(state): code for code, state in enumerate(column.states)}
    # MISSING, being -1, finds the last entry: the missing state, which is last as well.
    table = np.full(len(factor.labels) + 1, len(column.states) - 1)
    for position, label in enumerate(factor.plain_labels()):
        if key(label) not in place:
            raise _unseen(column, label)
        table[position] = place[key(label)]
    if not column.has_missing_state and factor.missing.any():
        raise _unseen(column, None)
    return table.astype(np.uint8)[factor.codes]


def _in_known_bins(column: Column, factor: Factor) -> Factor:
    if not factor.reads_as_numbers:
        raise _unseen(column, no_number(factor))
    return bin_factor(factor, column.cuts or ())


def _unseen(column: Column, label: Any) -> UnseenState:
    what = "a missing value" if label is None else quoted(label)
    known = listing([quoted(state) for state in column.states], 8)
    return UnseenState(
        f"column {column.name!r} holds {what}, which fit never saw; it knows {known}.",
        column=column.name,
        state=label,
    )
