"""The columns of a regression: dense or sparse, checked once, and copied only where they must be.

Everything that a loss of a linear predictor asks of X is here: a few columns as numbers, products
of all columns with vectors, and their extreme values. Sums are taken in float64 whatever X holds;
of float32 a part at a time is converted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from isinglass.core import cores
from isinglass.core.regression import (
    column_moments,
    moments_of_rows,
    stored_extremes,
    stored_moments,
)
from isinglass.errors import NotFinite, SettingError
from isinglass.wording import listed

Array = NDArray[np.float64]

#: A few columns stay sparse if they are large, and store less than this share of their entries.
SMALL, FEW = 10_000, 0.1


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
            self.low = X.min(axis=0).astype(np.float64)
            self.high = X.max(axis=0).astype(np.float64)
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
    """Columns of a scipy sparse matrix: neither made dense nor centred.

    The matrix is kept column by column, and row by row once a few rows are asked for: one of the
    two is the user's.
    """

    def __init__(self, X: Any) -> None:
        self.X = X.tocsc()
        self._by_row = X if X.format == "csr" else None
        if not self.X.has_canonical_format:  # entries may be given in parts, or in any order
            self.X = self.X.copy() if self.X is X else self.X
            self.X.sum_duplicates()
            self._by_row = None
        self.shape = X.shape
        self.low, self.high = stored_extremes(self.X)
        self.centre = np.zeros(X.shape[1])

    def columns(self, which: Sequence[int] | NDArray[np.intp]) -> Array:
        dense = np.zeros((len(self), len(which)), order="F")
        for at, j in enumerate(which):
            own = slice(self.X.indptr[j], self.X.indptr[j + 1])
            dense[self.X.indices[own], at] = self.X.data[own]
        return dense

    def entries(self, which: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array, NDArray[np.intp]]:
        """Rows and values of what some columns store, and where each column begins."""
        starts, ends = self.X.indptr[which], self.X.indptr[which + 1]
        counts = ends - starts
        begin = (np.cumsum(counts) - counts).astype(np.intp)
        at = np.arange(counts.sum()) + np.repeat(starts - begin, counts)
        return self.X.indices[at].astype(np.intp), self.X.data[at].astype(np.float64), begin

    def scaled(self, which: Sequence[int], scale: Array, *, intercept: bool) -> tuple[Any, Array]:
        stored = int(np.diff(self.X.indptr)[list(which)].sum())
        if stored > FEW * len(self) * max(len(which), 1) or len(self) * len(which) < SMALL:
            return super().scaled(which, scale, intercept=intercept)
        columns = self.X[:, which] @ sparse.diags_array(1 / scale)
        if intercept:
            ones = sparse.csc_array(np.ones((len(self), 1)))
            columns = sparse.hstack([ones, columns], format="csc")
        return columns.tocsc(), np.zeros(len(which))

    def products(self, values: Array) -> Array:
        return np.asarray(self.X.T @ values)

    def squares(self, share: Array, mean: Array, second: Array | None = None) -> Array:
        if second is None:
            second = stored_moments(self.X, share, share, threads=cores())[2]
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
            once, first, second = stored_moments(self.X, a, b, threads=cores())[:, :, None]
            return Moments(once, first, second)
        sums = self.products(np.hstack([values, weights]))
        return Moments(sums[:, :q], sums[:, q:], self._sums(lambda x, means: x**2, weights))

    def moments_of_rows(self, rows: NDArray[np.intp], a: Array, b: Array) -> Array:
        """Sums of x a, x b and x^2 b over a few rows, which a and b are of: (3, p)."""
        if self._by_row is None:
            self._by_row = self.X.tocsr()
        return moments_of_rows(self._by_row, rows, a, b)

    def _sums(
        self, function: Callable[[Array, Array], Array], weights: Array, mean: Array | None = None
    ) -> Array:
        """Sums over the stored entries of weights times a function of entry and column mean."""
        X, (n, p) = self.X, self.shape
        mean = self.centre if mean is None else mean
        sums = np.zeros((p, weights.shape[1]))
        step = max(1, p // 16)  # a part of the entries at a time
        for first in range(0, p, step):
            starts = X.indptr[first : min(first + step, p) + 1]
            columns, own = slice(first, first + len(starts) - 1), slice(starts[0], starts[-1])
            means = np.repeat(mean[columns], np.diff(starts))
            entries = function(X.data[own].astype(np.float64), means)
            shape = (len(starts) - 1, n)
            part = sparse.csr_array((entries, X.indices[own], starts - starts[0]), shape=shape)
            sums[columns] = part @ weights
        return sums


def read_design(X: Any) -> Design:
    """Check that X is a matrix of finite numbers, and take it as it is where that can be."""
    if sparse.issparse(X):
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        check_finite(X)
        return SparseDesign(X)
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
    return design


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
