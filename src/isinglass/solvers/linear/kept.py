"""Columns that were in some support, in units of their scales; most come back in the next step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.linear import LinearLoss

Array = NDArray[np.float64]


class KeptColumns:
    """Columns less their means, divided by their scales, one beside the other.

    `first` columns of ones come before them.
    """

    def __init__(self, loss: LinearLoss, mean: Array, first: int = 0) -> None:
        self.loss, self.mean, self.first = loss, mean, first
        self.place: dict[int, int] = {}
        self.Z = np.ones((len(loss.design), first + 8), order="F")

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

    def learn(self, new: list[int]) -> None:
        """Read some columns."""
        k, m = self.count, self.count + len(new)
        while m > self.Z.shape[1]:
            self.widen()
        loss = self.loss
        self.Z[:, k:m] = (loss.design.columns(new) - self.mean[new]) / loss.scale[new]
        self.place |= {i: k + at for at, i in enumerate(new)}

    def widen(self) -> None:
        """Make room for as many columns again."""
        k = self.Z.shape[1]
        Z = np.empty((len(self.Z), 2 * k), order="F")
        Z[:, :k] = self.Z
        self.Z = Z
