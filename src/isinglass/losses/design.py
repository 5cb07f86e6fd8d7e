"""The columns of a regression: dense or sparse, checked once, and copied only where they must be.

Everything that a loss of a linear predictor asks of X is here: a few columns as numbers, products
of all columns with vectors, and their extreme values. Sums are taken in float64 whatever X holds;
of float32 a part at a time is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isinglass.core import cores
from isinglass.core.regression import (
    ColumnsOfRows,
    beginnings,
    column_ends,
    column_moments,
    moments_of_rows,
    stored_extremes,
    stored_moments,
)
from isinglass.errors import NotFinite, SettingError
from isinglass.wording import listed

Array = NDArray[np.float64]
Entries = tuple[NDArray[np.intp], Array, NDArray[np.intp]]

#: A few columns stay sparse if they are large, and store less than this share of their entries.
SMALL, FEW = 10_000, 0.1
#: Smaller numbers, and larger ones than its inverse, cannot be squared and added.
SMALLEST = 1e-140


class Moments(NamedTuple):
    """Sums over the rows for every column: of values, and of weights times 1 and 2 factors x."""

    slopes: Array
    first: Array
    second: Array


class Design:
    """What dense and sparse columns share.

    Attributes
    ----------
    X : array or sparse matrix
    shape : (int, int)
        Rows and columns.
    low, high : (p,) arrays
        The smallest and the largest value of each column.
    centre : (p,) array
        What `moments` subtracts from the columns: their means, or zero.
    """

    X: Any
    shape: tuple[int, int]
    low: Array
    high: Array
    centre: Array

    def __len__(self) -> int:
        return self.shape[0]

    def columns(self, which: Sequence[int] | NDArray[np.intp]) -> Array:
        """Some columns, as a dense (n, k) array."""
        raise NotImplementedError

    def scaled(self, which: Sequence[int], scale: Array, *, intercept: bool) -> tuple[Any, Array]:
        """Some columns in units of their scales, and what was subtracted from each.

        With an intercept there is a column of ones in front, and dense columns are centred.
        """
        columns = self.columns(which) / scale
        if not intercept:
            return columns, np.zeros(len(which))
        middle = columns.mean(axis=0)
        return np.column_stack([np.ones(len(self)), columns - middle]), middle

    def products(self, values: Array) -> Array:
        """Sum over rows of x times each of the values: ``X.T @ values``, (p, q)."""
        raise NotImplementedError

    def moments(self, values: Array, weights: Array) -> Moments:
        """Products of the centred columns with (n, q) values, and with (n, r) weights once and
        twice.
        """
        raise NotImplementedError

    def squares(self, share: Array, mean: Array) -> Array:
        """Sum over rows of the shares times (x - mean)^2, without cancellation."""
        raise NotImplementedError

    def centre_by(self, share: Array) -> Array:
        """Return the columns' means, by shares of the rows; dense `moments` subtract them."""
        return self.products(share[:, None])[:, 0]

    def predictor(self, coef: Array) -> Array:
        """``X @ coef`` of (p, q) coefficients, most of which are zero."""
        used = np.flatnonzero(coef.any(axis=1))
        product: Array = self.columns(used) @ coef[used]
        return product


class DenseDesign(Design):
    """Columns in an array of float32 or float64, in either order of storage."""

    def __init__(self, X: NDArray[Any]) -> None:
        self.X = X
        self.shape = X.shape
        if X.size:
            self.low, self.high = column_ends(X, threads=cores())
        else:
            self.low = self.high = np.zeros(X.shape[1])
        self.centre = np.zeros(X.shape[1])

    def columns(self, which: Sequence[int] | NDArray[np.intp]) -> Array:
        return np.asarray(self.X[:, which], dtype=np.float64, order="F")

    def centre_by(self, share: Array) -> Array:
        self.centre = super().centre_by(share)
        return self.centre

    def products(self, values: Array) -> Array:
        if self.X.dtype == np.float64:
            product: Array = self.X.T @ values
            return product
        sums = self._sums(np.zeros(self.shape[1]), values.T, np.zeros((0, len(self))))
        return sums.T

    def squares(self, share: Array, mean: Array) -> Array:
        sums: Array = self._sums(mean, np.zeros((0, len(self))), share[None])[0]
        return sums

    def moments(self, values: Array, weights: Array) -> Moments:
        q, r = values.shape[1], weights.shape[1]
        sums = self._sums(self.centre, np.hstack([values, weights]).T, weights.T)
        return Moments(sums[:q].T, sums[q : q + r].T, sums[q + r :].T)

    def _sums(self, centre: Array, once: Array, twice: Array) -> Array:
        return column_moments(self.X, centre, once, twice, threads=cores())


