"""The quick way in for arrays of small integers, by far the most common large table.

It gives what the general way would give, from two passes over the array in the compiled core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import cores, factorise_integers
from isinglass.table.column import Column
from isinglass.table.notes import RARE, about_column, about_rows
from isinglass.table.sources.arrays import array_names
from isinglass.table.table import Table


def encode_integers(X: Any, max_states: int) -> Table | None:
    """Encode a whole array of integers or booleans; None if it is not one, or not discrete."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or 0 in X.shape or type(X) is not np.ndarray:
        return None
    if X.dtype.str not in ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8"):
        return None
    found = factorise_integers(X, cores())
    if found is None:
        return None
    codes, least, counts = found
    counts = counts[:, : np.flatnonzero(counts.any(axis=0))[-1] + 1]
    seen = counts > 0
    n_states = seen.sum(axis=1)
    if n_states.max() > max_states:
        return None
    columns = _columns(least, seen, X.dtype == bool)
    odd = np.flatnonzero((n_states == 1) | (seen & (counts <= RARE)).any(axis=1))
    notes = [note for j in odd for note in about_column(columns[j], counts[j][seen[j]])]
    notes = [*about_rows(columns, float(len(X))), *notes]
    return Table(codes, columns, np.ones(len(X)), None, tuple(notes))


def _columns(
    least: NDArray[np.int64], seen: NDArray[np.bool_], boolean: bool
) -> tuple[Column, ...]:
    """The columns; most of them share their states, which are then made once."""
    known: dict[tuple[int, bytes], tuple[Any, ...]] = {}
    columns = []
    width, marks = seen.shape[1], seen.tobytes()
    for j, (name, first) in enumerate(zip(array_names(len(least)), least.tolist(), strict=True)):
        key = first, marks[j * width : (j + 1) * width]
        if key not in known:
            values = (first + np.flatnonzero(seen[j])).tolist()
            known[key] = tuple(map(bool, values)) if boolean else tuple(values)
        columns.append(Column(name, known[key], ordered=True))
    return tuple(columns)
