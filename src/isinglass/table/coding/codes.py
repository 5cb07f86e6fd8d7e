"""Codes: small integers that stand for labels, MISSING for a missing one."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.integer[Any]]
Coded: TypeAlias = tuple[Codes, NDArray[Any]]

MISSING = -1


def code_dtype(n_codes: int) -> np.dtype[np.integer[Any]]:
    """The smallest of int8, int16 and int32 that counts to n_codes."""
    for dtype in (np.int8, np.int16):
        if n_codes <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    return np.dtype(np.int32)


def renumber(codes: NDArray[Any], used: NDArray[np.intp], n_labels: int) -> Codes:
    """Number the used labels 0, 1, ...; the others, and MISSING, become MISSING."""
    dtype = code_dtype(len(used))
    if len(used) == n_labels:
        return codes.astype(dtype)
    # One entry more than labels: MISSING, being -1, finds the last.
    table = np.full(n_labels + 1, MISSING, dtype=dtype)
    table[used] = np.arange(len(used))
    renumbered: Codes = table[codes]
    return renumbered


def scatter(codes: Codes, seen: NDArray[np.bool_]) -> Codes:
    """Put the codes of the seen rows into their places among all rows."""
    everywhere = np.full(len(seen), MISSING, dtype=codes.dtype)
    everywhere[seen] = codes
    return everywhere
