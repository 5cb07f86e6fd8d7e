"""What columns say of each other: copies, columns that others determine, totals, one-hot sets.

Everything is guessed from some rows, and then looked at in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.inspection.facts import Facts, some_rows

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[Any]
#: Rows that guesses are made from.
ROWS = 2000
#: With more states than this in all columns together, pairs are not looked at.
MOST_STATES = 6000


@dataclass(frozen=True)
class Relation:
    """What one column has to do with others."""

    column: str
    what: str  # "copy", "determined", "total" or "one-hot"
    others: tuple[str, ...]


@dataclass(frozen=True)
class _Coded:
    """Some rows of the discrete columns, in codes; missing is a state of its own."""

    names: list[str]
    codes: list[Array]
    sizes: list[int]


def relations(frame: pl.DataFrame, facts: Mapping[str, Facts], most: int) -> list[Relation]:
    """All relations among the columns with at most so many states, and totals of others."""
    few = [name for name, each in facts.items() if 2 <= each.distinct <= most]
    coded = _coded(frame, few)
    found: list[Relation] = []
    if sum(coded.sizes) <= MOST_STATES and frame.height > 5:
        tells = _tells(coded)
        found += _copies(frame, coded, tells)
        copies = {each.column for each in found}
        found += _one_hot(frame, facts, [name for name in few if name not in copies])
        busy = {name for each in found if each.what == "one-hot" for name in each.others}
        found += _determined(frame, facts, coded, tells, copies | busy)
    totals = list(_totals(frame, facts))
    taken = {each.column for each in totals}
    return [each for each in found if each.column not in taken] + totals


def _coded(frame: pl.DataFrame, names: Sequence[str]) -> _Coded:
    rows = some_rows(frame.height, ROWS)
    codes, sizes = [], []
    for name in names:
        values = frame[name].gather(rows).to_physical().rank("dense").fill_null(0).to_numpy()
        used, code = np.unique(values, return_inverse=True)
        codes.append(code)
        sizes.append(len(used))
    return _Coded(list(names), codes, sizes)


def _tells(coded: _Coded) -> Array:
    """tells[a, b]: the most states of b that go with one state of a."""
    starts = np.concatenate([[0], np.cumsum(coded.sizes)[:-1]]).astype(int)
    if not len(coded.names):
        return np.zeros((0, 0), dtype=int)
    rows = len(coded.codes[0])
    ones = np.zeros((rows, sum(coded.sizes)), dtype=np.float32)
    for code, start in zip(coded.codes, starts, strict=True):
        ones[np.arange(rows), start + code] = 1
    together = np.add.reduceat(ones.T @ ones > 0, starts, axis=1, dtype=int)
    most: Array = np.maximum.reduceat(together, starts, axis=0)
    return most


def _copies(frame: pl.DataFrame, coded: _Coded, tells: Array) -> Iterator[Relation]:
    """Columns that say the same as an earlier one, whatever the names of their states."""
    done: set[int] = set()
    for a, first in enumerate(coded.names):
        if a in done or coded.sizes[a] < 2:
            continue
        for b in range(a + 1, len(coded.names)):
            if b in done or tells[a, b] != 1 or tells[b, a] != 1 or coded.sizes[b] < 2:
                continue
            if _pairs(frame, first, coded.names[b]) == _states(frame, first):
                done.add(b)
                yield Relation(coded.names[b], "copy", (first,))


def _states(frame: pl.DataFrame, name: str) -> int:
    return frame[name].n_unique()


def _pairs(frame: pl.DataFrame, a: str, b: str) -> int:
    return frame.select(a, b).n_unique()


def _determined(
    frame: pl.DataFrame,
    facts: Mapping[str, Facts],
    coded: _Coded,
    tells: Array,
    without: set[str],
) -> Iterator[Relation]:
    """Columns of which one other column says the state without error."""
    for b, name in enumerate(coded.names):
        rarest = min(count for _, count in facts[name].states)
        if name in without or coded.sizes[b] < 2 or rarest < 5:
            continue
        for a, other in enumerate(coded.names):
            rows_each = frame.height / max(coded.sizes[a], 1)
            if a == b or other in without or tells[a, b] != 1 or rows_each < 10:
                continue
            if _pairs(frame, other, name) == _states(frame, other):
                yield Relation(name, "determined", (other,))
                break


def _one_hot(
    frame: pl.DataFrame, facts: Mapping[str, Facts], names: Sequence[str]
) -> Iterator[Relation]:
    """Neighbouring columns of two states, of which exactly one has the high one in each row."""
    two = {
        name: frame[name] == facts[name].values[-1]
        for name in names
        if facts[name].distinct == 2 and not facts[name].missing
    }
    order = [name for name in frame.columns if name in two]
    counts = {name: int(two[name].sum()) for name in order}
    at = 0
    while at < len(order):
        run, total = [order[at]], counts[order[at]]
        while total < frame.height and at + len(run) < len(order):
            name = order[at + len(run)]
            run.append(name)
            total += counts[name]
        several = len(run) >= 3 and total == frame.height
        if several and not _overlap([two[name] for name in run]):
            yield Relation(run[-1], "one-hot", tuple(run[:-1]))
            at += len(run)
        else:
            at += 1


def _overlap(columns: Sequence[pl.Series]) -> bool:
    so_far = columns[0]
    for column in columns[1:]:
        if (so_far & column).any():
            return True
        so_far = so_far | column
    return False


def _totals(frame: pl.DataFrame, facts: Mapping[str, Facts]) -> Iterator[Relation]:
    """Numbers that are the sum, or the mean, of other columns, up to a constant."""
    numbers = {name: each for name, each in facts.items() if each.is_number and each.distinct > 1}
    items = [name for name, each in numbers.items() if each.whole and each.distinct <= 12]
    sums = [name for name, each in numbers.items() if each.distinct > 12]
    # A short scale may be the total of others, too; of many such there would be no end.
    short = [name for name in items if numbers[name].distinct > 5][:20]
    if len(items) < 2 or not (sums or short) or len(items) > ROWS // 2:
        return
    rows = some_rows(frame.height, ROWS)
    some = frame.select(*items, *sums)[rows].fill_nan(None).drop_nulls().head(5 * len(items) + 50)
    if some.height < len(items) + 10:
        return
    for name in short:  # first, since items and their total are too many for what follows
        (found,) = _parts(some, [name], [item for item in items if item != name])
        if found and _is_total(frame, name, found):
            items.remove(name)
            yield Relation(name, "total", tuple(found))
    for name, found in zip(sums, _parts(some, sums, items), strict=True):
        if found and _is_total(frame, name, found):
            yield Relation(name, "total", tuple(found))


def _parts(some: pl.DataFrame, names: Sequence[str], items: Sequence[str]) -> list[list[str]]:
    """For each column the items whose sum, or mean, it is in these rows; none if it is neither."""
    if not names or len(items) < 2:
        return [[] for _ in names]
    design = np.column_stack([some.select(items).to_numpy(), np.ones(some.height)]).astype(float)
    targets = some.select(names).to_numpy().astype(float)
    weights = np.linalg.lstsq(design, targets)[0]
    off = np.abs(design @ weights - targets).max(axis=0)
    close = off < 1e-6 * (1 + np.abs(targets).max(axis=0))
    return [_used(items, weights[:-1, j]) if close[j] else [] for j in range(len(names))]


def _used(items: Sequence[str], weights: Array) -> list[str]:
    """The items of a sum or a mean: their weights are alike, and all others are zero."""
    used = np.flatnonzero(np.abs(weights) > 1e-6)
    if len(used) < 2:
        return []
    size = weights[used]
    alike = np.ptp(size) < 1e-6
    sum_or_mean = min(abs(size[0] - 1), abs(size[0] * len(used) - 1)) < 1e-6
    return [items[int(at)] for at in used] if alike and sum_or_mean else []


def _is_total(frame: pl.DataFrame, name: str, parts: Sequence[str]) -> bool:
    complete = frame.select(name, *parts).fill_nan(None).drop_nulls()
    summed = complete.select(parts).sum_horizontal().to_numpy().astype(float)
    target = complete[name].to_numpy().astype(float)
    return any(
        np.ptp(target - share * summed) < 1e-6 * (1 + np.abs(target).max())
        for share in (1.0, 1.0 / len(parts))
    )
