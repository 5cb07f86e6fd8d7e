"""One pass over the columns: distinct values, how often each is seen, what is missing.

All that is decided later is decided from this and from a few rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.table.coding.factor import COUNTED_RANGE
from isinglass.table.coding.labels import are_texts_of_numbers

if TYPE_CHECKING:
    import polars as pl

#: Of a column with more distinct values, only the most frequent are counted.
MOST_COUNTED = 256
_DATE = re.compile(
    r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})"
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?\s*"
)


@dataclass(frozen=True)
class Facts:
    """What one column holds.

    Of a column of many distinct values, `states` are the first `MOST_COUNTED` of the most frequent
    ones; else all, in their order where they have one.
    """

    name: str
    rows: int
    missing: int
    distinct: int
    states: tuple[tuple[Any, int], ...]
    dtype: Any = field(repr=False)
    lowest: float | None = None
    highest: float | None = None
    whole: bool = False  # numbers without a fraction

    @property
    def seen(self) -> int:
        """Rows in which the column has a value."""
        return self.rows - self.missing

    @property
    def is_number(self) -> bool:
        """Whether the column holds numbers."""
        return bool(self.dtype.is_numeric())

    @property
    def is_text(self) -> bool:
        """Whether it holds words."""
        import polars as pl

        return bool(self.dtype == pl.String)

    @property
    def has_order(self) -> bool:
        """Whether its answers have an order of their own."""
        import polars as pl

        return self.is_number or self.dtype in (pl.Enum, pl.Boolean)

    @cached_property
    def values(self) -> list[Any]:
        """The distinct values that were counted."""
        return [value for value, _ in self.states]

    @property
    def reads_as_numbers(self) -> bool:
        """Whether `fit` can bin the column."""
        numbers = self.is_number or (self.is_text and are_texts_of_numbers(self.values))
        return numbers and self.seen > 0

    @property
    def is_date(self) -> bool:
        """Whether it holds dates or times, or texts of dates."""
        if self.dtype.is_temporal():
            return True
        return self.is_text and bool(self.states) and all(map(_DATE.fullmatch, self.values))


def facts_of(cells: pl.Series) -> Facts:
    """Count the values of a column."""
    import polars as pl

    cells = with_nulls(cells)
    seen = cells.drop_nulls()
    missing = len(cells) - len(seen)
    if cells.dtype.is_numeric():
        return _of_numbers(cells.name, len(cells), seen)
    if cells.dtype == pl.Boolean:
        high = int(seen.sum() or 0)
        counts = [(False, len(seen) - high), (True, high)]
        states = tuple((value, count) for value, count in counts if count)
        return Facts(cells.name, len(cells), missing, len(states), states, cells.dtype)
    distinct, states = _counted(seen)
    return Facts(cells.name, len(cells), missing, distinct, states, cells.dtype)


def with_nulls(cells: pl.Series) -> pl.Series:
    """Cells of which all that is missing is null."""
    import polars as pl

    if cells.dtype == pl.String:
        empty = cells == ""
        return cells.set(empty, None) if empty.any() else cells
    if cells.dtype.is_float() or cells.dtype.is_decimal():
        return cells.cast(pl.Float64).fill_nan(None)
    if cells.dtype == pl.Null:
        return cells.cast(pl.String)
    if cells.dtype.is_nested() or cells.dtype in (pl.Object, pl.Binary):
        return cells.map_elements(str, return_dtype=pl.String)
    return cells


def _of_numbers(name: str, rows: int, seen: pl.Series) -> Facts:
    if not len(seen):
        return Facts(name, rows, rows, 0, (), seen.dtype)
    values = seen.to_numpy()
    lowest, highest = values.min().item(), values.max().item()
    finite = bool(np.isfinite([lowest, highest]).all())
    whole = seen.dtype.is_integer() or (finite and bool((values == np.trunc(values)).all()))
    if whole and highest - lowest < COUNTED_RANGE:
        counts = np.bincount(values.astype(np.int64) - int(lowest))
        used = np.flatnonzero(counts)
        kind = int if seen.dtype.is_integer() else float
        distinct = len(used)
        most = used[np.sort(np.argsort(-counts[used], kind="stable")[:MOST_COUNTED])]
        states = tuple((kind(int(lowest) + int(at)), int(counts[at])) for at in most)
    else:
        distinct, states = _counted(seen)
    missing = rows - len(seen)
    return Facts(name, rows, missing, distinct, states, seen.dtype, lowest, highest, whole)


def _counted(seen: pl.Series) -> tuple[int, tuple[tuple[Any, int], ...]]:
    """How many values differ, and how often the most frequent are seen, in their order."""
    counts = seen.value_counts(name="rows of a value")
    distinct = counts.height
    if distinct > MOST_COUNTED:
        counts = counts.top_k(MOST_COUNTED, by="rows of a value")
    values, rows = counts.get_columns()
    order = values.arg_sort().to_list()
    pairs = list(zip(values.to_list(), rows.to_list(), strict=True))
    return distinct, tuple(pairs[at] for at in order)


def some_rows(rows: int, most: int) -> NDArray[np.intp]:
    """At most so many rows, spread over the table."""
    return np.unique(np.linspace(0, rows - 1, min(rows, most)).astype(np.intp))
