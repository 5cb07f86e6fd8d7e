"""The gate that every table passes: nothing beyond it is too large for the core or the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from isinglass.core.gate import MAX_ROWS, MAX_STATES
from isinglass.errors import FileError, Part, Setting, TableError, TooManyStates, Wording
from isinglass.table.coding.factor import Factor
from isinglass.wording import counted, listing

_UNKNOWN_MEMORY = 1 << 35
#: Bytes of memory for each byte of a file, while a text of the shortest cells is read, twice over.
_NEEDED = 16
_ALL = 1 << 62


def memory() -> int:
    """Bytes of memory that the machine has; a guess where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on every system
        return _UNKNOWN_MEMORY


def most_bytes(max_bytes: float | None) -> int:
    """The largest content of a file, by default a sixteenth of the machine's memory."""
    return memory() // _NEEDED if max_bytes is None else int(min(max_bytes, _ALL))


def check_size(path: Path, size: float, max_bytes: int) -> None:
    """Raise FileError if the content of a file is larger than it may be."""
    if size > max_bytes:
        raise FileError(
            f"{path} holds more than {max_bytes / 1e9:.3g} GB when it is unpacked, the most that "
            "may be read. Take fewer rows or columns, or raise ",
            Setting("max_bytes"),
            ".",
        )


def check_limits(
    names: Sequence[str], factors: Sequence[Factor], max_states: int, missing: str
) -> None:
    """Raise TableError if a column has too many states, or the table too many cells."""
    wide = [
        (name, factor, limit)
        for name, factor in zip(names, factors, strict=True)
        if len(factor.labels) > (limit := _most_labels(factor, max_states, missing))
    ]
    if wide:
        raise _too_many(wide)
    _check_cells(len(factors[0].codes), [len(factor.labels) for factor in factors])


def _most_labels(factor: Factor, max_states: int, missing: str) -> int:
    # With the missing state, never more than a byte holds; looking for that one takes time.
    near = len(factor.labels) >= MAX_STATES and missing in ("model", "state", "available")
    return min(max_states, MAX_STATES - bool(near and factor.missing.any()))


def _too_many(wide: Sequence[tuple[str, Factor, int]]) -> TooManyStates:
    counts = {name: len(factor.labels) for name, factor, _ in wide}
    (first, count), *others = counts.items()
    _, factor, most = wide[0]
    also = listing([f"{name!r} ({count:,})" for name, count in others], 5)
    return TooManyStates(
        f"column {first!r} has {count} distinct values; at most {most} states are supported. ",
        *_ways_on(first, factor),
        f" So have {also}." if also else "",
        columns=counts,
        most=most,
    )


def _ways_on(name: str, factor: Factor) -> Iterator[Part]:
    """'Bin it (bins={'age': 4}), drop it, or raise max_states.'"""
    binned, raised = factor.reads_as_numbers, len(factor.labels) < MAX_STATES
    if binned:
        yield from ("Bin it (", Setting("bins", {name: 4}), "), " if raised else ") or ")
    drop = "drop it" if binned else "Drop it"
    yield Wording(drop, f"{drop} (--drop)", drop)
    if raised:
        yield from (", or raise " if binned else " or raise ", Setting("max_states"))
    yield "."


def _check_cells(rows: int, n_states: Sequence[int]) -> None:
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
            "rows and give their numbers as ",
            Setting("sample_weight"),
            ".",
        )
