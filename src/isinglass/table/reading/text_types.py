"""Columns of text become numbers or booleans where that keeps all values apart.

A column is whole numbers, else numbers, else booleans if every cell that is not missing can be
read so, and if cells that differ as text still differ afterwards. So 1 and 2 become numbers, but a
column that holds both 01 and 1, or 1.10 and 1.1, stays text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def with_types(texts: pl.DataFrame, na: Sequence[str]) -> pl.DataFrame:
    """Give every column of text its type; cells that are empty or in `na` become null."""
    import polars as pl

    left = texts.clone()
    # Each column of text is let go as soon as it has become another one.
    return pl.DataFrame([_typed(left.drop_in_place(name), na) for name in texts.columns])


def _typed(cells: pl.Series, na: Sequence[str]) -> pl.Series:
    words = ["", *na]
    distinct = cells.unique().drop_nulls()
    seen = distinct.filter(~distinct.is_in(words))
    if len(seen) < len(distinct):
        cells = cells.set(cells.is_in(words), None)
    numbers = _numbers(seen)
    if numbers is not None:
        return cells.cast(numbers.dtype)
    if _are_booleans(seen):
        return cells.str.to_lowercase() == "true"
    return cells


def _numbers(seen: pl.Series) -> pl.Series | None:
    """The distinct texts as numbers, None if one is none or two become the same."""
    import polars as pl

    for dtype in (pl.Int64, pl.Float64):
        numbers = seen.cast(dtype, strict=False)
        if len(seen) and not (numbers.is_null() | numbers.is_nan()).any():
            return numbers if numbers.n_unique() == len(seen) else None
    return None


def _are_booleans(seen: pl.Series) -> bool:
    lower = seen.str.to_lowercase()
    return len(seen) > 0 and lower.is_in(["false", "true"]).all() and lower.n_unique() == len(seen)
