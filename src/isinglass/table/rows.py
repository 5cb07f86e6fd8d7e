"""The rows that exist: weight above zero, missing values settled. Fits and scores start here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import BadWeights, MissingValues, Part, Setting, TableError
from isinglass.table.cells import Source, check_shape, open_source
from isinglass.table.clusters import numbered, split_clusters
from isinglass.table.coding.factor import Codes, Factor, factorise
from isinglass.table.coding.states import check_finite
from isinglass.table.column import Note
from isinglass.wording import counted, listing, quoted


@dataclass(frozen=True)
class Rows:
    """The rows that exist, as in `Table`; states have no order yet."""

    names: tuple[str, ...]
    factors: tuple[Factor, ...]
    weights: NDArray[np.float64]
    library: str | None
    notes: tuple[Note, ...]
    kept: NDArray[np.intp] | None = None
    dropped: int = 0
    clusters: NDArray[np.intp] | None = None


def read_rows(
    X: Any,
    sample_weight: ArrayLike | str | None,
    missing: str,
    clusters: ArrayLike | str | None = None,
) -> Rows:
    """Read any table, leave out the rows that do not count, and settle missing values."""
    source = open_source(X)
    columns, weights = split_weights(source, sample_weight)
    columns, labels = split_clusters(source, columns, clusters)
    exists = weights > 0
    left = np.flatnonzero(exists)
    if not exists.all():
        source, weights = source.rows(exists), weights[exists]
    names = tuple(source.names[position] for position in columns)
    factors = tuple(factorise(source.names[at], source.cells(at)) for at in columns)
    kept, notes = settle_missing(names, factors, missing)
    dropped = 0 if kept is None else int(np.count_nonzero(~kept))
    if kept is not None:
        factors, weights = tuple(factor.rows(kept) for factor in factors), weights[kept]
        left = left[kept]
    for name, factor in zip(names, factors, strict=True):
        check_finite(name, factor)
    indices = None if len(left) == len(exists) else left
    groups = None if labels is None else numbered(labels[left])
    return Rows(names, factors, weights, source.library, notes, indices, dropped, groups)


def stack(codes: Sequence[Codes]) -> NDArray[np.uint8]:
    """The columns side by side, each contiguous, a byte for each cell."""
    table = np.empty((len(codes[0]), len(codes)), dtype=np.uint8, order="F")
    for position, column in enumerate(codes):
        table[:, position] = column
    return table


WEIGHTS = Setting("sample_weight")


def split_weights(
    source: Source, sample_weight: ArrayLike | str | None
) -> tuple[list[int], NDArray[np.float64]]:
    """The columns of a table, without that of its weights if it has one; the weight of each row."""
    columns = list(range(len(source.names)))
    if not isinstance(sample_weight, str):
        return columns, row_weights(sample_weight, source.n_rows)
    if sample_weight not in source.names:
        known = listing([quoted(known) for known in source.names], 5)
        raise BadWeights(
            WEIGHTS, f" names {sample_weight!r}, which is not a column; the columns are {known}."
        )
    position = source.names.index(sample_weight)
    cells = source.cells(position)
    given = np.full(source.n_rows, np.nan)
    given[slice(None) if cells.null is None else ~cells.null] = _as_floats(cells.seen)
    columns.remove(position)
    check_shape(source.n_rows, len(columns))
    return columns, _checked(given, source.n_rows)


def row_weights(given: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    """The weight of each row, checked; ones if none are given."""
    return _checked(_as_floats(1.0 if given is None else given), n_rows)


def rescale(weights: NDArray[np.float64], n_eff: str | float) -> NDArray[np.float64]:
    """Scale positive weights so that their sum is the number of rows they stand for."""
    if n_eff == "sum":
        if not np.array_equal(weights, np.rint(weights)):
            raise BadWeights(*_not_counts(weights))
        return weights
    rows = _kish(weights) if isinstance(n_eff, str) else float(n_eff)
    shares = weights / weights.max()
    factor = rows / shares.sum()
    if abs(factor / weights.max() - 1) < 1e-12:  # done before; rounding would move them once more
        return weights
    # A share too small to write down is still a row that exists.
    return np.asarray(np.maximum(shares * factor, np.finfo(np.float64).tiny))


def _kish(weights: NDArray[np.float64]) -> float:
    shares = weights / weights.max()
    return float(shares.sum() ** 2 / np.square(shares).sum())


def _not_counts(weights: NDArray[np.float64]) -> tuple[Part, ...]:
    odd = float(weights[weights != np.rint(weights)][0])
    return (
        WEIGHTS,
        f" holds {odd:g}, which is not a count of rows. Round the weights to counts for ",
        Setting("n_eff", "sum"),
        "; or use ",
        Setting("n_eff", "design"),
        f" for sampling weights (here {_kish(weights):.1f} rows, each pair of columns corrected "
        "by its own design effect), or ",
        Setting("n_eff", "kish"),
        " (that number for all pairs); or give ",
        Setting("n_eff"),
        " the number of rows, e.g. their sum, ",
        Setting("n_eff", float(weights.sum())),
        ".",
    )


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
        raise BadWeights(
            WEIGHTS, " must be finite: neither a weight nor their sum may be NaN or infinite."
        )
    if (weights < 0).any():
        raise BadWeights(WEIGHTS, f" must not be negative, got {weights.min():g}.")
    if total == 0:
        raise BadWeights(WEIGHTS, " is zero for all rows; at least one must be positive.")
    return weights


#: What was done about missing values, and what that assumes.
_DONE = {
    "model": (
        "filled by draws from the model that is learned; assumes that whether a value is missing "
        "depends only on observed values"
    ),
    "state": (
        "treated as a state, None; assumes that missing means the same in every row: columns that "
        "are missing together become linked"
    ),
    "available": (
        "the search at this column uses the rows where it is observed; as a neighbour, missing is "
        "one more state; assumes that few values are missing: otherwise some links are false"
    ),
}


def settle_missing(
    names: Sequence[str], factors: Sequence[Factor], missing: str
) -> tuple[NDArray[np.bool_] | None, tuple[Note, ...]]:
    """The rows to keep, None for all, and notes; raise if values must not be missing."""
    every = {name: int(f.missing.sum()) for name, f in zip(names, factors, strict=True)}
    counts = {name: count for name, count in every.items() if count}
    rows = counted(len(factors[0].codes), "row")
    if not counts or missing in _DONE:
        notes = tuple(about_missing(counts, rows, missing))
        return _without_empty_rows(factors, notes) if missing == "model" else (None, notes)
    complete: NDArray[np.bool_] = ~np.logical_or.reduce([factor.missing for factor in factors])
    named = listing([f"{name!r} ({count:,})" for name, count in counts.items()], 5)
    if missing == "error":
        raise refuse_missing(counts, int(complete.sum()), len(complete))
    if not complete.any():
        raise TableError(
            *("no row is complete, so none remains with ", Setting("missing", "drop")),
            f": values are missing in {named}. Drop those columns, or use ",
            *(Setting("missing", "model"), "."),
        )
    return complete, (about_dropped(counts, int((~complete).sum()), rows),)


def about_dropped(counts: Mapping[str, int], dropped: int, rows: str) -> Note:
    """What was done about missing values where incomplete rows are dropped."""
    named = listing([f"{name!r} ({count:,})" for name, count in counts.items()], 5)
    return Note(None, "missing values", f"{dropped:,} of {rows} dropped; missing in {named}")


def about_missing(counts: Mapping[str, int], rows: str, missing: str) -> Iterator[Note]:
    """What was done about the missing values of columns that are kept."""
    for name, count in counts.items():
        yield Note(name, "missing values", f"{count:,} of {rows}; {_DONE[missing]}")


def _without_empty_rows(
    factors: Sequence[Factor], notes: tuple[Note, ...]
) -> tuple[NDArray[np.bool_] | None, tuple[Note, ...]]:
    """Drop rows without any observed value: they say nothing."""
    seen: NDArray[np.bool_] = ~np.logical_and.reduce([factor.missing for factor in factors])
    if seen.all():
        return None, notes
    if not seen.any():
        raise TableError("all values are missing, so there is nothing to learn from.")
    dropped = f"{int((~seen).sum()):,} of {counted(len(seen), 'row')} dropped: they have no values"
    return seen, (*notes, Note(None, "empty rows", dropped))


def refuse_missing(
    counts: Mapping[str, int], left: int, rows: int, *, in_memory: bool = True
) -> MissingValues:
    """What is said where values are missing, in so many rows of each column; `left` are complete.

    Rows that are not in memory can only be dropped, or have a state more.

    >>> str(refuse_missing({"age": 3}, 7, 10))[:59]
    "missing values (NaN, None or empty) in 1 column: 'age' (3)."
    """
    named = listing([f"{name!r} ({count:,})" for name, count in counts.items()], 5)
    model = (
        Setting("missing", "model"),
        " fills them from the model that is learned, and assumes that whether a value is missing "
        "depends only on observed values; ",
    )
    available = (
        "; ",
        Setting("missing", "available"),
        " uses, for each column, the rows where it is observed, and is for few missing values: "
        "with many it creates false links",
    )
    return MissingValues(
        f"missing values (NaN, None or empty) in {counted(len(counts), 'column')}: "
        f"{named}. Choose one of {'four' if in_memory else 'two'} ways: ",
        *(model if in_memory else ()),
        Setting("missing", "drop"),
        f" uses only complete rows ({left:,} of {rows:,} remain), and assumes that whether a value "
        "is missing has nothing to do with the values; ",
        Setting("missing", "state"),
        " treats missing as one more state, so columns that are missing together become linked",
        *(available if in_memory else ()),
        ".",
        columns=counts,
        complete_rows=left,
        rows=rows,
    )
