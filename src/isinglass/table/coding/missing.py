"""What becomes of gaps: an error that names the ways on, fewer rows, a state, or both of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import MissingValues, SettingError, TableError
from isinglass.table.coding.factor import Factor
from isinglass.table.notes import Note
from isinglass.wording import counted, listing, quoted

__all__ = ["check_missing", "complete_rows", "gap_notes"]

WAYS = ("error", "drop", "state", "available")


def check_missing(missing: Any) -> None:
    """Raise SettingError unless it names a way to treat gaps."""
    if not isinstance(missing, str) or missing not in WAYS:
        ways = '"error", "drop", "state" or "available"'
        raise SettingError(f"missing must be {ways}, got {quoted(missing)}.")


def complete_rows(
    names: Sequence[str], factors: Sequence[Factor], missing: str
) -> NDArray[np.bool_] | None:
    """The rows to keep, None for all; raise if gaps are an error or nothing is left."""
    if missing in ("state", "available"):
        return None
    counts = _gap_counts(names, factors)
    if not counts:
        return None
    complete: NDArray[np.bool_] = ~np.logical_or.reduce([factor.gaps for factor in factors])
    if missing == "error":
        raise MissingValues(_ways_on(counts, complete))
    if not complete.any():
        raise TableError(
            f'no row is complete, so none remains with missing="drop": missing are '
            f'{_named(counts)}. Drop those columns, or use missing="state".'
        )
    return complete


def gap_notes(
    names: Sequence[str],
    factors: Sequence[Factor],
    kept: NDArray[np.bool_] | None,
    missing: str,
) -> tuple[Note, ...]:
    """What is worth telling about gaps that were no error."""
    counts = _gap_counts(names, factors)
    if kept is not None:
        dropped = f"{int((~kept).sum()):,} of {counted(len(kept), 'row')} dropped"
        return (Note(None, "missing values", f"{dropped}; missing were {_named(counts)}"),)
    done = {
        "state": "taken as a state, None",
        "available": "left out where it is explained, a state of its own where it explains",
    }
    return tuple(
        Note(
            name,
            "missing values",
            f"{count:,} of {counted(len(factors[0].codes), 'row')}; {done[missing]}",
        )
        for name, count in counts.items()
    )


def _gap_counts(names: Sequence[str], factors: Sequence[Factor]) -> dict[str, int]:
    counts = {
        name: int(np.count_nonzero(factor.gaps))
        for name, factor in zip(names, factors, strict=True)
    }
    return {name: count for name, count in counts.items() if count}


def _named(counts: dict[str, int]) -> str:
    return listing([f"{name!r} ({count:,})" for name, count in counts.items()], 5)


def _ways_on(counts: dict[str, int], complete: NDArray[np.bool_]) -> str:
    left = f"{int(complete.sum()):,} of {len(complete):,} remain"
    return (
        f"missing values (NaN, None or empty) in {counted(len(counts), 'column')}: "
        f"{_named(counts)}. Choose one of three ways: "
        f'missing="drop" uses only complete rows ({left}), and assumes that gaps are '
        'unrelated to the values; missing="state" takes a gap as an answer of its own, so '
        'shared gaps become links; missing="available" explains each column by the '
        "rows where it is seen, a missing neighbour being one more answer of that neighbour."
    )
