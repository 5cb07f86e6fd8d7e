"""Arrays and data frames of any library, as columns of raw cells.

Data frames are read through narwhals, so none of their libraries is imported here.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from isinglass.errors import DuplicateNames, TableError
from isinglass.wording import listing, quoted


def open_source(X: Any) -> Source:
    """Find out what X is; raise TableError if it is no table with rows and columns."""
    X = nw.to_native(X, pass_through=True)
    source = open_frame(X) if nw.dependencies.is_into_dataframe(X) else open_array(X)
    check_shape(source.n_rows, len(source.names))
    return source


def without_column(X: Any, name: str) -> Any:
    """The same table without a column; of an array, the column that is called so."""
    X = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True).drop(name, strict=False).to_native()
    source = open_array(X)
    return source.array[:, [other != name for other in source.names]]


@dataclass(frozen=True)
class Cells:
    """The cells of one column as they came: those that are not null, in row order."""

    seen: NDArray[Any]
    null: NDArray[np.bool_] | None = None  # which rows are null; None when none is
    categories: tuple[Any, ...] | None = None  # of an ordered category, all labels in their order
    nominal: bool = False  # an unordered category
    in_utc: bool = False  # times of a zone, as instants of UTC


def check_names(names: Iterable[str]) -> None:
    """Raise DuplicateNames unless all names differ."""
    repeated = tuple(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise DuplicateNames(
            f"more than one column is named {listing([*map(quoted, repeated)], 10)}; every column "
            "needs a name of its own. Rename or drop the others.",
            columns=repeated,
        )


def check_shape(rows: int, columns: int) -> None:
    """Raise TableError unless there is a row and a column."""
    if rows and columns:
        return
    thing = "sample" if columns else "feature"
    raise TableError(
        f"Found array with 0 {thing}(s) (shape={(rows, columns)}) while a minimum of 1 is required."
    )


def open_array(X: Any) -> _ArraySource:
    """Open an array or a list of rows; raise TableError if X is neither."""
    _refuse_what_is_no_array(X)
    array = _as_array(X)
    if array.ndim != 2:
        raise TableError(_wrong_dimensions(array))
    names = array_names(array.shape[1])
    mask = np.ma.getmaskarray(X) if isinstance(X, np.ma.MaskedArray) else None
    return _ArraySource(array, mask, names)


def array_names(columns: int) -> tuple[str, ...]:
    """What columns without names are called."""
    return tuple(f"x{position}" for position in range(columns))


class _SparseError(TableError, TypeError):
    """A sparse matrix: scikit-learn's contract wants a TypeError too."""


@dataclass(frozen=True)
class _ArraySource:
    array: NDArray[Any]
    mask: NDArray[np.bool_] | None
    names: tuple[str, ...]
    library: str | None = None

    @property
    def n_rows(self) -> int:
        return len(self.array)

    def cells(self, position: int) -> Cells:
        column = np.ascontiguousarray(self.array[:, position])
        if self.mask is None or not self.mask[:, position].any():
            return Cells(column)
        null = self.mask[:, position]
        return Cells(column[~null], null)

    def rows(self, keep: NDArray[np.bool_]) -> Self:
        mask = None if self.mask is None else self.mask[keep]
        return replace(self, array=self.array[keep], mask=mask)


def _refuse_what_is_no_array(X: Any) -> None:
    if hasattr(X, "tocsr"):
        raise _SparseError("sparse matrices are not supported; pass a dense array (X.toarray()).")
    if hasattr(X, "collect_schema"):
        raise TableError("a lazy frame holds no rows yet; pass X.collect().")
    if isinstance(X, str | bytes | dict | set) or X is None:
        raise TableError(
            f"a {type(X).__name__} is not a table; pass a data frame, a 2-D array or a list "
            "of rows (isinglass.read_table reads files)."
        )


def _as_array(X: Any) -> NDArray[Any]:
    # As objects, so that NumPy does not turn the 1 of [[1, "a"]] into the string "1".
    dtype = object if isinstance(X, list | tuple) else None
    try:
        array = np.asarray(X, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise TableError(_no_rectangle(X)) from error
    ragged = array.ndim == 1 and any(isinstance(row, list | tuple | np.ndarray) for row in array)
    if dtype is object and ragged:
        raise TableError(_no_rectangle(X))
    return array


def _no_rectangle(X: Any) -> str:
    return (
        f"the {type(X).__name__} does not make a table of rows and columns; give every row "
        "the same number of values."
    )


def _wrong_dimensions(array: NDArray[Any]) -> str:
    if array.ndim == 1:
        return (
            "Expected 2D array, got 1D array instead. Reshape your data: X.reshape(-1, 1) if "
            "it is one column, X.reshape(1, -1) if it is one row."
        )
    return f"Expected 2D array (rows and columns), got {array.ndim}D array instead."


_LIBRARIES = ("polars", "pyarrow")

_NUMPY_TYPES = (
    *(nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32, nw.UInt64),
    *(nw.Boolean, nw.Float32, nw.Float64),
)


def library_of(X: Any) -> str | None:
    """The library of a data frame; None for arrays and all else.

    >>> library_of(np.zeros((2, 2))) is None
    True
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return _library(frame) if isinstance(frame, nw.DataFrame) else None


def _library(frame: nw.DataFrame[Any]) -> str | None:
    if frame.implementation.is_pandas_like():
        return "pandas"
    return frame.implementation.value if frame.implementation.value in _LIBRARIES else None


def open_frame(X: Any) -> _FrameSource:
    """Open a data frame whose column names differ."""
    names = names_of_frame(X)
    return _FrameSource(nw.from_native(X, eager_only=True), names)


def names_of_frame(X: Any) -> tuple[str, ...]:
    """The names of the columns of a data frame, which must differ."""
    # Before narwhals sees it: pandas and pyarrow allow two columns of one name.
    names = tuple(map(str, X.column_names if hasattr(X, "column_names") else X.columns))
    check_names(names)
    return names


@dataclass(frozen=True)
class _FrameSource:
    frame: nw.DataFrame[Any]
    names: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    @property
    def library(self) -> str | None:
        return _library(self.frame)

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
    return np.asarray(np.fromiter(times, dtype=object, count=len(nanoseconds))[which])


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


Source = _ArraySource | _FrameSource
