"""How many false edges are left when items depend on age alone, and age is adjusted for?

Every item depends on age, and on nothing else, so that every edge is false. "linear": the log-odds
of an item rise or fall evenly with age. "curved": they rise and fall again, with a turning point of
each item's own. "five levels": ordered answers of five levels, whose middle moves with age. Means
over the tables, of firm edges, with their standard errors; unadjusted is a fit without age.

    python benchmarks/adjusting.py [--tables 100] [--rows 1000] [--columns 20] [--path FILE]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
import polars as pl

import isinglass as ig
from isinglass.errors import CoarseBins
from isinglass.repeating import Task, repeat

Array = np.ndarray


def linear(rng: np.random.Generator, age: Array, columns: int) -> Array:
    """Two states; log-odds that are lines."""
    slopes = rng.uniform(0.6, 1.4, columns) * rng.choice([-1, 1], columns)
    return yes(rng, age[:, None] * slopes + rng.uniform(-0.5, 0.5, columns))


def curved(rng: np.random.Generator, age: Array, columns: int) -> Array:
    """Two states; log-odds that are parabolas."""
    turn = rng.uniform(-1, 1, columns)
    return yes(rng, 1.0 - rng.uniform(0.6, 1.2, columns) * (age[:, None] - turn) ** 2)


def yes(rng: np.random.Generator, log_odds: Array) -> Array:
    """One where an item is answered by yes."""
    return (rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds))).astype(int)


def five_levels(rng: np.random.Generator, age: Array, columns: int) -> Array:
    """Cut points of a normal variable whose mean moves with age."""
    slopes = rng.uniform(0.4, 0.9, columns) * rng.choice([-1, 1], columns)
    hidden = age[:, None] * slopes + rng.normal(size=(len(age), columns))
    return np.searchsorted([-1.2, -0.4, 0.4, 1.2], hidden)


TRUTHS: dict[str, Callable[..., Array]] = {
    "linear": linear,
    "curved": curved,
    "five levels": five_levels,
}
#: What `bins` says of age; None leaves it to the default, "unadjusted" leaves age out.
WAYS = {"default": None, "8 bins": 8, "4 bins": 4, "2 bins": 2, "unadjusted": 0}


def false_edges(truth: str, bins: int | None, rows: int, columns: int, seed: int) -> dict[str, int]:
    """How many edges a fit has, none of which is true."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(18, 80, rows)
    items = TRUTHS[truth](rng, (age - 49) / 18, columns)
    table = pl.DataFrame({f"item{k}": items[:, k] for k in range(columns)} | {"age": age})
    if bins == 0:
        return {"edges": len(ig.GreedyGraph(n_jobs=1).fit(table.drop("age")).graph_)}
    settings = {} if bins is None else {"bins": {"age": bins}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoarseBins)
        fitted = ig.GreedyGraph(adjust=["age"], n_jobs=1, **settings).fit(table)
    return {"edges": len(fitted.graph_)}


def main() -> None:
    """Print one row per truth, one column per way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--path", help="a file that results are added to, and read from")
    options = parser.parse_args()
    size = options.rows, options.columns
    tasks = {
        (truth, way, seed): Task.single(
            f"{truth}/{way}/{size}/{seed}", partial(false_edges, truth, bins, *size, seed)
        )
        for truth in TRUTHS
        for way, bins in WAYS.items()
        for seed in range(options.tables)
    }
    records = repeat(tasks.values(), work="adjusting", path=options.path, n_jobs=1)
    print(f"{options.tables} tables, {size[0]:,} rows, {size[1]} items")
    print(f"| truth | {' | '.join(WAYS)} |")
    print("|---|" + "---|" * len(WAYS))
    for truth in TRUTHS:
        cells = []
        for way in WAYS:
            keys = [tasks[truth, way, seed].keys[0] for seed in range(options.tables)]
            edges = np.array([records[key]["edges"] for key in keys], dtype=float)
            cells.append(f"{edges.mean():.2f} ± {edges.std() / np.sqrt(len(edges)):.2f}")
        print(f"| {truth} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
