"""SciPy's LAPACK, lent to the core for tables of many states: their refits solve large systems."""

from __future__ import annotations

import ctypes
from functools import cache

from isinglass.core import _core  # type: ignore[attr-defined]

#: Columns with more states than this make systems that are worth LAPACK's while.
MANY_STATES = 6


@cache
def lend_lapack() -> None:
    """Tell the core where LAPACK's Cholesky routines are."""
    from scipy.linalg import cython_lapack

    routines = cython_lapack.__pyx_capi__
    _core.lend_lapack(_address(routines["dpotrf"]), _address(routines["dpotri"]))


def _address(capsule: object) -> int:
    """Where the C function in a capsule lies; a capsule is named by the function's signature."""
    name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(pointer(capsule, name(capsule)))
