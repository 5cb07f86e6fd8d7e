"""Columns that were in some support, in units of their scales; most come back in the next step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.solvers.linear.rows import Rows

Array = NDArray[np.float64]


class KeptColumns:
    """Columns less their means, divided by their scales, one beside the other.

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
        return self.Z[:, [*range(self.first), *places]]

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
