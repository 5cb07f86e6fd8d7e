"""Distinct labels and a code for every row: the one form that all columns pass through.

Integers of a small range, by far the most common column, are counted rather than sorted.
Labels stay in arrays until somebody needs them, so that a column of a million ids costs
no more than finding out that there are too many of them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import TableError
from isinglass.table.cells import Cells
from isinglass.table.coding.labels import (
    are_numbers,
    are_texts_of_numbers,
    in_utc,
    is_missing,
    plain,
)
from isinglass.wording import quoted

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
    return np.asarray(table[codes])


def scatter(codes: Codes, seen: NDArray[np.bool_]) -> Codes:
    """Put the codes of the seen rows into their places among all rows."""
    everywhere = np.full(len(seen), MISSING, dtype=codes.dtype)
    everywhere[seen] = codes
    return everywhere


COUNTED_RANGE = 1024


@dataclass(frozen=True)
class Factor:
    """One column: `labels[codes]` gives back the cells; labels are distinct, in any order."""

    codes: Codes
    labels: NDArray[Any]
    categories: tuple[Any, ...] | None = None
    nominal: bool = False
    in_utc: bool = False

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows are missing."""
        return np.asarray(self.codes == MISSING)

    @property
    def reads_as_numbers(self) -> bool:
        """Whether all labels are numbers, not booleans, or all are texts of numbers such as 01."""
        numbers = self.labels.dtype.kind in "iuf" or are_numbers(self.labels)
        return numbers or are_texts_of_numbers(self.labels)

    def rows(self, keep: NDArray[np.bool_]) -> Factor:
        """The same column on fewer rows, without the labels that are gone."""
        kept = self.codes[keep]
        used = np.flatnonzero(np.bincount(kept[kept != MISSING]))
        codes = renumber(kept, used, len(self.labels))
        return replace(self, codes=codes, labels=self.labels[used])

    def plain_labels(self) -> list[Hashable]:
        """The labels as plain Python values."""
        labels = [plain(label) for label in self.labels]
        return [in_utc(label) for label in labels] if self.in_utc else labels


def factorise(name: str, cells: Cells) -> Factor:
    """Code the cells of a column; the name is for errors."""
    codes, labels = _factorise_seen(name, cells.seen)
    if cells.null is not None:
        codes = scatter(codes, ~cells.null)
    return Factor(codes, labels, cells.categories, cells.nominal, cells.in_utc)


def _factorise_seen(name: str, values: NDArray[Any]) -> Coded:
    kind = values.dtype.kind
    if kind in "biu":
        return _factorise_integers(values)
    if kind not in "fMm":
        return factorise_objects(name, values)
    seen = ~(np.isnan(values) if kind == "f" else np.isnat(values))
    factorise_all = _factorise_floats if kind == "f" else _factorise_by_sorting
    if seen.all():
        return factorise_all(values)
    codes, labels = factorise_all(values[seen])
    return scatter(codes, seen), labels


def _factorise_integers(values: NDArray[Any]) -> Coded:
    if len(values) == 0 or int(values.max()) - int(values.min()) >= COUNTED_RANGE:
        return _factorise_by_sorting(values)
    if values.dtype == bool:
        codes, used = _count(values.view(np.uint8))
        return codes, used.astype(bool)
    # The difference may wrap around in a signed type; seen as unsigned it is right again.
    lowest = values.min()
    codes, used = _count((values - lowest).view(f"u{values.itemsize}"))
    return codes, used.astype(values.dtype) + lowest


def _count(offsets: NDArray[Any]) -> Coded:
    counts = np.bincount(offsets)
    used = np.flatnonzero(counts)
    return renumber(offsets, used, len(counts)), used


def _factorise_floats(values: NDArray[Any]) -> Coded:
    small = len(values) > 0 and np.abs(values).max() <= COUNTED_RANGE
    if small and np.array_equal(values, np.trunc(values)):
        codes, labels = _factorise_integers(values.astype(np.int64))
        return codes, labels.astype(values.dtype)
    # Adding zero turns -0.0 into 0.0: which of the two comes first must not matter.
    return _factorise_by_sorting(values + 0.0)


def _factorise_by_sorting(values: NDArray[Any]) -> Coded:
    labels, codes = np.unique(values, return_inverse=True)
    return codes.astype(code_dtype(len(labels))), labels


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
