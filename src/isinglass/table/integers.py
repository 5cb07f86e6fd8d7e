"""The quick way in for arrays of small integers, by far the most common large table.

It gives what the general way would give, from two passes over the array in the compiled core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import cpu_count

from isinglass.core import factorise_integers
from isinglass.table.arrays import array_names
from isinglass.table.column import Column
from isinglass.table.notes import oddities
from isinglass.table.table import Table

__all__ = ["encode_integers"]


def encode_integers(X: Any, max_states: int) -> Table | None:
    """Encode a whole array of integers or booleans; None if it is not one, or not discrete."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or 0 in X.shape or type(X) is not np.ndarray:
        return None
    if X.dtype.str not in ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8"):
        return None
    found = factorise_integers(X, cpu_count())
    if found is None:
        return None
    codes, least, counts = found
    seen = counts > 0
    if seen.sum(axis=1).max() > max_states:
        return None
    columns = tuple(
        Column(name, _states(least[j], seen[j], X.dtype == bool), ordered=True)
        for j, name in enumerate(array_names(X.shape[1]))
    )
    weights = np.ones(len(X))
    rows = [counts[j][seen[j]] for j in range(len(columns))]
    return Table(codes, columns, weights, None, oddities(columns, rows, float(len(X))))


def _states(least: int, seen: Any, boolean: bool) -> tuple[Any, ...]:
    values = (int(least) + np.flatnonzero(seen)).tolist()
    return tuple(bool(value) for value in values) if boolean else tuple(values)
