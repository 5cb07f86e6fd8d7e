"""Data frames of any library, as columns of raw cells.

They are read through narwhals, so none of their libraries is imported here.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from isinglass.table.sources.cells import Cells, check_names

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
        values = _decoded(series)
        null = values.is_null().to_numpy()
        values = values.drop_nulls() if null.any() else values
        return Cells(
            _to_numpy(values),
            null if null.any() else None,
            _ordered_categories(series),
            series.dtype == nw.Categorical,
            isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None,
        )

    def rows(self, keep: NDArray[np.bool_]) -> Self:
        return replace(self, frame=self.frame.filter(keep.tolist()))


def _decoded(series: nw.Series[Any]) -> nw.Series[Any]:
    """Arrow's dictionaries as plain columns: a dictionary may hold a null itself."""
    if series.dtype != nw.Categorical or not series.implementation.is_pyarrow():
        return series
    native = series.to_native()
    return nw.from_native(native.cast(native.type.value_type), series_only=True)


def _to_numpy(series: nw.Series[Any]) -> NDArray[Any]:
    if isinstance(series.dtype, _NUMPY_TYPES):
        return np.asarray(series.to_numpy())
    if isinstance(series.dtype, nw.Datetime):
        unit = "ms" if series.dtype.time_unit == "s" else series.dtype.time_unit
        return _integers(series.dt.timestamp(unit)).view(f"M8[{unit}]")
    if isinstance(series.dtype, nw.Date | nw.Duration):
        times = np.asarray(series.to_numpy())
        if times.dtype.kind in "mM":
            return times
    if isinstance(series.dtype, nw.Time) and not series.implementation.is_pandas_like():
        return _times_of_day(series)
    return np.fromiter(series.to_list(), dtype=object, count=len(series))


def _integers(series: nw.Series[Any]) -> NDArray[np.int64]:
    return np.ascontiguousarray(series.to_numpy(), dtype=np.int64)


def _times_of_day(series: nw.Series[Any]) -> NDArray[Any]:
    """Times of day: Python's own, or texts where they are finer than a microsecond."""
    if series.implementation.is_pyarrow():
        native = series.to_native().cast("time64[ns]").cast("int64")
        series = nw.from_native(native, series_only=True)
    nanoseconds, which = np.unique(_integers(series.cast(nw.Int64)), return_inverse=True)
    times = (_time_of_day(*divmod(each, 1000)) for each in nanoseconds.tolist())
    labels: NDArray[Any] = np.fromiter(times, dtype=object, count=len(nanoseconds))[which]
    return labels


def _time_of_day(microseconds: int, nanoseconds: int) -> dt.time | str:
    time = (dt.datetime.min + dt.timedelta(microseconds=microseconds)).time()
    return f"{time.isoformat('microseconds')}{nanoseconds:03}" if nanoseconds else time


def _ordered_categories(series: nw.Series[Any]) -> tuple[Any, ...] | None:
    if isinstance(series.dtype, nw.Enum):
        return tuple(series.dtype.categories)
    # Arrow knows whether a dictionary is ordered; narwhals does not pass it on.
    if series.dtype == nw.Categorical and series.implementation.is_pyarrow():
        native = series.to_native()
        if native.type.ordered:
            labels = native.unify_dictionaries().chunk(0).dictionary.to_pylist()
            return tuple(label for label in labels if label is not None)
    return None
