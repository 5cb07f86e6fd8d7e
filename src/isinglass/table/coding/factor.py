"""Distinct labels and a code for every row: the one form that all columns pass through.

Integers of a small range, by far the most common column, are counted rather than sorted.
Labels stay in arrays until somebody needs them, so that a column of a million ids costs
no more than finding out that there are too many of them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.table.coding.codes import MISSING, Coded, Codes, code_dtype, renumber, scatter
from isinglass.table.coding.labels import are_numbers, are_texts_of_numbers, in_utc, plain
from isinglass.table.coding.objects import factorise_objects
from isinglass.table.sources.cells import Cells

COUNTED_RANGE = 1024


@dataclass(frozen=True)
class Factor:
    """One column: `labels[codes]` gives back the cells, and MISSING marks a missing one.

    All labels are distinct; their order means nothing yet.
    """

    codes: Codes
    labels: NDArray[Any]
    categories: tuple[Any, ...] | None = None
    nominal: bool = False
    in_utc: bool = False

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which rows are missing."""
        missing: NDArray[np.bool_] = self.codes == MISSING
        return missing

    @property
    def counts(self) -> NDArray[np.intp]:
        """The number of rows of each label."""
        return np.bincount(self.codes[~self.missing], minlength=len(self.labels))

    @property
    def is_numeric(self) -> bool:
        """Whether all labels are numbers; booleans are not."""
        return self.labels.dtype.kind in "iuf" or are_numbers(self.labels)

    @property
    def reads_as_numbers(self) -> bool:
        """Whether all labels are numbers, or all are texts of numbers such as 01."""
        return self.is_numeric or are_texts_of_numbers(self.labels)

    def rows(self, keep: NDArray[np.bool_]) -> Factor:
        """The same column on fewer rows, without the labels that are gone."""
        kept = replace(self, codes=self.codes[keep])
        used = np.flatnonzero(kept.counts)
        codes, labels = renumber(kept.codes, used, len(self.labels)), self.labels[used]
        return replace(self, codes=codes, labels=labels)

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
    if values.dtype.kind in "biu":
        return _factorise_integers(values)
    if values.dtype.kind == "f":
        return _factorise_floats(values)
    if values.dtype.kind in "Mm":
        return _factorise_times(values)
    return factorise_objects(name, values)


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
    seen = ~np.isnan(values)
    if not seen.all():
        codes, labels = _factorise_floats(values[seen])
        return scatter(codes, seen), labels
    if _are_small_whole_numbers(values):
        codes, labels = _factorise_integers(values.astype(np.int64))
        return codes, labels.astype(values.dtype)
    # Adding zero turns -0.0 into 0.0: which of the two comes first must not matter.
    return _factorise_by_sorting(values + 0.0)


def _factorise_times(values: NDArray[Any]) -> Coded:
    seen = ~np.isnat(values)
    codes, labels = _factorise_by_sorting(values[seen])
    return scatter(codes, seen), labels


def _are_small_whole_numbers(values: NDArray[Any]) -> bool:
    if len(values) == 0 or np.abs(values).max() > COUNTED_RANGE:
        return False
    return bool(np.array_equal(values, np.trunc(values)))


def _factorise_by_sorting(values: NDArray[Any]) -> Coded:
    labels, codes = np.unique(values, return_inverse=True)
    return codes.astype(code_dtype(len(labels))), labels
