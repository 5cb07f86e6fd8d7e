"""What is known of some columns, and the model of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass.errors import SettingError
from isinglass.graph import position_of
from isinglass.model.labelled import code_of
from isinglass.table.coding.bins import bin_of
from isinglass.table.coding.labels import are_numbers, is_missing, plain

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Evidence = Mapping[str, Any]


def known_codes(field: MarkovField, given: Evidence | None) -> dict[int, int]:
    """Columns and states as positions and codes."""
    known = {}
    for name, label in (given or {}).items():
        v = position_of(name, field.names)
        measured = v in field.cuts and not is_missing(label) and are_numbers([plain(label)])
        state = bin_of(field.cuts[v], label) if measured else label
        known[v] = code_of(name, field.states[v], state)
    return known


def given(field: MarkovField, evidence: Evidence) -> MarkovField:
    """Return the model of the other columns when some are known.

    >>> from isinglass import MarkovField
    >>> agree = {(0, 1): [[1.0, -1.0], [-1.0, 1.0]]}
    >>> yes_no = ("no", "yes")
    >>> field = MarkovField(("a", "b"), (yes_no, yes_no), ([0, 0], [0, 0]), agree)
    >>> field.given({"a": "yes"}).intercepts[0].tolist()
    [-1.0, 1.0]
    """
    return reduced(field, known_codes(field, evidence))


def reduced(field: MarkovField, known: Mapping[int, int]) -> MarkovField:
    """The model of the columns that are not known."""
    if not known:
        return field
    free = [v for v in range(len(field.names)) if v not in known]
    if not free:
        raise SettingError("all columns are given; leave out those to ask about.")
    intercepts = []
    for v in free:
        tables = field.tables_of(v)
        shifts = [tables[t][code] for t, code in known.items() if t in tables]
        intercepts.append(np.sum([field.intercepts[v], *shifts], axis=0))
    new = {v: at for at, v in enumerate(free)}
    kept = {(i, j): (new[i], new[j]) for i, j in field.couplings if i in new and j in new}
    rest = field.from_potentials(
        [field.names[v] for v in free],
        [field.states[v] for v in free],
        intercepts,
        {kept[pair]: field.couplings[pair] for pair in kept},
        field.library,
    )
    return replace(
        rest,
        unbounded=frozenset(kept[pair] for pair in field.unbounded if pair in kept),
        cuts={new[v]: cuts for v, cuts in field.cuts.items() if v in new},
    )
