"""The compiled core: arrays in, arrays out; it knows no names, tables or graphs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.core._core import pack, pairs

__all__ = ["pack_states", "pair_counts"]


def pack_states(
    codes: NDArray[np.integer], n_states: Sequence[int]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Pack the indicator of every state of every column into 64-bit words.

    Returns the words, one row a state, and the row at which each column's states begin.

    >>> bits, offsets = pack_states(np.array([[0, 2], [1, 0], [1, 1]]), [2, 3])
    >>> bits[:, 0].tolist(), offsets.tolist()
    ([1, 6, 2, 4, 1], [0, 2, 5])
    """
    offsets = np.concatenate([[0], np.cumsum(n_states)]).astype(np.int64)
    return pack(np.asarray(codes, dtype=np.int32), offsets), offsets


def pair_counts(
    bits: NDArray[np.uint64], offsets: NDArray[np.int64], a: int, b: int
) -> NDArray[np.int64]:
    """Rows in each combination of states of two columns.

    >>> bits, offsets = pack_states(np.array([[0, 2], [1, 0], [1, 1]]), [2, 3])
    >>> pair_counts(bits, offsets, 0, 1).tolist()
    [[0, 0, 1], [1, 1, 0]]
    """
    counts: NDArray[np.int64] = pairs(bits, offsets, a, b)
    return counts
