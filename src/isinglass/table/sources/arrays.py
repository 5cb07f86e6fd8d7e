"""Arrays and lists of rows, as columns of raw cells named x0, x1, ..."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import TableError
from isinglass.table.sources.cells import Cells


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
