"""What the record keeps of each link: rows seen in every combination, beside rows expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.documents.document import Fault, items, member, number, whole

Array = NDArray[np.float64]
LinkTables = Mapping[tuple[int, int], "LinkTable"]


@dataclass(frozen=True, eq=False)
class LinkTable:
    """Rows in each combination of the states of two linked columns, source down, target across.

    Attributes
    ----------
    observed : array (m_source, m_target)
        Rows in which both columns are seen.
    expected : array (m_source, m_target)
        What they would be without this link, all other links kept.
    """

    observed: Array
    expected: Array


def link_tables_to_json(tables: LinkTables) -> list[dict[str, Any]]:
    """One object per link."""
    return [
        {
            "columns": [int(i), int(j)],
            "observed": table.observed.tolist(),
            "expected": table.expected.tolist(),
        }
        for (i, j), table in tables.items()
    ]


def link_tables_from_json(value: Any, answers: Sequence[int]) -> dict[tuple[int, int], LinkTable]:
    """The tables that `link_tables_to_json` wrote; Fault if anything is odd."""
    tables = {}
    for at, link in enumerate(items(value, "the link tables")):
        where = f"link table {at}"
        pair = items(member(link, "columns", where), f"the columns of {where}", 2)
        i, j = (whole(end, f"a column of {where}", len(answers)) for end in pair)
        if i >= j or (i, j) in tables:
            raise Fault(f"{where} must be of two columns in order, and no other of the same two")
        observed, expected = (
            _rows(member(link, key, where), f"the {key} of {where}", answers[i], answers[j])
            for key in ("observed", "expected")
        )
        tables[i, j] = LinkTable(observed, expected)
    return tables


def _rows(value: Any, where: str, down: int, across: int) -> Array:
    rows = [
        [_not_negative(size, where) for size in items(row, where, across)]
        for row in items(value, where, down)
    ]
    return np.array(rows, dtype=np.float64)


def _not_negative(value: Any, where: str) -> float:
    size = number(value, where)
    if size < 0:
        raise Fault(f"{where} must not be negative")
    return size
