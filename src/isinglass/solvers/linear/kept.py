"""Columns that a search has read: most of them come back in the next step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.design import Entries, SparseDesign
from isinglass.solvers.linear.rows import Rows

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

#: Of so many entries of X, one may be kept.
KEPT = 32


class KeptColumns:
    """Columns that were in some support, less their means and divided by their scales.

    `first` columns of ones come before them.
    """

    def __init__(self, rows: Rows, mean: Array, scale: Array, first: int = 0) -> None:
        self.rows, self.mean, self.scale, self.first = rows, mean, scale, first
        self.place: dict[int, int] = {}
        self.Z = np.ones((len(rows), first + 8), order="F")

    @property
    def count(self) -> int:
        """Columns in use, ones included."""
        return self.first + len(self.place)

    def places(self, coordinates: Sequence[int]) -> list[int]:
        """Where some columns are; those that are new are read."""
        new = [i for i in coordinates if i not in self.place]
        if new:
            self.learn(new)
        return [self.place[i] for i in coordinates]

    def columns(self, coordinates: Sequence[int]) -> Array:
        """Some columns, after the `first` ones if there are any."""
        places = self.places(coordinates)  # may make Z wider and longer
        return self.at([*range(self.first), *places])

    def at(self, places: list[int]) -> Array:
        """The columns at some places; a view if they are the first ones."""
        count = len(places)
        return self.Z[:, :count] if places == list(range(count)) else self.Z[:, places]

    def learn(self, new: list[int]) -> None:
        """Read some columns."""
        k, m = self.count, self.count + len(new)
        while m > self.Z.shape[1]:
            self.widen()
        if self.rows.touch(new):
            self._lengthen()
        self.Z[:, k:m] = (self.rows.columns(new) - self.mean[new]) / self.scale[new]
        self.place |= {i: k + at for at, i in enumerate(new)}

    def widen(self) -> None:
        """Make room for as many columns again."""
        k = self.Z.shape[1]
        Z = np.empty((len(self.Z), 2 * k), order="F")
        Z[:, :k] = self.Z
        self.Z = Z

    def _lengthen(self) -> None:
        """Rows that were among the others, the first row, have its values in all columns so far."""
        n = len(self.Z)
        Z = np.empty((len(self.rows), self.Z.shape[1]), order="F")
        Z[:n] = self.Z
        Z[n:] = self.Z[0]
        self.Z = Z


class KeptEntries:
    """What sparse columns store that were looked at, a small part of X."""

    def __init__(self, design: SparseDesign) -> None:
        self.design = design
        self.place = np.full(design.shape[1], -1, dtype=np.int32)
        self.columns: Numbers = np.zeros(0, dtype=np.intp)
        self.entries = design.entries(self.columns)

    def of(self, which: Numbers) -> tuple[Numbers, Entries, NDArray[Any]]:
        """Columns with at least some that are asked for; their entries; where those are."""
        if 2 * len(which) < len(self.columns):  # others would be looked at for nothing
            return which, self.design.entries(which), np.arange(len(which))
        self._add(which[self.place[which] < 0])
        found = self.columns, self.entries, self.place[which]
        if KEPT * len(self.entries[0]) > self.design.X.nnz:
            self.place[self.columns] = -1
            self.columns = self.columns[:0]
            self.entries = self.design.entries(self.columns)
        return found

    def _add(self, new: Numbers) -> None:
        if not len(new):
            return
        self.place[new] = len(self.columns) + np.arange(len(new))
        self.columns = np.concatenate([self.columns, new])
        rows, values, begin = self.entries
        more_rows, more_values, more_begin = self.design.entries(new)
        self.entries = (
            np.concatenate([rows, more_rows]),
            np.concatenate([values, more_values]),
            np.concatenate([begin, begin[-1] + more_begin[1:]]),
        )
