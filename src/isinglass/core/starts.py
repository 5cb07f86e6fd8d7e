"""Where the fits of a graph may start, as the core takes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Starts:
    """What is known of the columns' fits; see ``core/ends/starts.hpp``.

    Attributes
    ----------
    numbers : array of float
        Fields and tables in the zero-sum gauge, a table row by row.
    fields : (p,) array of int
        Where the field of each column begins.
    tables : (k, 2) array of int
        Where the table of either end of each edge begins; -1 where nothing is known of it.
    turned : (k, 2) array of bool
        Whether that is the other end's table, with that one's states in the rows.
    """

    numbers: NDArray[np.float64]
    fields: NDArray[np.int64]
    tables: NDArray[np.int64]
    turned: NDArray[np.bool_]

    def of_edges(self, some: Sequence[int]) -> Starts:
        """The same for some of the edges."""
        return replace(self, tables=self.tables[some], turned=self.turned[some])


def as_starts(starts: Starts | None) -> dict[str, NDArray[np.generic]]:
    """What the core takes; empty arrays where nothing is known."""
    nowhere = np.empty(0, dtype=np.int64)
    known = starts or Starts(np.empty(0), nowhere, nowhere, np.empty(0, dtype=bool))
    return {
        "start_numbers": np.ascontiguousarray(known.numbers, dtype=np.float64),
        "start_fields": np.ascontiguousarray(known.fields, dtype=np.int64),
        "start_tables": np.ascontiguousarray(known.tables, dtype=np.int64).reshape(-1),
        "start_turned": np.ascontiguousarray(known.turned, dtype=np.uint8).reshape(-1),
    }
