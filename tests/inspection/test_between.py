"""What columns say of each other: found where it is so in all rows, and only there."""

import numpy as np
import polars as pl
import pytest

import isinglass as ig

N = 3000  # more than the rows that guesses are made from
RNG = np.random.default_rng(4)
FREE = RNG.integers(0, 3, N)


def related(**columns) -> dict[str, list[str]]:
    found = ig.inspect(pl.DataFrame({"free": FREE} | columns))
    return {each.name: each.related for each in found.columns if each.related}


def changed(column, row):
    """The same column with another value in one row."""
    other = np.array(column, copy=True)
    other[row] = (other[row] + 1) % 3
    return other


def test_copies_whatever_their_labels():
    first = RNG.integers(0, 3, N)
    again = np.array(["x", "y", "z"])[first]
    assert related(first=first, again=again) == {"again": ["a copy of 'first', up to labels"]}


@pytest.mark.parametrize("row", [0, 1, 1501, N - 1])
def test_one_row_that_differs_is_enough(row):
    first = RNG.integers(0, 3, N)
    assert related(first=first, again=changed(first, row)) == {}


def test_a_column_that_another_one_determines():
    part = RNG.integers(0, 6, N)
    assert list(related(part=part, whole=part // 2)) == ["whole"]
    whole = part // 2
    whole[1501] = (whole[1501] + 1) % 3
    assert related(part=part, whole=whole) == {}


def items(k=6):
    return {f"q{j}": RNG.integers(1, 5, N) for j in range(k)}


@pytest.mark.parametrize(
    "of", [np.sum, np.mean, lambda x, axis: np.sum(x, axis) - 6], ids=["sum", "mean", "offset"]
)
def test_totals(of):
    some = items()
    total = of(np.column_stack(list(some.values())), axis=1)
    found = related(**some, total=total)
    assert list(found) == ["total"]
    assert "'q0', 'q1', 'q2', 'q3' and 2 more" in found["total"][0]
    total = np.array(total, dtype=float)
    total[1501] += 1
    assert related(**some, total=total) == {}


def test_totals_of_parts_and_of_all():
    some = items(9)
    parts = {f"part{k}": sum(list(some.values())[3 * k : 3 * k + 3]) for k in range(3)}
    found = related(**some, **parts, all=sum(some.values()))
    assert set(found) == {"part0", "part1", "part2", "all"}
    assert set(ig.inspect(pl.DataFrame(some | parts)).options.drop) == set(parts)


def test_something_like_a_total_is_none():
    some = items()
    weighted = sum((j + 1) * column for j, column in enumerate(some.values()))
    assert related(**some, weighted=weighted) == {}


def test_one_hot_sets():
    kind = RNG.integers(0, 4, N)
    flags = {f"is_{k}": (kind == k).astype(int) for k in range(4)}
    found = related(**flags)
    assert set(found) == set(flags)
    assert all("exactly one of" in sentences[0] for sentences in found.values())
    flags["is_0"] = flags["is_0"].copy()
    flags["is_0"][1501] = 1 - flags["is_0"][1501]
    assert related(**flags) == {}


def test_small_tables_make_no_relations_by_chance():
    few = pl.DataFrame({"a": ["x", "y", "z"], "b": [1, 2, 3], "c": ["p", "q", "q"]})
    assert not any(each.related for each in ig.inspect(few).columns)
