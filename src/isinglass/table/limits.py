"""The gate that every table passes: nothing beyond it is too large for the core or the machine."""

from __future__ import annotations

import os
from collections.abc import Sequence

from isinglass.core import MAX_ROWS, MAX_STATES
from isinglass.errors import TableError, TooManyStates
from isinglass.table.coding.factor import Factor
from isinglass.wording import counted, listing

__all__ = ["check_limits", "memory"]

_UNKNOWN_MEMORY = 1 << 35


def memory() -> int:
    """Bytes of memory that the machine has; a guess where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on every system
        return _UNKNOWN_MEMORY


def check_limits(
    names: Sequence[str], factors: Sequence[Factor], max_states: int, missing: str
) -> None:
    """Raise TableError if a column has too many states, or the table too many cells.

    A column may have `max_states` states; with the missing state, never more than a byte holds.
    """
    wide = [
        (name, factor, limit)
        for name, factor in zip(names, factors, strict=True)
        if len(factor.labels) > (limit := _most_labels(factor, max_states, missing))
    ]
    if wide:
        others = [f"{name!r} ({len(factor.labels):,})" for name, factor, _ in wide[1:]]
        also = f" So have {listing(others, 5)}." if others else ""
        raise TooManyStates(_too_many(*wide[0]) + also)
    _check_size(len(factors[0].codes), [len(factor.labels) for factor in factors])


def _most_labels(factor: Factor, max_states: int, missing: str) -> int:
    # Gaps are counted only where they could matter: looking for them takes time.
    near = len(factor.labels) >= MAX_STATES and missing in ("state", "available")
    return min(max_states, MAX_STATES - bool(near and factor.gaps.any()))


def _too_many(name: str, factor: Factor, limit: int) -> str:
    count = len(factor.labels)
    ways = ["drop it"]
    if factor.reads_as_numbers:
        ways.insert(0, f"bin it (bins={{{name!r}: 4}})")
    if count < MAX_STATES:
        ways.append("raise max_states")
    return (
        f"column {name!r} has {count} distinct values; at most {limit} states are supported. "
        f"{_either(ways)}."
    )


def _either(ways: Sequence[str]) -> str:
    """The ways on as the end of a message: 'Bin it, drop it, or raise the limit'."""
    listed = f"{', '.join(ways[:-1])}, or {ways[-1]}" if len(ways) > 2 else " or ".join(ways)
    return listed[0].upper() + listed[1:]


def _check_size(rows: int, n_states: Sequence[int]) -> None:
    if rows > MAX_ROWS:
        raise TableError(
            f"the table has {counted(rows, 'row')}; at most {MAX_ROWS:,} are supported. Count "
            "equal rows, and give their numbers as sample_weight."
        )
    # A byte for each cell, and a bit for each state of it.
    needed, there = rows * (len(n_states) + sum(n_states) / 8), memory()
    if needed > there:
        raise TableError(
            f"{counted(rows, 'row')} of {counted(len(n_states), 'column')} need {needed / 1e9:.3g} "
            f"GB, and this machine has {there / 1e9:.3g} GB. Take fewer columns, or count equal "
            "rows and give their numbers as sample_weight."
        )
