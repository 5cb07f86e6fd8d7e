"""Columns that are adjusted for: in every conditional, and in no graph.

They stand beside the columns of a table. A column of numbers with many values is cut finely, at
its quantiles: what a bin leaves of the column's effect makes false links, and falls with the fourth
power of the number of bins, so that bins grow with the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from isinglass.errors import Setting, SettingError
from isinglass.table.coding.factor import Codes
from isinglass.table.column import Column, Note
from isinglass.table.rows import Rows
from isinglass.wording import counted, listing, quoted

#: Bins of a column of numbers: at least, at most; and fewer than this are too few.
LEAST_BINS, MOST_BINS, FEW_BINS = 8, 32, 4
ADJUST = Setting("adjust")


@dataclass(frozen=True, eq=False)
class Adjusted:
    """Columns beside those of a table, in the same rows.

    Attributes
    ----------
    codes : (n, k) array
    columns : tuple of Column
    positions : tuple of int
        Where they stood in the table that came in, without the columns of weights and clusters.
    """

    codes: Codes
    columns: tuple[Column, ...]
    positions: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column."""
        return tuple(column.name for column in self.columns)

    def rows(self, at: Any) -> Adjusted:
        """Some rows, by number or by mark."""
        return replace(self, codes=np.asfortranarray(self.codes[at]))


def adjusted_names(adjust: Any, names: Sequence[str], *, unnamed: bool) -> tuple[str, ...]:
    """The columns to adjust for, in the order of the table; SettingError unless there are such.

    >>> adjusted_names(["age", "sex"], ("sex", "fever", "age"), unnamed=False)
    ('sex', 'age')
    """
    if adjust is None:
        return ()
    if isinstance(adjust, str) or not isinstance(adjust, Sequence | np.ndarray | set | frozenset):
        raise SettingError(ADJUST, f" takes a list of column names, not {quoted(adjust)}.")
    wanted = {f"x{at}" if unnamed and isinstance(at, Integral) else str(at) for at in adjust}
    unknown = sorted(wanted.difference(names))
    if unknown:
        known = listing([quoted(name) for name in names], 5)
        raise SettingError(
            ADJUST, f" names {quoted(unknown[0])}, which is not a column; the columns are {known}."
        )
    if len(wanted) == len(names):
        raise SettingError(
            ADJUST, " names every column, and leaves none to link; adjust for fewer of them."
        )
    return tuple(name for name in names if name in wanted)


def measured_bins(
    rows: Rows, adjusted: Sequence[str], n: float, most: int = MOST_BINS
) -> dict[str, int]:
    """The bins of columns of numbers that are adjusted for, where they have more values."""
    bins = min(bins_to_adjust(n), most)
    factors = dict(zip(rows.names, rows.factors, strict=True))
    return {
        name: bins
        for name in adjusted
        if len(factors[name].labels) > bins and factors[name].reads_as_numbers
    }


def bins_to_adjust(rows: float) -> int:
    """Bins for a column of numbers to adjust for: the cube root of the rows, within bounds.

    >>> bins_to_adjust(200), bins_to_adjust(1000), bins_to_adjust(10**6)
    (8, 10, 32)
    """
    return int(np.clip(round(rows ** (1 / 3)), LEAST_BINS, MOST_BINS))


def about_adjusted(adjusted: Adjusted) -> Iterator[Note]:
    """What was done with the columns that are adjusted for."""
    for column, codes in zip(adjusted.columns, adjusted.codes.T, strict=True):
        done = f"{len(column.states)} states, each with a free effect on every column"
        if len(column.states) == 1:
            done = f"only {quoted(column.states[0])} occurs, so it changes nothing"
        elif column.cuts is not None:
            done = f"cut into {len(column.cuts) + 1} bins, each with a free effect on every column"
        if column.has_missing_state:
            missing = int(np.count_nonzero(codes == len(column.states) - 1))
            done += f"; missing in {counted(missing, 'row')}, which is one of its states"
        if is_coarse(column):
            done += "; with so few bins, its effect within bins creates false links"
        yield Note(column.name, "adjusted for", done)


def is_coarse(column: Column) -> bool:
    """Whether a column of numbers was cut into too few bins to be adjusted for."""
    return column.cuts is not None and len(column.cuts) + 1 < FEW_BINS
