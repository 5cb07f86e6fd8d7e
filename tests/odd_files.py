"""Twenty odd files, as people have them: each is written, and what one would want is listed."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

N = 400


@dataclass(frozen=True)
class Odd:
    """A file, and what is wanted of it."""

    name: str
    write: Callable[[Path], object]
    edges: set[tuple[str, str]] = field(default_factory=lambda: {("a", "b"), ("b", "c")})
    gone: set[str] = field(default_factory=set)  # columns that should not be in the graph
    options: tuple[str, ...] = ()  # parts of the proposed command


def chain(seed=0, n=N) -> dict[str, np.ndarray]:
    """Columns a - b - c of 0 and 1, each linked with the next one alone."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.88, a, 1 - a)
    c = np.where(rng.random(n) < 0.88, b, 1 - b)
    return {"a": a, "b": b, "c": c}


def frame(**more) -> pl.DataFrame:
    return pl.DataFrame(chain() | more)


def words(column, low="no", high="yes"):
    return np.where(column == 1, high, low)


def punched(column, share=0.05, seed=1, code=None):
    """A column with some of its values replaced."""
    gone = np.random.default_rng(seed).random(N) < share
    return [code if out else value for out, value in zip(gone, column.tolist(), strict=True)]


RNG = np.random.default_rng(5)
AGE = RNG.integers(18, 90, N)
INCOME = np.exp(RNG.normal(10, 1, N)).round(2)
CITY = [f"city {k}" for k in RNG.integers(0, 60, N)]
TEXT = [f"I said {a} and then {b}" for a, b in zip(RNG.integers(0, 999, N), AGE, strict=True)]
DATES = [f"2024-{m:02}-{d:02}" for m, d in zip(RNG.integers(1, 13, N), AGE % 28 + 1, strict=True)]


def csv(table: pl.DataFrame, **settings):
    return lambda path: table.write_csv(path, **settings)


def raw(content: bytes):
    return lambda path: path.write_bytes(content)


def _latin() -> bytes:
    table = frame(ort=np.where(AGE > 50, "Köln", "Düsseldorf"))
    return table.write_csv().encode("cp1252")


def _headless() -> bytes:
    return pl.DataFrame(chain()).write_csv(include_header=False).encode()


def _counts() -> pl.DataFrame:
    return pl.DataFrame(chain()).group_by("a", "b", "c").len("count").sort("a", "b", "c")


def _one_hot() -> dict[str, np.ndarray]:
    kind = RNG.integers(0, 3, N)
    return {f"kind_{k}": (kind == k).astype(int) for k in range(3)}


def _items() -> pl.DataFrame:
    """Nine items of one scale, their total and their mean."""
    rng = np.random.default_rng(2)
    trait = rng.normal(size=N)
    items = {
        f"q{k}": np.clip(np.round(2 + trait + rng.normal(size=N)), 0, 4).astype(int)
        for k in range(9)
    }
    table = pl.DataFrame(items)
    return table.with_columns(
        total=pl.sum_horizontal(table.columns), mean=pl.mean_horizontal(table.columns)
    )


def _excel(path: Path, rows: list[list]) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)


def _spss(path: Path) -> None:
    import pyreadstat

    table = frame(age=AGE, region=RNG.integers(1, 5, N), caseid=np.arange(N) + 1)
    table = table.with_columns(b=pl.Series(punched(chain()["b"], code=8)))
    yes = {0: "no", 1: "yes", 8: "refused"}
    pyreadstat.write_sav(
        table,
        path,
        column_labels={"a": "Do you smoke?", "b": "Do you cough?"},
        variable_value_labels={
            **dict.fromkeys("abc", yes),
            "region": {1: "north", 2: "east", 3: "south", 4: "west"},
        },
        missing_ranges={"b": [8]},
        variable_measure={"age": "scale", "region": "nominal"},
    )


def _stata(path: Path) -> None:
    import pyreadstat

    table = frame(weight=RNG.random(N).round(4) + 0.5)
    table = table.with_columns(c=pl.Series(punched(chain()["c"], code=9)))
    pyreadstat.write_dta(
        table, path, variable_value_labels={"c": {0: "no", 1: "yes", 9: "Don't know"}}
    )


