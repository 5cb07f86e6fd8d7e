"""SciPy's LAPACK, lent to the core for tables of many states: their refits solve large systems."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

from isinglass.core import _core

#: Columns with more states than this make systems large enough for LAPACK.
MANY_STATES = 6


@contextmanager
def lapack_lent(n_states: Sequence[int]) -> Iterator[None]:
    """Lend LAPACK to the core if a table has many states; it keeps it.

    Its own threads rest meanwhile: the core's threads call it with systems so small that they
    would do nothing but wait for each other.
    """
    if max(n_states, default=0) <= MANY_STATES and not _lend.cache_info().currsize:
        yield
        return
    with _lend().limit(limits=1, user_api="blas"):
        yield


@cache
def _lend() -> ThreadpoolController:
    """Tell the core where LAPACK's Cholesky routines are; return who rules their threads."""
    from scipy.linalg import cython_lapack

    routines = cython_lapack.__pyx_capi__
    _core.lend_lapack(_address(routines["dpotrf"]), _address(routines["dpotri"]))
    return ThreadpoolController()


def _address(capsule: object) -> int:
    """Where the C function in a capsule lies; a capsule is named by the function's signature."""
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(capsule, name(capsule)))
