"""Cells that are Python objects: told apart as a reader of the table would.

A dict does the work, with three differences: True is not 1, missing values of all kinds are one,
and of two equal labels always the same one is kept.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import TableError
from isinglass.table.coding.codes import Coded, Codes, code_dtype, renumber
from isinglass.table.coding.labels import is_missing, plain
from isinglass.wording import quoted


def factorise_objects(name: str, values: NDArray[Any]) -> Coded:
    """Code the cells by their distinct labels; the name is for errors."""
    cells = _unboxed(values)
    try:
        return _factorise(name, cells)
    except TableError:
        raise
    except Exception as error:  # a label's own comparison or hash may raise anything
        raise _CellError(_not_a_state(name, cells)) from error


def _factorise(name: str, cells: list[Any]) -> Coded:
    kinds = set(map(type, cells))
    if any(issubclass(kind, dt.datetime) for kind in kinds):
        # Within one zone Python takes the two instants of an hour that comes twice for one.
        cells = [cell if is_missing(cell) else plain(cell) for cell in cells]
        kinds = set(map(type, cells))
    if any(issubclass(kind, complex) for kind in kinds):
        raise TableError(f"Complex data not supported: column {name!r} holds complex numbers.")
    labels, codes = _distinct(cells, kinds)
    if int in kinds:
        # 1 and 1.0 are one state: its label must not depend on which of them came first.
        labels = [_whole(label) for label in labels]
    return _mark_missing(codes, np.fromiter(labels, dtype=object, count=len(labels)))


class _CellError(TableError, TypeError):
    """A cell that can be no state: scikit-learn's contract wants a TypeError too."""


def _unboxed(values: NDArray[Any]) -> list[Any]:
    return [cell.item() if type(cell) in _BOXED else cell for cell in values.tolist()]


_BOXED = frozenset(
    {np.bool_, np.str_, np.bytes_, np.float16, np.float32, np.float64, np.complex64}
    | {np.complex128, np.int8, np.int16, np.int32, np.int64}
    | {np.uint8, np.uint16, np.uint32, np.uint64}
)


def _distinct(cells: list[Any], kinds: set[type]) -> tuple[list[Any], Codes]:
    # True equals 1 for a dict, but they are two answers in a table.
    mixed = bool in kinds and len(kinds) > 1
    keys = [(type(cell) is bool, cell) for cell in cells] if mixed else cells
    index: dict[Any, int] = {}
    codes = np.array([index.setdefault(key, len(index)) for key in keys], dtype=np.int32)
    labels = [label for _, label in index] if mixed else list(index)
    return labels, codes.astype(code_dtype(len(labels)))


def _not_a_state(name: str, cells: Sequence[Any]) -> str:
    culprit = next((cell for cell in cells if not _can_be_a_state(cell)), cells[0])
    return (
        f"column {name!r} holds {quoted(culprit)}, a {type(culprit).__name__}; the "
        "argument must be a table of strings, booleans, numbers or other plain values."
    )


def _can_be_a_state(cell: Any) -> bool:
    try:
        return hash(cell) is not None and is_missing(cell) is not None
    except Exception:  # see factorise_objects
        return False


def _whole(label: Any) -> Any:
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _mark_missing(codes: Codes, labels: NDArray[Any]) -> Coded:
    seen = np.array([not is_missing(label) for label in labels], dtype=bool)
    if seen.all():
        return codes, labels
    used = np.flatnonzero(seen)
    return renumber(codes, used, len(labels)), labels[used]
