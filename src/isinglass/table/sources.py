"""The doors: arrays, lists and data frames of any library, as columns of raw cells.

Nothing here looks at what the cells mean; it only finds the columns, their names, and
which cells are null. Data frames are read through narwhals, so none of their libraries is
imported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from isinglass.errors import DuplicateNames, TableError
from isinglass.table.wording import listing, quoted

__all__ = ["Cells", "Source", "check_names", "check_shape", "open_source"]

T = TypeVar("T")


@dataclass(frozen=True)
class Cells:
    """The cells of one column as they came.

    Attributes
    ----------
    seen : ndarray
        The cells that are not null, in row order.
    null : ndarray of bool, optional
        Which rows are null; None when none is.
    categories : tuple, optional
        All labels in their order, of an ordered category.
    nominal : bool
        Whether the column is declared an unordered category.
    """

    seen: NDArray[Any]
    null: NDArray[np.bool_] | None = None
    categories: tuple[Any, ...] | None = None
    nominal: bool = False


class Source(Protocol):
    """A table of raw cells."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def library(self) -> str | None: ...
    def cells(self, position: int) -> Cells: ...
    def rows(self, keep: NDArray[np.bool_]) -> Self: ...
    def without(self, position: int) -> Self: ...


def open_source(X: Any) -> Source:
    """Find out what X is; raise TableError if it is no table with rows and columns."""
    X = nw.to_native(X, pass_through=True)
    source: Source = _open_frame(X) if nw.dependencies.is_into_dataframe(X) else _open_array(X)
    check_shape(source)
    return source


def check_shape(source: Source) -> None:
    """Raise TableError unless there is a row and a column."""
    shape = (source.n_rows, len(source.names))
    for count, thing in zip(shape[::-1], ("feature", "sample"), strict=True):
        if count == 0:
            raise TableError(
                f"Found array with 0 {thing}(s) (shape={shape}) while a minimum of 1 is "
                "required."
            )


def check_names(names: Iterable[str]) -> None:
    """Raise DuplicateNames unless all names differ."""
    repeated = [quoted(name) for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DuplicateNames(
            f"more than one column is named {listing(repeated, 10)}; every column needs a "
            "name of its own. Rename or drop the others."
        )


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

    def without(self, position: int) -> Self:
        mask = None if self.mask is None else np.delete(self.mask, position, axis=1)
        names = _without(self.names, position)
        return replace(
            self, array=np.delete(self.array, position, axis=1), mask=mask, names=names
        )


def _open_array(X: Any) -> _ArraySource:
    _refuse_what_is_no_array(X)
    array = _as_array(X)
    if array.ndim != 2:
        raise TableError(_wrong_dimensions(array))
    names = tuple(f"x{position}" for position in range(array.shape[1]))
    mask = np.ma.getmaskarray(X) if isinstance(X, np.ma.MaskedArray) else None
    return _ArraySource(array, mask, names)


def _refuse_what_is_no_array(X: Any) -> None:
    if hasattr(X, "tocsr"):
        raise _SparseError(
            "sparse matrices are not supported; pass a dense array (X.toarray())."
        )
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
    if array.ndim == 1 and dtype is object and _is_ragged(array):
        raise TableError(_no_rectangle(X))
    return array


def _is_ragged(rows: NDArray[Any]) -> bool:
    return any(isinstance(row, list | tuple | np.ndarray) for row in rows)


def _no_rectangle(X: Any) -> str:
    return (
        f"the {type(X).__name__} does not make a table of rows and columns; give every row "
        "the same number of cells."
    )


def _wrong_dimensions(array: NDArray[Any]) -> str:
    if array.ndim == 1:
        return (
            "Expected 2D array, got 1D array instead. Reshape your data: X.reshape(-1, 1) if "
            "it is one column, X.reshape(1, -1) if it is one row."
        )
    return f"Expected 2D array (rows and columns), got {array.ndim}D array instead."


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
        others = _without(tuple(range(len(self.names))), position)
        names = _without(self.names, position)
        return replace(self, frame=self.frame[:, list(others)], names=names)


_LIBRARIES = ("polars", "pyarrow")

_NUMPY_TYPES = {
    nw.Boolean,
    nw.Int8,
    nw.Int16,
    nw.Int32,
    nw.Int64,
    nw.UInt8,
    nw.UInt16,
    nw.UInt32,
    nw.UInt64,
    nw.Float32,
    nw.Float64,
}


def _open_frame(X: Any) -> _FrameSource:
    # Before narwhals sees it: pandas and pyarrow allow two columns of one name.
    names = tuple(map(str, X.column_names if hasattr(X, "column_names") else X.columns))
    check_names(names)
    return _FrameSource(nw.from_native(X, eager_only=True), names)


def _to_numpy(series: nw.Series[Any]) -> NDArray[Any]:
    if type(series.dtype) in _NUMPY_TYPES:
        return np.asarray(series.to_numpy())
    return np.fromiter(series.to_list(), dtype=object, count=len(series))


def _ordered_categories(series: nw.Series[Any]) -> tuple[Any, ...] | None:
    if isinstance(series.dtype, nw.Enum):
        return tuple(series.dtype.categories)
    native = series.to_native()
    if series.dtype == nw.Categorical and getattr(
        getattr(native, "type", None), "ordered", False
    ):
        return tuple(native.unify_dictionaries().chunk(0).dictionary.to_pylist())
    return None


def _without(items: tuple[T, ...], position: int) -> tuple[T, ...]:
    return items[:position] + items[position + 1 :]
