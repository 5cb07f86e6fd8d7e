"""What single columns look like, and what is proposed for them."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isinglass as ig
from isinglass.inspection.facts import facts_of
from isinglass.inspection.kinds import kind_of
from isinglass.inspection.suspects import suspected_codes
from selections import mostly_long

N = 300
RNG = np.random.default_rng(1)
UNIFORM = RNG.random(N)


def kind(name, cells):
    return kind_of(facts_of(pl.Series(name, cells)))


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("q", [0, 1] * 150, "yes/no"),
        ("q", [True, False, None] * 100, "yes/no"),
        ("q", ["yes", "no"] * 150, "yes/no"),
        ("q", [1, 2, 3, 4, 5] * 60, "ordered"),
        ("q", [1.0, 2.0, 2.5] * 100, "ordered"),
        ("q", ["a", "b", "c"] * 100, "unordered"),
        ("q", pl.Series(["a", "b", "c"] * 100, dtype=pl.Enum(["b", "a", "c"])), "ordered"),
        ("q", pl.Series(["a", "b", "c"] * 100, dtype=pl.Categorical()), "unordered"),
        ("age", RNG.integers(18, 90, N), "number"),
        ("size", UNIFORM, "number"),
        ("size", [f"{value:.3f}" for value in UNIFORM], "number"),
        ("anything", np.arange(N), "id"),
        ("anything", RNG.permutation(N) + 1000, "id"),
        ("participant_id", RNG.permutation(10 * N)[:N], "id"),
        ("income", RNG.permutation(1000 * N)[:N], "number"),
        ("key", [f"{value:x}" for value in RNG.permutation(10**6)[:N]], "id"),
        ("remark", [f"I think {a} of it" for a in RNG.permutation(10**6)[:N]], "text"),
        ("city", [f"city {k}" for k in RNG.integers(0, 50, N)], "many categories"),
        ("day", [dt.date(2020, 1, 1) + dt.timedelta(days=int(k)) for k in range(N)], "date"),
        ("day", [f"{d}.{m}.2020" for d in range(1, 26) for m in range(1, 13)], "date"),
        ("at", ["2020-01-02T10:30:00Z", "2020-01-03 11:00", "2021-05-06"] * 100, "date"),
        ("q", ["x"] * N, "constant"),
        ("q", [None] * N, "empty"),
        ("q", [float("nan")] * N, "empty"),
        ("q", [""] * N, "empty"),
        ("weight", UNIFORM + 0.5, "weight"),
        ("pspwght", UNIFORM + 0.5, "weight"),
        ("weight", 50 + 40 * UNIFORM, "number"),
        ("height", UNIFORM + 0.5, "number"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_kinds(name, cells, expected):
    assert kind(name, cells) == expected


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1, 2, 3, 4, 5, 9], [9]),
        ([1, 2, 3, 4, 5, 8, 9], [8, 9]),
        ([1, 2, 3, 4, 5, 6, 7, 8, 9], []),
        ([0, 1, 9], [9]),
        ([0, 1, 2], []),
        ([0, 1, 2, 3, 4, 5, 7], [7]),
        ([1, 2, 3, 99], [99]),
        ([1.0, 2.0, 3.0, 99.0], [99.0]),
        ([*range(18, 91), 999], [999]),
        ([*range(18, 99)], []),
        ([-99, -9, 0, 1, 2], [-99, -9]),
        ([-1, 0, 1], []),
        ([-1, 1, 2, 3], [-1]),
        ([-3, -2, -1, 0, 1, 2, 3], []),
        ([-40, -10, 0, 20], []),
        (["a", "b", "?"], ["?"]),
        (["yes", "no", "Refused", "N/A"], ["N/A", "Refused"]),
        (["DK", "NO", "SE", "NA"], []),
        (["none", "some"], []),
        ([True, False], []),
        ([1.5, 2.5, 99.0], []),
    ],
    ids=str,
)
def test_suspected_codes(values, codes):
    assert suspected_codes(facts_of(pl.Series(values * 7))) == codes


def table():
    return pl.DataFrame(
        {
            "id": range(1, N + 1),
            "age": RNG.integers(18, 90, N),
            "mood": RNG.choice(["bad", "good", "refused"], N, p=[0.45, 0.45, 0.1]),
            "sick": RNG.random(N) < 0.3,
            "pet": RNG.choice(["cat", "dog", "none"], N),
        }
    )


LIBRARIES = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(),
    "pyarrow": lambda frame: frame.to_arrow(),
    "numpy": lambda frame: frame.to_numpy(),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library(library):
    found = ig.inspect(LIBRARIES[library](table()))
    assert [(each.kind, each.proposal) for each in found.columns] == [
        ("id", "drop"),
        ("number", "cut into 4 bins"),
        ("yes/no", "keep"),
        ("yes/no", "keep"),
        ("unordered", "keep"),
    ]
    assert found.columns[2].missing_codes == ["refused"]
    assert found.fit().graph_.names == tuple(each.name for each in found.columns[1:])


def test_ordered_categories_of_other_libraries():
    words = ["low", "mid", "high"] * 20
    ordered = pd.Categorical(words, ["low", "mid", "high"], ordered=True)
    assert ig.inspect(pd.DataFrame({"q": ordered, "r": words})).columns[0].kind == "ordered"
    arrow = pa.table({"q": pa.array(words).dictionary_encode(), "r": words})
    assert ig.inspect(arrow).columns[0].kind == "unordered"


def test_cells_of_several_types():
    mixed = np.array([[1, "a"], ["b", None], [2.5, "a"], [1, "c"]] * 5, dtype=object)
    found = ig.inspect(mixed)
    assert found.columns[0].states == [("1", 10), ("2.5", 5), ("b", 5)]
    assert found.columns[1].missing == 5


def test_nothing_is_left():
    found = ig.inspect(pl.DataFrame({"id": range(50), "same": ["x"] * 50}))
    assert not found.works
    with pytest.raises(ig.IsinglassError, match="no column is left to learn from"):
        found.fit()


def test_a_frame_and_a_dict_of_what_was_found():
    found = ig.inspect(table())
    frame = found.to_frame("polars")
    assert frame["name"].to_list() == table().columns
    assert frame["missing_codes"][2] == "refused"
    document = found.to_dict()
    assert document["columns"][0]["fit"] == "refuses it: 300 distinct values"
    assert document["options"][:2] == ["--missing-code", "mood=refused"]
    assert "<script" not in ig.inspect(pl.DataFrame({"<script>": [1, 2]}))._repr_html_()


MAKERS = [
    lambda rng, n: rng.integers(0, rng.integers(1, 60), n),
    lambda rng, n: rng.normal(size=n).round(int(rng.integers(0, 4))),
    lambda rng, n: rng.choice(["a", "b", "?", "", "refused", "1", "-9"], n),
    lambda rng, n: [None if u < 0.4 else int(10 * u) for u in rng.random(n)],
    lambda rng, n: [None] * n,
    lambda rng, n: rng.random(n) < 0.1,
    lambda rng, n: [f"{u:.2f}" for u in rng.random(n)],
    lambda rng, n: np.where(rng.random(n) < 0.1, np.inf, 1.0),
    lambda rng, n: rng.choice([1, 2, 3, 8, 9, 99, -99], n),
    lambda rng, n: [dt.date(2020, 1, 1) + dt.timedelta(days=int(k)) for k in rng.integers(0, 9, n)],
    lambda rng, n: rng.choice(["NaN", "x", "y"], n),
    lambda rng, n: [float("nan") if u < 0.3 else 1.0 for u in rng.random(n)],
]


@pytest.mark.parametrize("seed", mostly_long(range(40), 15))
def test_whatever_comes_the_proposal_runs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 2, 5, 40, 150]))
    names = [*"abcdef", "weight", "count", "n", "id", "school", "x=1"][: rng.integers(1, 12)]
    rng.shuffle(names)
    columns = {name: MAKERS[rng.integers(len(MAKERS))](rng, n) for name in names}
    found = ig.inspect(pl.DataFrame(columns, strict=False))
    if found.works:
        found.fit()
