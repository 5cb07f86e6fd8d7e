"""Tables and fits for the page, and a browser to look at it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl

from isinglass import FitRecord, GreedyGraph, simulate
from isinglass.selection import Auto, LookBelow

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

HOSTILE = (
    "</script><script>window.hurt = 1</script>",
    '"><img src=x onerror="window.hurt = 2">',
    "<!-- <script>",
    'it\'s "quoted" & <b>bold</b>',
    "emoji 😀 \U0001fae0",
    "מילים מימין לשמאל",
    "\u202eevil order",
    "line\u2028separator\nand\ttabs",
    "n" * 200,
    "${window.hurt = 3}",
    "\x00\x1b[31m control",
    " ",
    "constructor",
    "__proto__",
)


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def binary() -> pl.DataFrame:
    field = simulate.ising(simulate.grid(3, 4), coupling=0.35, seed=2)
    return pl.DataFrame(field.sample(700, seed=3), schema=[f"c{j}" for j in range(12)])


def mixed() -> pl.DataFrame:
    states = [2, 3, 2, 4, 2, 5, 2, 3]
    field = simulate.potts(simulate.small_world(8, 4, 0.2, seed=1), states, coupling=0.5, seed=4)
    return pl.DataFrame(field.sample(600, seed=5), schema=[f"m{j}" for j in range(8)])


def ordered() -> pl.DataFrame:
    """Products of scores, a trend, and a link that is U-shaped."""
    states = [4, 5, 3, 2, 5]
    field = simulate.ordinal(simulate.chain(5), states, coupling=0.4, unordered=[2], seed=4)
    rows = field.sample(700, seed=5)
    columns = {f"o{j}": column.tolist() for j, column in enumerate(rows.T)}
    noise = np.random.default_rng(1).random(700) < 0.2
    middle = np.abs(rows[:, 4].astype(int) - 2)
    return pl.DataFrame(columns | {"u": np.where(noise, 2 - middle, middle).tolist()})


def with_missing() -> pl.DataFrame:
    rng = np.random.default_rng(6)
    gone = {name: rng.random(700) < 0.1 for name in binary().columns[:5]}
    return binary().with_columns(
        pl.when(pl.Series(~rows)).then(pl.col(name)).alias(name) for name, rows in gone.items()
    )


def hostile() -> pl.DataFrame:
    """A chain of columns whose names and labels attack the page."""
    rng = np.random.default_rng(7)
    state = rng.integers(0, 2, 300)
    columns = {}
    for name in HOSTILE:
        state = np.where(rng.random(300) < 0.9, state, 1 - state)
        columns[name] = np.array([f"{name} no", f"{name} yes"], dtype=object)[state]
    return pl.DataFrame(columns)


def fitted(table: pl.DataFrame, **settings) -> GreedyGraph:
    return GreedyGraph(LookBelow(Auto()), **settings).fit(table)


FITS = {
    "two states": (binary, {}),
    "mixed states, AND": (mixed, {"rule": "and"}),
    "incomplete": (with_missing, {"missing": "available"}),
    "ordered": (ordered, {"edges": "auto"}),
    "both ends": (binary, {"rule": "joint"}),
    "required": (binary, {"require": [("c0", "c11")], "forbid": [("c0", "c1")]}),
}


def write_page(folder: Path, html: str) -> str:
    path = folder / "report.html"
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


def first_schema(est: GreedyGraph, path: Path) -> FitRecord:
    """The record of a fit as the first schema had it."""
    est.record().save(path)
    document = json.loads(path.read_text())
    document["schema"] = 1
    fit = document["fit"]
    for key in ("values", "tally"):
        fit.pop(key)
    for edge in fit["edges"]:
        for key in ("relative_strength", "entry_evidence", "source_state", "target_state", "size"):
            edge.pop(key)
    for column in fit["columns"]:
        column.pop("ordered")
        column.pop("answers")
    path.write_text(json.dumps(document))
    return FitRecord.load(path)
