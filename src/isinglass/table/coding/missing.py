"""What becomes of missing values: an error that names the ways on, fewer rows, or a state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import MissingValues, Setting, TableError
from isinglass.table.coding.factor import Factor
from isinglass.table.notes import Note
from isinglass.wording import counted, listing

_DONE = {
    "state": "taken as a state, None",
    "available": (
        "rows without this column's value are left out where it is the target; as a neighbour, "
        "missing is one more state"
    ),
}


def complete_rows(
    names: Sequence[str], factors: Sequence[Factor], missing: str
) -> NDArray[np.bool_] | None:
    """The rows to keep, None for all; raise if missing values are an error or nothing is left."""
    if missing in _DONE:
        return None
    counts = _counts(names, factors)
    if not counts:
        return None
    complete: NDArray[np.bool_] = ~np.logical_or.reduce([factor.missing for factor in factors])
    if missing == "error":
        raise _refused(counts, complete)
    if not complete.any():
        raise TableError(
            "no row is complete, so none remains with ",
            Setting("missing", "drop"),
            f": missing are {_named(counts)}. Drop those columns, or use ",
            Setting("missing", "state"),
            ".",
        )
    return complete


def notes_on_missing(
    names: Sequence[str], factors: Sequence[Factor], kept: NDArray[np.bool_] | None, missing: str
) -> tuple[Note, ...]:
    """What is worth telling about missing values that were no error."""
    counts = _counts(names, factors)
    rows = counted(len(factors[0].codes), "row")
    if kept is not None:
        dropped = f"{int((~kept).sum()):,} of {rows} dropped; missing were {_named(counts)}"
        return (Note(None, "missing values", dropped),)
    return tuple(
        Note(name, "missing values", f"{count:,} of {rows}; {_DONE[missing]}")
        for name, count in counts.items()
    )


def _counts(names: Sequence[str], factors: Sequence[Factor]) -> dict[str, int]:
    counts = {
        name: int(np.count_nonzero(factor.missing))
        for name, factor in zip(names, factors, strict=True)
    }
    return {name: count for name, count in counts.items() if count}


def _named(counts: dict[str, int]) -> str:
    return listing([f"{name!r} ({count:,})" for name, count in counts.items()], 5)


def _refused(counts: dict[str, int], complete: NDArray[np.bool_]) -> MissingValues:
    left, rows = int(complete.sum()), len(complete)
    return MissingValues(
        f"missing values (NaN, None or empty) in {counted(len(counts), 'column')}: "
        f"{_named(counts)}. Choose one of three ways: ",
        Setting("missing", "drop"),
        f" uses only complete rows ({left:,} of {rows:,} remain) and assumes that whether a value "
        "is missing has nothing to do with the values; ",
        Setting("missing", "state"),
        " makes missing a state of its own, so columns that are missing together become linked; ",
        Setting("missing", "available"),
        " leaves out, for each column, the rows where it is missing, and is for few missing "
        "values: with many it makes false links.",
        columns=counts,
        complete_rows=left,
        rows=rows,
    )
