"""Data frames of any library, as columns of raw cells.

They are read through narwhals, so none of their libraries is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from isinglass.table.cells import Cells, check_names, without

__all__ = ["open_frame"]

_LIBRARIES = ("polars", "pyarrow")

_NUMPY_TYPES = (
    *(nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64),
    *(nw.Boolean, nw.Float32, nw.Float64),
)


def open_frame(X: Any) -> _FrameSource:
    """Open a data frame whose column names differ."""
    # Before narwhals sees it: pandas and pyarrow allow two columns of one name.
    names = tuple(map(str, X.column_names if hasattr(X, "column_names") else X.columns))
    check_names(names)
    return _FrameSource(nw.from_native(X, eager_only=True), names)


@dataclass(frozen=True)
class _FrameSource:
    frame: nw.DataFrame[Any]
    names: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    @property
    def library(self) -> str | None:
        implementation = self.frame.implementation
        if implementation.is_pandas_like():
            return "pandas"
        return implementation.value if implementation.value in _LIBRARIES else None

    def cells(self, position: int) -> Cells:
        series = self.frame[:, position]
        if series.dtype == nw.Object:
            # Objects are looked at one by one later; not every object bears isna().
            return Cells(_to_numpy(series))
        null = series.is_null().to_numpy()
        values = series.drop_nulls() if null.any() else series
        return Cells(
            _to_numpy(values),
            null if null.any() else None,
            _ordered_categories(series),
            series.dtype == nw.Categorical,
        )

    def rows(self, keep: NDArray[np.bool_]) -> Self:
        return replace(self, frame=self.frame.filter(keep.tolist()))

    def without(self, position: int) -> Self:
        others = without(tuple(range(len(self.names))), position)
        names = without(self.names, position)
        return replace(self, frame=self.frame[:, list(others)], names=names)


def _to_numpy(series: nw.Series[Any]) -> NDArray[Any]:
    if isinstance(series.dtype, _NUMPY_TYPES):
        return np.asarray(series.to_numpy())
    return np.fromiter(series.to_list(), dtype=object, count=len(series))


def _ordered_categories(series: nw.Series[Any]) -> tuple[Any, ...] | None:
    if isinstance(series.dtype, nw.Enum):
        return tuple(series.dtype.categories)
    # Arrow knows whether a dictionary is ordered; narwhals does not pass it on.
    if series.dtype == nw.Categorical and series.implementation.is_pyarrow():
        native = series.to_native()
        if native.type.ordered:
            return tuple(native.unify_dictionaries().chunk(0).dictionary.to_pylist())
    return None
