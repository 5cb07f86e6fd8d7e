"""Completed rows in the kind of table that came in."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from isinglass.model.labelled import array_type, labels_array
from isinglass.model.potentials import Potentials

Codes = NDArray[np.uint8]


def refilled(field: Potentials, X: Any, codes: Codes, missing: NDArray[np.bool_]) -> Any:
    """The table X with its gaps filled by the states' labels.

    Cells that are seen, other columns, and the types of columns stay as they came. Only a binned
    column with gaps comes back as the labels of its bins.
    """
    X = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_into_dataframe(X):
        return _refilled_frame(field, X, codes, missing)
    return _refilled_array(field, X, codes, missing)


def _refilled_frame(field: Potentials, X: Any, codes: Codes, missing: NDArray[np.bool_]) -> Any:
    table = nw.from_native(X, eager_only=True)
    by_text = {str(name): name for name in table.columns}
    for v in np.flatnonzero(missing.any(axis=0)).tolist():
        labels = _labels(field, v)[codes[:, v]]
        name = by_text[field.names[v]]
        series = None if v in field.cuts else _filled(table[name], labels, missing[:, v])
        if series is None:
            series = nw.new_series(name, labels.tolist(), backend=table.implementation)
            if table.implementation.is_pandas_like():
                series = nw.from_native(series.to_native().set_axis(X.index), series_only=True)
        table = table.with_columns(series)
    return table.to_native()


def _filled(
    cells: nw.Series[Any], labels: NDArray[Any], missing: NDArray[np.bool_]
) -> nw.Series[Any] | None:
    """A column with its gaps filled, of the type it had; None if that cannot hold the labels."""
    rows = np.flatnonzero(missing).tolist()
    values = labels[missing].tolist()
    try:
        fill = nw.new_series(cells.name, values, backend=cells.implementation)
        fill = fill if cells.dtype == nw.Object else fill.cast(cells.dtype)
        filled = cells.scatter(rows, fill)
    except Exception:  # each library has its own errors for a type that does not fit
        return None
    return filled if filled.dtype == cells.dtype and not filled.is_null().any() else None


def _refilled_array(field: Potentials, X: Any, codes: Codes, missing: NDArray[np.bool_]) -> Any:
    numeric = isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
    filled = np.array(X, dtype=object)
    binned = False
    for v in np.flatnonzero(missing.any(axis=0)).tolist():
        rows = slice(None) if v in field.cuts else missing[:, v]
        binned |= v in field.cuts
        filled[rows, v] = _labels(field, v)[codes[rows, v]]
    return filled.astype(X.dtype) if numeric and not binned else filled


def _labels(field: Potentials, v: int) -> NDArray[Any]:
    return labels_array(field.states[v], array_type([field.states[v]]))
