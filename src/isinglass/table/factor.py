"""Distinct labels and a code for every row: the one form that all columns pass through.

Integers of a small range, by far the most common column, are counted rather than sorted.
Labels stay in arrays until somebody needs them, so that a column of a million ids costs
no more than finding out that there are too many of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import TableError
from isinglass.table.labels import are_numbers, is_gap, plain
from isinglass.table.sources import Cells
from isinglass.table.wording import quoted

__all__ = ["GAP", "Codes", "Factor", "code_dtype", "factorise"]

Codes: TypeAlias = NDArray[np.signedinteger[Any]]
_Coded: TypeAlias = tuple[Codes, NDArray[Any]]

GAP = -1
COUNTED_RANGE = 1024


@dataclass(frozen=True)
class Factor:
    """One column: `labels[codes]` gives back the cells, and GAP marks a missing one.

    All labels are distinct; their order means nothing yet.
    """

    codes: Codes
    labels: NDArray[Any]
    categories: tuple[Any, ...] | None = None
    nominal: bool = False

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """Which rows are missing."""
        missing: NDArray[np.bool_] = self.codes == GAP
        return missing

    @property
    def counts(self) -> NDArray[np.intp]:
        """The number of rows of each label."""
        return np.bincount(self.codes[~self.gaps], minlength=len(self.labels))

    @property
    def is_numeric(self) -> bool:
        """Whether all labels are numbers; booleans are not."""
        return self.labels.dtype.kind in "iuf" or are_numbers(self.labels)

    def rows(self, keep: NDArray[np.bool_]) -> Factor:
        """The same column on fewer rows, without the labels that are gone."""
        kept = Factor(self.codes[keep], self.labels, self.categories, self.nominal)
        used = np.flatnonzero(kept.counts)
        codes, labels = _renumber(kept.codes, used, len(self.labels)), self.labels[used]
        return Factor(codes, labels, self.categories, self.nominal)

    def plain_labels(self) -> list[Hashable]:
        """The labels as plain Python values."""
        return [plain(label) for label in self.labels]


def code_dtype(n_codes: int) -> np.dtype[np.signedinteger[Any]]:
    """The smallest of int8, int16 and int32 that counts to n_codes."""
    for dtype in (np.int8, np.int16):
        if n_codes <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    return np.dtype(np.int32)


def factorise(name: str, cells: Cells) -> Factor:
    """Code the cells of a column; the name is for errors."""
    codes, labels = _factorise_seen(name, cells.seen)
    if cells.null is not None:
        codes = _scatter(codes, ~cells.null)
    return Factor(codes, labels, cells.categories, cells.nominal)


def _factorise_seen(name: str, values: NDArray[Any]) -> _Coded:
    if values.dtype.kind in "biu":
        return _factorise_integers(values)
    if values.dtype.kind == "f":
        return _factorise_floats(values)
    if values.dtype.kind in "Mm":
        return _factorise_times(values)
    return _factorise_objects(name, values)


def _factorise_integers(values: NDArray[Any]) -> _Coded:
    if len(values) == 0 or int(values.max()) - int(values.min()) >= COUNTED_RANGE:
        return _factorise_by_sorting(values)
    if values.dtype == bool:
        codes, used = _count(values.view(np.uint8))
        return codes, used.astype(bool)
    # The difference may wrap around in a signed type; seen as unsigned it is right again.
    lowest = values.min()
    codes, used = _count((values - lowest).view(f"u{values.itemsize}"))
    return codes, used.astype(values.dtype) + lowest


def _count(offsets: NDArray[Any]) -> _Coded:
    counts = np.bincount(offsets)
    used = np.flatnonzero(counts)
    return _renumber(offsets, used, len(counts)), used


def _factorise_floats(values: NDArray[Any]) -> _Coded:
    seen = ~np.isnan(values)
    if not seen.all():
        codes, labels = _factorise_floats(values[seen])
        return _scatter(codes, seen), labels
    if _are_small_whole_numbers(values):
        codes, labels = _factorise_integers(values.astype(np.int64))
        return codes, labels.astype(values.dtype)
    # Adding zero turns -0.0 into 0.0: which of the two comes first must not matter.
    return _factorise_by_sorting(values + 0.0)


def _factorise_times(values: NDArray[Any]) -> _Coded:
    seen = ~np.isnat(values)
    codes, labels = _factorise_by_sorting(values[seen])
    return _scatter(codes, seen), labels


def _are_small_whole_numbers(values: NDArray[Any]) -> bool:
    if len(values) == 0 or np.abs(values).max() > COUNTED_RANGE:
        return False
    return bool(np.array_equal(values, np.trunc(values)))


def _factorise_by_sorting(values: NDArray[Any]) -> _Coded:
    labels, codes = np.unique(values, return_inverse=True)
    return codes.astype(code_dtype(len(labels))), labels


class _CellError(TableError, TypeError):
    """A cell that can be no state: scikit-learn's contract wants a TypeError too."""


