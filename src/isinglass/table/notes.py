"""What is odd in a table, and what is done about it.

Nothing here stops the work: a note is what the user reads when a result surprises.
Oddities of pairs of columns are found elsewhere, where the pairs are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.table.column import Column
from isinglass.wording import listing, quoted

#: A level seen in so few rows is noted.
RARE = 2


@dataclass(frozen=True)
class Note:
    """One odd thing in a column, or in the whole table, and what was done about it."""

    column: str | None
    what: str
    done: str


def oddities(columns: Sequence[Column], rows: Sequence[NDArray[Any]], n: float) -> tuple[Note, ...]:
    """Everything odd about a table of n rows, given the rows of each state of each column."""
    about_columns = [
        note
        for column, seen in zip(columns, rows, strict=True)
        for note in about_column(column, seen)
    ]
    return (*about_rows(columns, n), *about_columns)


def about_rows(columns: Sequence[Column], n: float) -> Iterator[Note]:
    """What is odd about n rows as a whole."""
    if n <= 1:
        yield Note(None, "one row", "nothing can depend on anything; a graph without edges")
    elif all(len(column.states) == 1 for column in columns):
        yield Note(None, "all rows equal", "no column varies; a graph without edges")
    if n < len(columns):
        done = f"{n:g} rows for {len(columns)} columns; only strong links can be found"
        yield Note(None, "fewer rows than columns", done)


def about_column(column: Column, seen: NDArray[Any]) -> Iterator[Note]:
    """What is odd about a column, given the rows of each of its states."""
    if len(column.states) == 1:
        done = f"only {quoted(column.states[0])} was seen; an isolated node"
        yield Note(column.name, "constant", done)
    elif seen.min() <= RARE:
        rare = [quoted(column.states[code]) for code in np.flatnonzero(seen <= RARE)]
        done = f"seen once or twice: {listing(rare)}; the threshold is approximate there"
        yield Note(column.name, "rare level", done)
