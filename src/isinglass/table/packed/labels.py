"""What the columns of a table hold, numbered as it comes, where a table is read in parts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

Numbers = NDArray[np.uint8] | NDArray[np.uint32]


class ColumnLabels:
    """The labels of a column so far, each with a number; a null is a label too."""

    def __init__(self, name: str, dtype: Any) -> None:
        self.name, self.dtype = name, dtype
        self.values: list[Any] = []
        self._index: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def number(self, value: Any) -> int:
        """The number of a label, a new one if it was not there before."""
        nan = isinstance(value, float) and math.isnan(value)
        key: Hashable = "NaN of floats" if nan and self.dtype.is_float() else value
        found = self._index.setdefault(key, len(self.values))
        if found == len(self.values):
            self.values.append(value)
        return found

    def numbers(self, values: Iterable[Any]) -> Numbers:
        """The numbers of some labels, in one byte each while there are few."""
        found = [self.number(value) for value in values]
        few = len(self) <= 256
        return np.array(found, np.uint8) if few else np.array(found, np.uint32)

    def series(self) -> pl.Series:
        """All labels, by number, in the type of the column."""
        import polars as pl

        return pl.Series(self.name, self.values, dtype=self.dtype)

    def code(self, cells: pl.Series) -> Numbers:
        """The number of each cell."""
        if cells.null_count() == len(cells):
            null: Any = self.numbers([None])
            return np.repeat(null, len(cells))
        if self.dtype.is_numeric():
            return self._code_sorted(cells)
        return self._code_hashed(cells)

    def _with_nulls(self, codes: NDArray[Any], missing: NDArray[np.bool_] | None) -> Numbers:
        """Codes with the number of a null where a cell is missing."""
        if missing is None or not missing.any():
            return codes
        null = self.numbers([None])
        codes = codes.astype(np.result_type(codes, null))
        codes[missing] = null[0]
        return codes

    def _code_sorted(self, cells: pl.Series) -> Numbers:
        import polars as pl

        missing = cells.is_null().to_numpy()
        distinct, which = np.unique(cells.drop_nulls().to_numpy(), return_inverse=True)
        found = self.numbers(pl.Series(distinct, dtype=cells.dtype).to_list())
        codes = np.zeros(len(cells), dtype=found.dtype)
        codes[~missing] = found[which]
        return self._with_nulls(codes, missing)

    def _code_hashed(self, cells: pl.Series) -> Numbers:
        import polars as pl

        distinct = cells.unique()
        numbers = self.numbers(distinct.to_list())
        kind = pl.UInt8 if numbers.dtype == np.uint8 else pl.UInt32
        coded = cells.replace_strict(distinct, pl.Series(numbers, dtype=kind), return_dtype=kind)
        found: Numbers = coded.to_numpy()
        return found
