"""Linear algebra: how many threads, and what LAPACK leaves to be done."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Array = NDArray[np.float64]

#: The size of a matrix from which other threads do more than it takes to wake them.
LARGE_ENOUGH = 1000


def one_blas_thread() -> AbstractContextManager[Any]:
    """As long as this lasts, BLAS and LAPACK do not share their work out."""
    manager: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return manager


def blas_threads_for(size: int) -> AbstractContextManager[Any]:
    """As long as this lasts, BLAS and LAPACK share out work on matrices of this size if it pays."""
    return nullcontext() if size >= LARGE_ENOUGH else one_blas_thread()


def from_lower(lower: Array) -> Array:
    """A symmetric matrix, from its lower half.

    >>> from_lower(np.array([[1.0, 9.0], [2.0, 3.0]])).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    return np.asarray(np.tril(lower) + np.tril(lower, -1).T)


@cache
def _libraries() -> ThreadpoolController:
    """Those that are loaded, found once: looking for them takes milliseconds."""
    return ThreadpoolController()
