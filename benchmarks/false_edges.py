"""How many false edges do tables without links have, relative to the number that is asked for?

    python benchmarks/false_edges.py [--tables 300] [--only rows] [--jobs 1]

Columns are drawn independently, or in linked pairs, whose links do not count; in one part 20 % of
the values are missing, and are filled. Printed are, with
their standard errors, the edges of firm graphs (`FalseEdges(0.05)`) and of tentative ones
(`FalseEdges(1)`) that should not be there, each as a multiple of what is asked for. A threshold
counts every pair twice, once from either end; where nothing links the columns both ends say the
same, so a perfect test is at 0.5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import click
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from isinglass.engine import learn_neighbourhoods, pairs_at
from isinglass.estimators.filled import learn_filled
from isinglass.solvers.equivalent import false_edges_threshold
from isinglass.table import Table, encode

ASKED = (0.05, 1.0)
Rng = np.random.Generator


@dataclass(frozen=True)
class Design:
    """A kind of table: `draw` makes one, columns 2k and 2k + 1 linked if there are `pairs`."""

    draw: Callable[[Rng], Table]
    pairs: bool = False


def shares(rng: Rng, m: int, kind: str) -> NDArray[np.float64]:
    """How often each state occurs."""
    if kind == "random":
        return rng.dirichlet(np.ones(m))
    falling = (0.6 if kind == "skewed" else 1.0) ** np.arange(m)
    share: NDArray[np.float64] = falling / falling.sum()
    return share


def few_rows(
    states: int | tuple[int, ...], p: int, n: int, kind: str = "even", link: float = 0.0
) -> Design:
    """Columns of some states; of two neighbours, the second is `link` times the first."""

    def draw(rng: Rng) -> Table:
        every = np.resize(np.asarray(states), p)
        codes = np.stack([rng.choice(m, n, p=shares(rng, m, kind)) for m in every], axis=1)
        for t in range(0, p - 1, 2) if link else ():
            same = rng.random(n) < link
            codes[same, t + 1] = codes[same, t]
        return encode(codes, max_states=200)

    return Design(draw, link > 0)


def weighted(
    p: int, n: int, chance: Callable[[Rng, NDArray[Any]], Any], states: int = 2, share: float = 0.15
) -> Design:
    """Rows are kept by chance and weigh one over it; a `share` of them is in the last state."""

    def draw(rng: Rng) -> Table:
        odds = np.array([*np.full(states - 1, (1 - share) / (states - 1)), share])
        codes = rng.choice(states, (15 * n, p), p=odds)
        kept = np.broadcast_to(chance(rng, codes), len(codes))
        chosen = np.flatnonzero(rng.random(len(codes)) < kept)[:n]
        return encode(codes[chosen], 1 / kept[chosen], n_eff="design")

    return Design(draw)


def minority(rng: Rng, codes: NDArray[Any]) -> Any:
    """Unequal only where the first column is in its last state."""
    uneven = np.where(rng.random(len(codes)) < 0.5, 1.0, 0.1)
    return 0.5 * np.where(codes[:, 0] == codes[:, 0].max(), uneven, 1.0)


def by_two(rng: Rng, codes: NDArray[Any]) -> Any:
    """Rows with two rare states are kept more often."""
    rare = (codes[:, :2] == codes.max()).sum(axis=1)
    return np.array([0.05, 0.2, 0.8])[rare]


def clustered(
    p: int, sizes: tuple[int, ...], alike: float, states: int = 2, many: int = 300
) -> Design:
    """`many` clusters of some sizes; a value is that of the cluster with probability `alike`."""

    def draw(rng: Rng) -> Table:
        clusters = np.repeat(np.arange(many), np.resize(sizes, many))
        shared = rng.integers(0, states, (many, p))[clusters]
        own = rng.integers(0, states, (len(clusters), p))
        codes = np.where(rng.random(own.shape) < alike, shared, own)
        return encode(codes, clusters=clusters)

    return Design(draw)


def with_missing(design: Design, share: float = 0.2) -> Design:
    """The same with values missing at random, which are filled."""

    def draw(rng: Rng) -> Table:
        table = design.draw(rng)
        cells = np.asfortranarray(table.codes, dtype=np.float64)
        cells[rng.random(cells.shape) < share] = np.nan
        settings = {"n_eff": "design"} if table.design else {}
        return encode(cells, table.weights, missing="model", clusters=table.clusters, **settings)

    return Design(draw, design.pairs)


DESIGNS: dict[str, dict[str, Design]] = {
    "rows": {
        "2 states, 40 rows": few_rows(2, 20, 40),
        "2 states, 100 rows, skewed": few_rows(2, 20, 100, "random"),
        "3 states, 30 rows": few_rows(3, 20, 30),
        "3 states, 90 rows, skewed": few_rows(3, 20, 90, "skewed"),
        "5 states, 100 rows": few_rows(5, 20, 100),
        "5 states, 250 rows, skewed": few_rows(5, 20, 250, "skewed"),
        "5 states, 100 rows, random": few_rows(5, 20, 100, "random"),
        "8 states, 200 rows": few_rows(8, 20, 200),
        "10 states, 300 rows": few_rows(10, 20, 300),
        "10 states, 100 rows": few_rows(10, 20, 100),
        "2, 3, 5 and 10 states, 150 rows": few_rows((2, 3, 5, 10), 20, 150),
        "20 states, 1,000 rows": few_rows(20, 15, 1000),
        "20 states, 2,080 rows": few_rows(20, 15, 2080),
        "20 states, 1,000 rows, skewed": few_rows(20, 15, 1000, "skewed"),
        "32 states, 5,222 rows": few_rows(32, 8, 5222),
    },
    "neighbours": {
        "3 states, 60 rows, 0.5": few_rows(3, 20, 60, link=0.5),
        "5 states, 100 rows, 0.4": few_rows(5, 20, 100, link=0.4),
        "5 states, 100 rows, 0.7": few_rows(5, 20, 100, link=0.7),
        "5 states, 250 rows, skewed, 0.5": few_rows(5, 20, 250, "skewed", link=0.5),
        "8 states, 200 rows, 0.4": few_rows(8, 20, 200, link=0.4),
        "10 states, 300 rows, 0.4": few_rows(10, 20, 300, link=0.4),
    },
    "weights": {
        "unequal at random": weighted(10, 1000, lambda rng, codes: rng.uniform(0.1, 1, len(codes))),
        "unequal in a minority of 15 %": weighted(10, 1000, minority),
        "unequal in a minority, 3,000 rows": weighted(10, 3000, minority),
        "unequal in a minority, 3 states": weighted(10, 1000, minority, states=3),
        "two rare states drawn more often": weighted(10, 1000, by_two),
        "two rare states, 3 states": weighted(10, 1500, by_two, states=3, share=0.2),
    },
    "clusters": {
        "300 of 4, much alike": clustered(10, (4,), 0.8),
        "300 of 4, somewhat alike": clustered(10, (4,), 0.5),
        "500 of 2": clustered(10, (2,), 0.9, many=500),
        "100 of 20": clustered(10, (20,), 0.5, many=100),
        "300 of 1 to 12": clustered(10, (1, 2, 4, 12), 0.6),
        "300 of 4, 4 states": clustered(10, (4,), 0.7, states=4),
    },
    "missing": {
        "rows drawn one by one": with_missing(few_rows(2, 10, 600)),
        "4 states": with_missing(few_rows(4, 10, 600)),
        "unequal at random": with_missing(
            weighted(10, 1000, lambda rng, codes: rng.uniform(0.1, 1, len(codes)))
        ),
        "unequal in a minority of 15 %": with_missing(weighted(10, 1000, minority)),
        "300 clusters of 4, much alike": with_missing(clustered(10, (4,), 0.8)),
        "300 clusters of 1 to 12": with_missing(clustered(10, (1, 2, 4, 12), 0.6)),
    },
}


def false_edges(design: Design, seed: int) -> list[int]:
    """False edges of one table at each threshold, and of the same without a correction of pairs."""
    table = design.draw(np.random.default_rng(seed))
    plain = replace(table, design=False, clusters=None)
    thresholds = [false_edges_threshold(asked, table.n, len(table.columns)) for asked in ASKED]
    tables = (table,) if table.design_effects is None else (table, plain)
    learn = partial(learn_filled, learn=learn_neighbourhoods, rule="or", intercept=True, seed=seed)
    runs = [learn(one, min(thresholds), n_jobs=1) for one in tables]
    return [_false(design, run, cut) for run in runs for cut in thresholds]


def _false(design: Design, runs: Any, threshold: float) -> int:
    found = pairs_at(runs, threshold, "or")
    return sum(1 for a, b in found if not (design.pairs and a % 2 == 0 and b == a + 1))


@click.command()
@click.option("--tables", type=click.IntRange(10), default=300, show_default=True)
@click.option("--only", type=click.Choice(list(DESIGNS)))
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True)
def command(tables: int, only: str | None, jobs: int) -> None:
    """Print one line per design."""
    for part in [only] if only else DESIGNS:
        for name, design in DESIGNS[part].items():
            drawn = Parallel(n_jobs=jobs)(
                delayed(false_edges)(design, seed) for seed in range(tables)
            )
            counts = np.array(drawn)
            columns = [
                f"{counts[:, k].mean() / asked:.2f} ± "
                f"{counts[:, k].std() / np.sqrt(tables) / asked:.2f}"
                for k, asked in enumerate(np.resize(ASKED, counts.shape[1]))
            ]
            plain = f"; without design effects: {', '.join(columns[2:])}" if columns[2:] else ""
            print(f"{part}: {name}: {', '.join(columns[:2])}{plain}", flush=True)


if __name__ == "__main__":
    command()
