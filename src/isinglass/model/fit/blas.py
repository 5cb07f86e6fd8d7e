"""Linear algebra in one thread: for small matrices, to wake others takes longer than the work."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """As long as this lasts, BLAS and LAPACK do not share their work out."""
    manager: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return manager


@cache
def _libraries() -> ThreadpoolController:
    """Those that are loaded, found once: looking for them takes milliseconds."""
    return ThreadpoolController()