def _sheet(path: Path) -> None:
    rows = [list(row) for row in frame(id=np.arange(N), age=AGE).rows()]
    blank = [None] * 5
    _excel(path, [["a", "b", "c", "id", "age"], blank, *rows, blank])


A, B, C = chain().values()
ODD = [
    Odd("plain.csv", csv(frame())),
    Odd("ids.csv", csv(frame(id=np.arange(N) + 1, age=AGE)), gone={"id"}, options=("--bin age=4",)),
    Odd("income.csv", csv(frame(income=INCOME)), options=("--bin income=4",)),
    Odd("texts.csv", csv(frame(comment=TEXT, city=CITY)), gone={"comment", "city"}),
    Odd("dates.csv", csv(frame(seen=DATES)), gone={"seen"}),
    Odd("minus99.csv", csv(frame().with_columns(b=pl.Series(punched(B, code=-99))))),
    Odd("nines.csv", csv(frame().with_columns(c=pl.Series(punched(C, code=9)))), options=("c=9",)),
    Odd(
        "refused.csv",
        csv(pl.DataFrame({"a": words(A), "b": punched(words(B), code="Refused"), "c": words(C)})),
        options=("b=Refused",),
    ),
    Odd(
        "marks.csv",
        csv(pl.DataFrame({k: punched(v, 0.04, seed=j, code="?") for j, (k, v) in
                          enumerate(chain().items())}, strict=False)),
        options=("--missing-code '*=?'",),
    ),
    Odd("half.csv", csv(frame(rare=pl.Series(punched(A, 0.7, seed=3)))), gone={"rare"}),
    Odd("constant.csv", csv(frame(land=["NO"] * N, empty=[None] * N)), gone={"land", "empty"}),
    Odd("copies.csv", csv(frame(again=words(A))), gone={"again"}),
    Odd(
        "onehot.csv",
        csv(frame(**_one_hot())),
        {("a", "b"), ("b", "c"), ("kind_0", "kind_1"), ("kind_1", "kind_2"), ("kind_0", "kind_2")},
    ),
    Odd("total.csv", csv(_items()), set(), gone={"total", "mean"}),
    Odd("counts.csv", csv(_counts()), gone={"count"}, options=("--weight-column count",)),
    Odd(
        "weights.csv",
        csv(frame(weight=RNG.random(N) + 0.5)),
        gone={"weight"},
        options=("--weight-column weight", "--n-eff design"),
    ),
    Odd("semicolons.csv", csv(frame(), separator=";")),
    Odd("bars.csv", csv(frame(), separator="|"), options=("--sep '|'",)),
    Odd("latin.csv", raw(_latin()), options=("--encoding cp1252",)),
    Odd("utf16.csv", raw(frame().write_csv().encode("utf-16")), options=("--encoding utf-16",)),
    Odd(
        "headless.data",
        raw(_headless()),
        {("x0", "x1"), ("x1", "x2")},
        options=("--no-header",),
    ),
    Odd(
        "odd names.csv",
        csv(frame(**{"-x": np.arange(N) + 7, "it's=5": AGE, "$HOME": CITY})),
        gone={"-x", "$HOME"},
        options=("--drop=-x",),
    ),
    Odd("types.parquet", lambda path: frame(
        flag=B == 1, day=pl.Series(DATES).str.to_date(), size=INCOME).write_parquet(path),
        {("a", "b"), ("b", "c"), ("b", "flag")}, gone={"day", "flag"}),
    Odd("survey.sav", _spss, gone={"caseid"}, options=("--bin age=4",)),
    Odd("survey.dta", _stata, gone={"weight"}, options=('c=Don', "--weight-column weight")),
    Odd("survey.xlsx", _sheet, gone={"id"}, options=("--bin age=4",)),
    Odd(
        "words.csv",
        csv(pl.DataFrame({
            "a": np.array(["Never", "Sometimes", "Often"])[chain()["a"] + RNG.integers(0, 2, N)],
            "b": words(B),
            "c": words(C)})),
        options=("--order a=Never,Sometimes,Often",),
    ),
    Odd(
        "schools.csv",
        csv(frame(school=RNG.integers(0, 40, N))),
        gone={"school"},
        options=("--cluster-column school",),
    ),
    Odd("few.csv", raw(b"a,b\nx,1\ny,2\nx,1\n"), set()),
]  # fmt: skip
