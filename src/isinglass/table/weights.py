"""Weights are counts, unless the user says what else they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import BadWeights, Part, Setting
from isinglass.table.sources.cells import Source, check_shape
from isinglass.wording import listing, quoted

WEIGHTS = Setting("sample_weight")


def split_weights(
    source: Source, sample_weight: ArrayLike | str | None
) -> tuple[list[int], NDArray[np.float64]]:
    """The columns of a table, without that of its weights if it has one; the weight of each row."""
    columns = list(range(len(source.names)))
    if isinstance(sample_weight, str):
        position = _position(source, sample_weight)
        given = _cells_as_floats(source, position)
        columns.remove(position)
        check_shape(source.n_rows, len(columns))
    else:
        given = _as_floats(1.0 if sample_weight is None else sample_weight)
    return columns, _checked(given, source.n_rows)


def rescale(weights: NDArray[np.float64], n_eff: str | float) -> NDArray[np.float64]:
    """Scale positive weights so that their sum is the number of rows they stand for."""
    if n_eff == "sum":
        if not np.array_equal(weights, np.rint(weights)):
            raise BadWeights(*_not_counts(weights))
        return weights
    rows = _kish(weights) if n_eff == "kish" else float(n_eff)
    shares = weights / weights.max()
    factor = rows / shares.sum()
    if abs(factor / weights.max() - 1) < 1e-12:  # done before; rounding would move them once more
        return weights
    scaled: NDArray[np.float64] = shares * factor
    # A share too small to write down is still a row that exists.
    return np.maximum(scaled, np.finfo(np.float64).tiny)


def _kish(weights: NDArray[np.float64]) -> float:
    shares = weights / weights.max()
    return float(shares.sum() ** 2 / np.square(shares).sum())


def _not_counts(weights: NDArray[np.float64]) -> tuple[Part, ...]:
    odd = float(weights[weights != np.rint(weights)][0])
    return (
        WEIGHTS,
        f" holds {odd:g}, which is no count of rows. Round the weights to counts for ",
        Setting("n_eff", "sum"),
        "; or use ",
        Setting("n_eff", "kish"),
        f" for sampling weights (here {_kish(weights):.1f} rows); or give ",
        Setting("n_eff"),
        " the number of rows, e.g. their sum, ",
        Setting("n_eff", float(weights.sum())),
        ".",
    )


def _position(source: Source, name: str) -> int:
    if name in source.names:
        return source.names.index(name)
    known = listing([quoted(known) for known in source.names], 5)
    raise BadWeights(WEIGHTS, f" names {name!r}, which is no column; there are {known}.")


def _cells_as_floats(source: Source, position: int) -> NDArray[np.float64]:
    cells = source.cells(position)
    if cells.null is None:
        return _as_floats(cells.seen)
    weights = np.full(source.n_rows, np.nan)
    weights[~cells.null] = _as_floats(cells.seen)
    return weights


def _as_floats(given: Any) -> NDArray[np.float64]:
    try:
        array = np.asarray(given)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise BadWeights(WEIGHTS, " must be numbers, one for each row.")


def _checked(given: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    if given.ndim and given.shape != (n_rows,):
        raise BadWeights(
            WEIGHTS,
            f" has shape {given.shape}, but the table has {n_rows} rows; give one weight for each "
            "row.",
        )
    weights = np.array(np.broadcast_to(given, n_rows))
    with np.errstate(over="ignore", invalid="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise BadWeights(WEIGHTS, " must be finite: no NaN, no inf, no sum beyond either.")
    if (weights < 0).any():
        raise BadWeights(WEIGHTS, f" must not be negative, got {weights.min():g}.")
    if total == 0:
        raise BadWeights(WEIGHTS, " is zero for all rows; at least one must count.")
    return weights
