"""What regressions ask of the core: sums over rows, bounds, and searches over one column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import _core
from isinglass.core.gate import checked_threads

Array = NDArray[np.float64]


def column_moments(
    X: NDArray[Any],
    centre: Array,
    once: Array,
    twice: Array,
    *,
    threads: int,
) -> Array:
    """Sums over the rows of X less its centre, times the rows of `once`; and of its squares, times
    those of `twice`: one row of sums per vector.

    `X` is float32 or float64, in either order of storage, and is read once.
    """
    if not X.shape[1]:
        return np.zeros((len(once) + len(twice), 0))
    once, twice = np.ascontiguousarray(once), np.ascontiguousarray(twice)
    sums = _core.moments(X, centre, once, twice, threads=checked_threads(threads))
    return sums.reshape(-1, X.shape[1])


def column_ends(X: NDArray[Any], *, threads: int) -> tuple[Array, Array]:
    """The smallest and the largest value of each column; NaN if it holds NaN or infinite values.

    `X` is as in `column_moments`, and has rows and columns.
    """
    low, high = _core.ends(X, threads=checked_threads(threads)).reshape(2, -1)
    return low, high


def stored_moments(X: Any, a: Array, b: Array, *, threads: int) -> Array:
    """Sums over the stored entries x of each column of a sparse matrix: of x a, x b and x^2 b.

    `X` is a csc_array of float32 or float64; a and b have one number per row of X.
    """
    if not X.shape[1]:
        return np.zeros((3, 0))
    parts = X.data, X.indices, X.indptr
    sums = _core.stored_moments(*parts, a, b, threads=checked_threads(threads))
    return sums.reshape(3, -1)


def moments_of_rows(
    X: Any, rows: NDArray[np.intp], a: Array, b: Array | None, *, threads: int
) -> Array:
    """The same sums over a few rows of a csr_array; a and b have one number per such row.

    Without b, only those of x a: (1, p). Columns must be in increasing order in each row.
    """
    if not len(rows) or not X.shape[1]:
        return np.zeros((1 if b is None else 3, X.shape[1]))
    parts = X.data, X.indices, X.indptr, X.shape[1], rows.astype(np.int64), a
    other = np.zeros(0) if b is None else b
    sums = _core.moments_of_rows(*parts, other, threads=checked_threads(threads))
    return sums.reshape(X.shape[1], -1).T


def stored_extremes(X: Any) -> tuple[Array, Array]:
    """The smallest and the largest value of each column of a csc_array."""
    low, high = _core.stored_extremes(X.data, X.indices, X.indptr, X.shape[0]).reshape(2, -1)
    return low, high


class ColumnsOfRows:
    """Columns of a csr_array, without a second copy of it: where their entries are is kept.

    Attributes
    ----------
    low, high : (p,) arrays
        The smallest and the largest value of each column.
    """

    def __init__(self, X: Any) -> None:
        self._values, self._row_begin = X.data, X.indptr
        found = _core.places_of_columns(X.data, X.indices, X.indptr, X.shape[1])
        self._begin, self._places, self._row_at, ends = found
        self.low, self.high = ends.reshape(2, -1)

    def entries(self, which: NDArray[np.intp]) -> tuple[NDArray[np.intp], Array, NDArray[np.intp]]:
        """Rows and values of what some columns store, where each column begins, and the end."""
        rows, values = _core.entries_of_columns(
            self._values,
            self._row_begin,
            self._begin,
            self._places,
            self._row_at,
            which.astype(np.int64),
        )
        return rows.astype(np.intp, copy=False), values, beginnings(self._begin, which)


def beginnings(begin: NDArray[Any], which: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where each of some vectors begins if they are put one after the other; and where all end."""
    counts = begin[which + 1] - begin[which]
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)


def closer_look(
    entries: tuple[NDArray[np.intp], Array, NDArray[np.intp]],
    *,
    ends: tuple[Array, Array, Array],
    rows: tuple[Array, Array, Array],
    level: tuple[float, float] | None,
    poisson: bool,
) -> Array:
    """What some sparse columns gain at least and at most in a logistic or Poisson loss.

    `entries` are their rows, values, and where each column begins; `ends` their smallest and
    largest values, and their scales; `rows` are predictors, answers and shares; `level` has slope
    and curvature of the intercept, if there is one.
    """
    slope, curvature = level or (0.0, np.inf)
    has_level = level is not None
    places, values, begin = entries
    stored = values, places.astype(np.int64), begin.astype(np.int64)
    found = _core.closer_look(*stored, *ends, poisson, has_level, slope, curvature, *rows)
    return found.reshape(2, -1)


def column_prospects(
    sums: Sequence[Array],
    ends: Sequence[Array],
    *,
    level: float | None,
    weight: float,
    margin: float = 0.0,
) -> tuple[Array, Array]:
    """What every column of a regression can gain at most, and a guess at it.

    `sums` over rows are those of slopes, and once and twice those of curvatures, of columns less
    their centres; `ends` are their smallest and largest values, centres and scales. `level` is the
    intercept's slope, if there is one, `weight` the sum of the curvatures. With a margin, the loss
    is Huber's, whose curvatures are those of rows that far inside the bend.
    """
    slope, first, second, low, high, centre, scale = map(np.ascontiguousarray, (*sums, *ends))
    found = _core.prospects(
        slope,
        first,
        second,
        low,
        high,
        centre,
        scale,
        intercept=level is not None,
        level_slope=level or 0.0,
        weight=weight,
        margin=margin,
    )
    most, guess = found.reshape(2, -1)
    return most, guess


def least_pairs(
    columns: Array,
    reach: Array,
    held: Array,
    y: Array,
    share: Array,
    *,
    poisson: bool,
    intercept: bool,
    bar: float = -np.inf,
) -> Array:
    """The least logistic or Poisson loss over one column's coefficient and the intercept.

    `columns` are (m, n), with the largest absolute value of each in `reach`; `held` are the
    predictors that they are added to, (m, n) or one for all. With a finite bar, a problem whose
    loss cannot fall by it, nor by what an earlier one has reached, is given up, and infinite. The
    rows of the answer are losses, intercepts and coefficients.
    """
    found = _core.least_pairs(
        poisson,
        intercept,
        np.ascontiguousarray(columns, dtype=np.float64),
        np.ascontiguousarray(reach, dtype=np.float64),
        np.ascontiguousarray(np.atleast_2d(held), dtype=np.float64),
        np.ascontiguousarray(y, dtype=np.float64),
        share,
        bar,
    )
    return found.reshape(3, -1)


def row_terms(
    eta: Array,
    y: Array,
    share: Array,
    *,
    poisson: bool,
) -> tuple[float, Array, Array]:
    """The mean logistic or Poisson loss at a predictor, and slopes and curvatures of its rows."""
    found = _core.row_terms(poisson, np.ascontiguousarray(eta), y, share)
    n = len(eta)
    return float(found[-1]), found[:n], found[n : 2 * n]
