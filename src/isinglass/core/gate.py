"""What is checked of arrays before they go to the core, which takes them at their word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: A code is one byte.
MAX_STATES = 256
#: Cells, of which there are no more than rows, are numbered in 32 bits.
MAX_ROWS = 2**32 - 2

Checked = tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.float64]]


def checked_table(codes: Any, n_states: Sequence[int], weights: Any) -> Checked:
    """The arrays of a table as the core takes them; ValueError if they are no table."""
    states = _states(n_states)
    return _codes(codes, states), states.astype(np.int32), _weights(weights, len(codes))


def _states(n_states: Sequence[int]) -> NDArray[np.int64]:
    states = np.asarray(n_states)
    whole = states.ndim == 1 and (states.dtype.kind in "iu" or not states.size)
    if not whole or ((states < 1) | (states > MAX_STATES)).any():
        raise ValueError(f"every column has 1 to {MAX_STATES} states, a whole number")
    return states.astype(np.int64)


def _codes(codes: Any, states: NDArray[np.int64]) -> NDArray[np.uint8]:
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise ValueError("codes are whole numbers in rows and columns")
    if codes.shape[1] != len(states):
        raise ValueError(f"{codes.shape[1]} columns of codes, but {len(states)} numbers of states")
    if len(codes) > MAX_ROWS:
        raise ValueError(f"more than {MAX_ROWS:,} rows")
    # One byte is looked at in the core itself, against the states of its column.
    if codes.dtype != np.uint8 and codes.size and _beyond(codes, states):
        raise ValueError("a code without a state")
    return np.asfortranarray(codes, dtype=np.uint8)


def _beyond(codes: NDArray[Any], states: NDArray[np.int64]) -> bool:
    return bool(codes.min() < 0 or (codes.max(axis=0) >= states).any())


def _weights(weights: Any, rows: int) -> NDArray[np.float64]:
    """Weights, or nothing if all are one."""
    checked: NDArray[np.float64] = np.ascontiguousarray(weights, dtype=np.float64)
    if checked.shape != (rows,):
        raise ValueError("one weight for each row")
    if (checked == 1).all():
        return np.empty(0)
    if not (np.isfinite(checked) & (checked >= 0)).all():
        raise ValueError("weights are finite, and not negative")
    return checked


def checked_scales(scales: Any, *shape: int) -> NDArray[np.float64]:
    """Positive numbers that divide gains, flat; none of them if all are one."""
    if scales is None:
        return np.empty(0)
    checked: NDArray[np.float64] = np.ascontiguousarray(scales, dtype=np.float64)
    if checked.shape != shape or not (np.isfinite(checked) & (checked > 0)).all():
        raise ValueError(f"scales are positive numbers, {' x '.join(map(str, shape))} of them")
    return checked.ravel()


def checked_integers(data: NDArray[Any]) -> NDArray[Any]:
    """A table of integers or booleans that is not empty; ValueError if it is none."""
    if data.ndim != 2 or data.dtype.kind not in "biu" or 0 in data.shape:
        raise ValueError("integers in at least one row and one column")
    return data.view(np.uint8) if data.dtype == bool else data


def checked_threads(threads: int) -> int:
    """At least one."""
    if threads < 1:
        raise ValueError("at least one thread")
    return int(threads)