def _factorise_objects(name: str, values: NDArray[Any]) -> _Coded:
    cells = _unboxed(values)
    kinds = set(map(type, cells))
    if any(issubclass(kind, complex) for kind in kinds):
        raise TableError(f"Complex data not supported: column {name!r} holds complex numbers.")
    labels, codes = _distinct(name, cells, kinds)
    if int in kinds:
        # 1 and 1.0 are one state: its label must not depend on which of them came first.
        labels = [_whole(label) for label in labels]
    return _mark_gaps(codes, np.fromiter(labels, dtype=object, count=len(labels)))


def _unboxed(values: NDArray[Any]) -> list[Any]:
    return [cell.item() if type(cell) in _BOXED else cell for cell in values.tolist()]


_BOXED = frozenset(
    {np.bool_, np.str_, np.bytes_, np.float16, np.float32, np.float64, np.complex64}
    | {np.complex128, np.int8, np.int16, np.int32, np.int64}
    | {np.uint8, np.uint16, np.uint32, np.uint64}
)


def _distinct(name: str, cells: list[Any], kinds: set[type]) -> tuple[list[Any], Codes]:
    # True equals 1 for a dict, but they are two answers in a table.
    mixed = bool in kinds and len(kinds) > 1
    keys = [(type(cell) is bool, cell) for cell in cells] if mixed else cells
    index: dict[Any, int] = {}
    try:
        codes = np.array([index.setdefault(key, len(index)) for key in keys], dtype=np.int32)
    except TypeError as error:
        raise _CellError(_unhashable(name, cells)) from error
    labels = [label for _, label in index] if mixed else list(index)
    return labels, codes.astype(code_dtype(len(labels)))


def _unhashable(name: str, cells: Sequence[Any]) -> str:
    culprit = next(cell for cell in cells if not _is_hashable(cell))
    return (
        f"column {name!r} holds {quoted(culprit)}, a {type(culprit).__name__}; the "
        "argument must be a table of strings, booleans, numbers or other plain values."
    )


def _is_hashable(cell: Any) -> bool:
    try:
        hash(cell)
    except TypeError:
        return False
    return True


def _whole(label: Any) -> Any:
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _mark_gaps(codes: Codes, labels: NDArray[Any]) -> _Coded:
    seen = np.array([not is_gap(label) for label in labels], dtype=bool)
    if seen.all():
        return codes, labels
    used = np.flatnonzero(seen)
    return _renumber(codes, used, len(labels)), labels[used]


def _renumber(codes: NDArray[Any], used: NDArray[np.intp], n_labels: int) -> Codes:
    """Number the used labels 0, 1, ...; the others, and GAP, become GAP."""
    dtype = code_dtype(len(used))
    if len(used) == n_labels:
        return codes.astype(dtype)
    # One entry more than labels: GAP, being -1, finds the last.
    table = np.full(n_labels + 1, GAP, dtype=dtype)
    table[used] = np.arange(len(used))
    renumbered: Codes = table[codes]
    return renumbered


def _scatter(codes: Codes, seen: NDArray[np.bool_]) -> Codes:
    """Put the codes of the seen rows into their places among all rows."""
    everywhere = np.full(len(seen), GAP, dtype=codes.dtype)
    everywhere[seen] = codes
    return everywhere