class SparseDesign(Design):
    """Columns of a scipy sparse matrix, in the order in which it is stored: neither made dense nor
    centred.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape = X.shape
        self.centre = np.zeros(X.shape[1])

    def entries(self, which: NDArray[np.intp]) -> Entries:
        """Rows and values of what some columns store, where each column begins, and the end."""
        raise NotImplementedError

    def moments_of_rows(self, rows: NDArray[np.intp], a: Array, b: Array | None = None) -> Array:
        """Sums of x a over a few rows, (1, p); with b also those of x b and x^2 b, (3, p)."""
        raise NotImplementedError

    def _sums(
        self, function: Callable[[Array, Array], Array], weights: Array, mean: Array
    ) -> Array:
        """Sums over the stored entries of weights times a function of entry and column mean."""
        raise NotImplementedError

    def columns(self, which: Sequence[int] | NDArray[np.intp]) -> Array:
        rows, values, begin = self.entries(np.asarray(which, dtype=np.intp))
        dense = np.zeros((len(self), len(which)), order="F")
        dense[rows, np.repeat(np.arange(len(which)), np.diff(begin))] = values
        return dense

    def scaled(self, which: Sequence[int], scale: Array, *, intercept: bool) -> tuple[Any, Array]:
        rows, values, begin = self.entries(np.asarray(which, dtype=np.intp))
        shape = len(self), len(which)
        if len(rows) > FEW * shape[0] * max(shape[1], 1) or shape[0] * shape[1] < SMALL:
            return super().scaled(which, scale, intercept=intercept)
        columns = sparse.csc_array((values / np.repeat(scale, np.diff(begin)), rows, begin), shape)
        if intercept:
            ones = sparse.csc_array(np.ones((len(self), 1)))
            columns = sparse.hstack([ones, columns], format="csc")
        return columns, np.zeros(len(which))

    def products(self, values: Array) -> Array:
        if self.X.dtype == np.float64:
            return np.asarray(self.X.T @ values)
        return self._sums(lambda x, means: x, values, self.centre)

    def squares(self, share: Array, mean: Array, second: Array | None = None) -> Array:
        if second is None:
            second = self.moments(share[:, None], share[:, None]).second[:, 0]
        if (second >= 2 * mean**2).all():  # nothing cancels
            plain: Array = second - mean**2 * share.sum()
            return plain

        def away(x: Array, means: Array) -> Array:
            return (x - means) ** 2

        stored = self._sums(lambda x, means: np.ones_like(x), share[:, None], mean)[:, 0]
        inside = self._sums(away, share[:, None], mean)[:, 0]
        outside: Array = mean**2 * np.maximum(share.sum() - stored, 0.0)
        return inside + outside

    def moments(self, values: Array, weights: Array) -> Moments:
        q = values.shape[1]
        if q == weights.shape[1] == 1:
            a, b = (np.ascontiguousarray(part[:, 0]) for part in (values, weights))
            return Moments(*(part[:, None] for part in self.moments_of_rows(self._all, a, b)))
        sums = self.products(np.hstack([values, weights]))
        squares = self._sums(lambda x, means: x**2, weights, self.centre)
        return Moments(sums[:, :q], sums[:, q:], squares)

    @property
    def _all(self) -> NDArray[np.intp]:
        return np.arange(len(self))

    def _parts(self) -> Iterator[tuple[slice, slice, NDArray[Any]]]:
        """Some of the columns, or rows, at a time: they, what they store, and where each begins."""
        begin = self.X.indptr
        count = len(begin) - 1
        step = max(1, count // 16)
        for first in range(0, count, step):
            own = begin[first : min(first + step, count) + 1]
            yield slice(first, first + len(own) - 1), slice(own[0], own[-1]), own - own[0]


class ByColumn(SparseDesign):
    """A csc_array: every sum is a pass over it."""

    def __init__(self, X: Any) -> None:
        super().__init__(X)
        self.low, self.high = stored_extremes(X)

    def entries(self, which: NDArray[np.intp]) -> Entries:
        begin = beginnings(self.X.indptr, which)
        at = np.arange(begin[-1]) + np.repeat(self.X.indptr[which] - begin[:-1], np.diff(begin))
        return self.X.indices[at].astype(np.intp), self.X.data[at].astype(np.float64), begin

    def moments_of_rows(self, rows: NDArray[np.intp], a: Array, b: Array | None = None) -> Array:
        whole = np.zeros((2, len(self)))
        whole[0, rows] = a
        if b is not None:
            whole[1, rows] = b
        sums = stored_moments(self.X, *whole, threads=cores())
        return sums[:1] if b is None else sums

    def _sums(
        self, function: Callable[[Array, Array], Array], weights: Array, mean: Array
    ) -> Array:
        sums = np.zeros((self.shape[1], weights.shape[1]))
        for columns, own, begin in self._parts():
            means = np.repeat(mean[columns], np.diff(begin))
            entries = function(self.X.data[own].astype(np.float64), means)
            shape = len(begin) - 1, len(self)
            sums[columns] = sparse.csr_array((entries, self.X.indices[own], begin), shape) @ weights
        return sums


class ByRow(SparseDesign):
    """A csr_array: sums over a few rows are cheap; where the entries of columns are is kept."""

    def __init__(self, X: Any) -> None:
        super().__init__(X)
        self._columns = ColumnsOfRows(X)
        self.low, self.high = self._columns.low, self._columns.high

    def entries(self, which: NDArray[np.intp]) -> Entries:
        return self._columns.entries(which)

    def moments_of_rows(self, rows: NDArray[np.intp], a: Array, b: Array | None = None) -> Array:
        return moments_of_rows(self.X, rows, a, b, threads=cores())

    def _sums(
        self, function: Callable[[Array, Array], Array], weights: Array, mean: Array
    ) -> Array:
        sums = np.zeros((self.shape[1], weights.shape[1]))
        for rows, own, begin in self._parts():
            columns = self.X.indices[own]
            entries = function(self.X.data[own].astype(np.float64), mean[columns])
            shape = len(begin) - 1, self.shape[1]
            sums += sparse.csr_array((entries, columns, begin), shape).T @ weights[rows]
        return sums


def sparse_design(X: Any) -> SparseDesign:
    """The columns of a sparse matrix of any format; a copy only where it is not in good order."""
    if X.format == "csr" and X.has_canonical_format:
        return ByRow(X)
    by_column = X.tocsc()
    if not by_column.has_canonical_format:  # entries may be given in parts, or in any order
        by_column = by_column.copy() if by_column is X else by_column
        by_column.sum_duplicates()
    return ByColumn(by_column)


def read_design(X: Any) -> Design:
    """Check that X is a matrix of finite numbers, and take it as it is where that can be."""
    if sparse.issparse(X):
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        check_finite(X)
        return _sized(sparse_design(X))
    try:
        array = np.asarray(X)
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise SettingError("X must hold numbers only; encode text and categories first.") from error
    if array.ndim != 2:
        raise SettingError(f"X must be (n, p), a table of numbers; got shape {array.shape}.")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    design = DenseDesign(array)
    if not np.isfinite([design.low, design.high]).all():  # they show any of their column
        check_finite(array)
    return _sized(design)


def _sized(design: Design) -> Design:
    """Refuse columns whose numbers are too large or too small to be squared."""
    sizes = np.maximum(np.abs(design.low), np.abs(design.high))
    sound = sound_sizes(sizes)
    if not sound.all():
        j = int(np.argmin(sound))
        raise SettingError(f"column {j} of X {too_far(sizes[j])}")
    return design


def sound_sizes(sizes: Array) -> NDArray[np.bool_]:
    """Which sizes are 0, or such that sums of their squares are neither 0 nor infinite."""
    return np.asarray((sizes == 0) | ((sizes > SMALLEST) & (sizes < 1 / SMALLEST)))


def too_far(size: float) -> str:
    """What is said of numbers of a size that is not sound."""
    return (
        f"holds numbers of size {size:.2g}; from {SMALLEST:g} to {1 / SMALLEST:g} they can be "
        "squared and added. Change its unit."
    )


def check_finite(X: Any) -> None:
    """Refuse NaN and infinite values, and say in which columns they are."""
    stored = X.data if sparse.issparse(X) else X
    if np.isfinite(stored).all():
        return
    if sparse.issparse(X):
        columns = X.tocoo().col[~np.isfinite(X.tocoo().data)]
    else:
        columns = np.flatnonzero(~np.isfinite(X).all(axis=0))
    raise not_finite(tuple(np.unique(columns).tolist()))


def not_finite(columns: tuple[int, ...], names: Sequence[str] | None = None) -> NotFinite:
    """The error for columns with NaN or infinite values."""
    words = [str(j) if names is None else repr(str(names[j])) for j in columns]
    several = "s" if len(words) > 1 else ""
    return NotFinite(
        f"X holds NaN or infinite values in column{several} {listed(words, 3)}; drop or fill them "
        "first.",
        columns=columns,
    )
