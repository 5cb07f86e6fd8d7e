"""The door: find out what came in, and hand on columns of raw cells."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from isinglass.table.sources.arrays import open_array
from isinglass.table.sources.cells import Source, check_shape
from isinglass.table.sources.frames import open_frame


def open_source(X: Any) -> Source:
    """Find out what X is; raise TableError if it is no table with rows and columns."""
    X = nw.to_native(X, pass_through=True)
    is_frame = nw.dependencies.is_into_dataframe(X)
    source: Source = open_frame(X) if is_frame else open_array(X)
    check_shape(source.n_rows, len(source.names))
    return source


def without_column(X: Any, name: str) -> Any:
    """The same table without a column; of an array, the column that is called so."""
    X = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True).drop(name, strict=False).to_native()
    source = open_array(X)
    return source.array[:, [other != name for other in source.names]]
