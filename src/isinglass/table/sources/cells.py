"""Columns of raw cells: what arrays and data frames have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import DuplicateNames, TableError
from isinglass.wording import listing, quoted


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
    in_utc : bool
        Whether the cells are times of a zone, as instants of UTC.
    """

    seen: NDArray[Any]
    null: NDArray[np.bool_] | None = None
    categories: tuple[Any, ...] | None = None
    nominal: bool = False
    in_utc: bool = False


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
