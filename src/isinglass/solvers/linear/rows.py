"""The rows that fits tell apart.

A sparse column moves few rows. All rows in which no column of a support has an entry have the same
predictor; the losses that are used so are linear in y, or squares in it, so that these rows act as
one, with their mean answer. A fit then costs what its columns store, and sums over all rows are
those of the first fit, changed in few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.design import Moments, SparseDesign
from isinglass.losses.linear import LinearLoss

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

#: Where more than this share of the rows has an entry, each counts for itself.
MANY = 0.5


class Rows:
    """Every row for itself.

    Parameters
    ----------
    loss : LinearLoss
    y : (n,) array
        Answers as numbers.

    Attributes
    ----------
    share, y : arrays
        Of the rows that are told apart.
    spread : float
        Sum of the shares times the squared distances of y from the mean answer, over rows that act
        as one.
    """

    def __init__(self, loss: LinearLoss, y: Array) -> None:
        self.design: Any = loss.design
        self.share, self.y, self.spread = loss.share, y, 0.0

    def __len__(self) -> int:
        return len(self.share)

    def mean(self) -> Array:
        """Weighted means of all columns; dense `moments` are about them."""
        mean: Array = self.design.centre_by(self.share)
        return mean

    def squares(self, mean: Array) -> Array:
        """Sums of shares times squared distances of the columns from `mean`."""
        squares: Array = self.design.squares(self.share, mean)
        return squares

    def touch(self, columns: Sequence[int]) -> int:
        """Tell rows apart in which some columns have entries; returns how many are new."""
        return 0

    def columns(self, which: Sequence[int] | Numbers) -> Array:
        """Some columns, whose rows have been told apart."""
        columns: Array = self.design.columns(which)
        return columns

    def beside(self, which: Numbers, eta: Array) -> tuple[Array, Array, Array, Array]:
        """Some other columns; predictor, answers and shares of all rows that they tell apart."""
        return self.columns(which), eta, self.y, self.share

    def slopes(self, slope: Array) -> Array:
        """Sums over all rows of columns times shares times (expected - y).

        `slope` has those of the rows that are told apart.
        """
        slopes: Array = self.design.products(slope[:, None])[:, 0]
        return slopes

    def moments(self, slope: Array, weights: Array) -> Moments:
        """The same sums, and those of columns and their squares times weights."""
        moments: Moments = self.design.moments(slope[:, None], weights[:, None])
        return moments

    def all_rows(self, values: Array) -> Array:
        """Values of all rows, from those that are told apart."""
        return values


class FewRows(Rows):
    """Rows with an entry in some column of interest; the first one is all others."""

    design: SparseDesign

    def __init__(self, loss: LinearLoss, y: Array) -> None:
        super().__init__(loss, y)
        self.all_y, self.all_shares = y, loss.share
        start = self.design.moments((y * loss.share)[:, None], loss.share[:, None])
        self.of_answers, self.of_shares, self.of_squares = (part[:, 0] for part in start)
        self.place = np.zeros(len(y), dtype=np.intp)
        self.apart = np.zeros(0, dtype=np.intp)
        self._collect()

    def mean(self) -> Array:
        return self.of_shares

    def squares(self, mean: Array) -> Array:
        return self.design.squares(self.all_shares, mean, self.of_squares)

    def touch(self, columns: Sequence[int]) -> int:
        rows = self.design.entries(np.asarray(columns, dtype=np.intp))[0]
        new = np.unique(rows[self.place[rows] == 0])
        if len(self.apart) + len(new) > MANY * len(self.place):
            new = np.flatnonzero(self.place == 0)
        if not len(new):
            return 0
        self.place[new] = 1 + len(self.apart) + np.arange(len(new))
        self.apart = np.concatenate([self.apart, new])
        self._collect()
        return len(new)

    def _collect(self) -> None:
        others = self.place == 0
        share = self.all_shares[others]
        total = float(share.sum())
        y = float(share @ self.all_y[others]) / total if total > 0 else 0.0
        self.spread = float(share @ (self.all_y[others] - y) ** 2)
        self.share = np.concatenate([[total], self.all_shares[self.apart]])
        self.y = np.concatenate([[y], self.all_y[self.apart]])

    def columns(self, which: Sequence[int] | Numbers) -> Array:
        return self._columns(which, self.place, len(self))

    def _columns(self, which: Sequence[int] | Numbers, place: Numbers, size: int) -> Array:
        rows, values, begin = self.design.entries(np.asarray(which, dtype=np.intp))
        columns = np.zeros((size, len(which)), order="F")
        columns[place[rows], np.repeat(np.arange(len(which)), np.diff(begin))] = values
        return columns

    def beside(self, which: Numbers, eta: Array) -> tuple[Array, Array, Array, Array]:
        rows = self.design.entries(which)[0]
        new = np.unique(rows[self.place[rows] == 0])
        place = self.place.copy()
        place[new] = len(self) + np.arange(len(new))
        share = np.append(self.share, self.all_shares[new])
        y = np.append(self.y, self.all_y[new])
        share[0], y[0] = less(share[0], y[0], self.all_shares[new], self.all_y[new])
        eta = np.append(eta, np.full(len(new), eta[0]))
        return self._columns(which, place, len(eta)), eta, y, share

    def slopes(self, slope: Array) -> Array:
        if self._none_left():
            own: Array = self.design.moments_of_rows(self.apart, slope[1:])[0]
            return own
        level, apart = self._level(slope + self.share * self.y)
        slopes: Array = self.design.moments_of_rows(self.apart, apart)[0]
        slopes += level * self.of_shares
        slopes -= self.of_answers
        return slopes

    def moments(self, slope: Array, weights: Array) -> Moments:
        if self._none_left():
            sums = self.design.moments_of_rows(self.apart, slope[1:], weights[1:])
            return Moments(*(part[:, None] for part in sums))
        level, slopes_apart = self._level(slope + self.share * self.y)
        weight, weights_apart = self._level(weights)
        once, first, second = self.design.moments_of_rows(self.apart, slopes_apart, weights_apart)
        once += level * self.of_shares
        once -= self.of_answers
        first += weight * self.of_shares
        second += weight * self.of_squares
        return Moments(once[:, None], first[:, None], second[:, None])

    def _none_left(self) -> bool:
        """Whether all rows are told apart."""
        return not self.share[0] > 0

    def _level(self, values: Array) -> tuple[float, Array]:
        """What the other rows would give per share were they all, and what those apart change."""
        level = float(values[0] / self.share[0])
        return level, values[1:] - level * self.share[1:]

    def all_rows(self, values: Array) -> Array:
        return values[self.place]


def less(share: float, y: float, shares: Array, answers: Array) -> tuple[float, float]:
    """Share and mean answer of rows that act as one, without some of them."""
    left = share - float(shares.sum())
    if not left > 1e-12 * share:
        return 0.0, 0.0
    return left, (share * y - float(shares @ answers)) / left


def rows_of(loss: LinearLoss, y: Array) -> Rows:
    """The rows of a regression whose loss allows them to act as one."""
    return FewRows(loss, y) if isinstance(loss.design, SparseDesign) else Rows(loss, y)
