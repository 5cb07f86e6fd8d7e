"""Ordered columns: what an edge as a table, as a product of scores, or as either finds.

    python benchmarks/forms.py study [--tables 200] [--out forms/]   # resumes where it stopped
    python benchmarks/forms.py held-out [--data DIR] [--splits 5]
    python benchmarks/forms.py empty-cells [--data DIR] [--splits 2]

`study`: the share of true links found and the number of false edges, on tables of 15 columns with
five ordered states: links that are products of scores, a Gaussian cut into five, U-shaped links,
and none. Every table is drawn anew, and all forms learn from the same one. `held-out`: the negative
log-pseudo-likelihood per row of the questionnaire dass, learned from few rows, on rows that were
not used. `empty-cells`: what a table in the place of a product changes there, edge by edge.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import click
import networkx as nx
import numpy as np
import tables as real
from numpy.typing import NDArray

import isinglass as ig
from isinglass.engine import fit_conditionals
from isinglass.model import MarkovField
from isinglass.repeating import Record, Task, has_failed, repeat

Codes = NDArray[np.int64]
Pairs = set[tuple[int, int]]

COLUMNS, STATES, LINKS = 15, 5, 20
FORMS = ("auto", "table", "scores")
ROWS = (300, 500, 1000)


def graph(seed: int) -> list[tuple[int, int]]:
    """A ring with chords, its columns in random order."""
    rng = np.random.default_rng(seed)
    ring = nx.cycle_graph(COLUMNS)
    while ring.number_of_edges() < LINKS:
        a, b = rng.choice(COLUMNS, 2, replace=False).tolist()
        ring.add_edge(a, b)
    order = rng.permutation(COLUMNS).tolist()
    return sorted((min(order[a], order[b]), max(order[a], order[b])) for a, b in ring.edges)


def sampled(links: Sequence[tuple[int, int]], table: Codes, rows: int, seed: int) -> Codes:
    """Rows of a model whose links have one table, up to their sign."""
    rng = np.random.default_rng([seed, 1])
    signs = rng.choice([-1.0, 1.0], len(links))
    turned = [table if rng.random() < 0.5 else table.T for _ in links]
    states = (tuple(range(STATES)),) * COLUMNS
    field = MarkovField(
        tuple(f"x{i}" for i in range(COLUMNS)),
        states,
        tuple(np.zeros(STATES) for _ in range(COLUMNS)),
        {pair: sign * some for pair, sign, some in zip(links, signs, turned, strict=True)},
    )
    return np.asarray(field.sample(rows, seed=seed))


def unit(contrast: Sequence[float]) -> NDArray[np.float64]:
    """A contrast of length one."""
    return np.asarray(contrast) / np.linalg.norm(contrast)


LINE, CURVE = unit([-2, -1, 0, 1, 2]), unit([2, -1, -2, -1, 2])


def linear(seed: int, rows: int) -> tuple[Codes, Pairs]:
    """Links that are products of scores."""
    links = graph(seed)
    return sampled(links, 1.1 * np.outer(LINE, LINE), rows, seed), set(links)


def u_shaped(seed: int, rows: int) -> tuple[Codes, Pairs]:
    """One end rises as the other leaves the middle, to either side."""
    links = graph(seed)
    return sampled(links, 1.65 * np.outer(CURVE, LINE), rows, seed), set(links)


def gaussian(seed: int, rows: int) -> tuple[Codes, Pairs]:
    """A Gaussian with a sparse precision, each column cut into five at its own points."""
    rng = np.random.default_rng([seed, 2])
    links = graph(seed)
    precision = np.eye(COLUMNS)
    for a, b in links:
        precision[a, b] = precision[b, a] = 0.24 * rng.choice([-1, 1])
    least = np.linalg.eigvalsh(precision)[0]
    precision += max(0.1 - least, 0.0) * np.eye(COLUMNS)
    covariance = np.linalg.inv(precision)
    scale = np.sqrt(np.diag(covariance))
    drawn = rng.multivariate_normal(np.zeros(COLUMNS), covariance, rows) / scale
    cuts = np.sort(rng.normal(0, 1, (COLUMNS, 200)), axis=1)[:, [40, 80, 120, 160]]
    table = [np.searchsorted(points, x) for points, x in zip(cuts, drawn.T, strict=True)]
    return np.column_stack(table), set(links)


def null(seed: int, rows: int) -> tuple[Codes, Pairs]:
    """No links; states are not equally common."""
    rng = np.random.default_rng([seed, 3])
    shares = rng.dirichlet(np.full(STATES, 4.0), COLUMNS)
    return np.column_stack([rng.choice(STATES, rows, p=share) for share in shares]), set()


TRUTHS: dict[str, Callable[[int, int], tuple[Codes, Pairs]]] = {
    "products": linear,
    "Gaussian": gaussian,
    "U-shaped": u_shaped,
    "none": null,
}


def one_table(truth: str, rows: int, *, seed: int, rule: str) -> Record:
    """All forms on one table."""
    table, true = TRUTHS[truth](seed + 10**6, rows)
    record: Record = {}
    for form in FORMS:
        begin = time.process_time()
        est = ig.GreedyGraph(edges=form, rule=rule, n_jobs=1).fit(table)
        found = set(est.graph_.pairs)
        record[form] = {
            "found": len(found & true) / max(len(true), 1),
            "false": len(found - true),
            "tables": sum(kind == "table" for kind in est.graph_.forms.values()),
            "seconds": time.process_time() - begin,
        }
    return record


def mean_of(records: Sequence[Record], form: str, what: str) -> str:
    """A mean with its standard error."""
    values = [record[form][what] for record in records]
    return f"{np.mean(values):.3f} ± {np.std(values) / np.sqrt(len(values)):.3f}"


@click.group(help=(__doc__ or "").splitlines()[0])
def command() -> None:
    """One command per question."""


@command.command()
@click.option("--tables", type=click.IntRange(1), default=200, show_default=True)
@click.option("--truth", "truths", type=click.Choice(list(TRUTHS)), multiple=True)
@click.option("--rows", type=int, multiple=True)
@click.option("--rule", type=click.Choice(["or", "and", "joint"]), default="or", show_default=True)
@click.option("--out", type=click.Path(), help="A folder that keeps what is done.")
def study(
    *, tables: int, truths: Sequence[str], rows: Sequence[int], rule: str, out: str | None
) -> None:
    """Links found and false edges of every form, per truth and number of rows."""
    cells = list(product(truths or TRUTHS, rows or ROWS))
    tasks = [
        Task.single(
            f"{rule}/{truth}/{n}/{seed}", partial(one_table, truth, n, seed=seed, rule=rule)
        )
        for seed in range(tables)
        for truth, n in cells
    ]
    done = repeat(tasks, work="benchmarks/forms.py", path=out, n_jobs=1)
    by_cell: dict[str, list[Record]] = defaultdict(list)
    for key, record in done.items():
        if has_failed(record):
            raise click.ClickException(f"{key}: {record}")
        by_cell[key.rpartition("/")[0]].append(record)
    for what in ("found", "false", "tables", "seconds"):
        print(f"\n{what}\n\n| truth | rows | tables | {' | '.join(FORMS)} |")
        print("|---" * (len(FORMS) + 3) + "|")
        for cell, records in by_cell.items():
            means = [mean_of(records, form, what) for form in FORMS]
            _, truth, n = cell.split("/")
            print(f"| {truth} | {n} | {len(records)} | {' | '.join(means)} |")
    print("\nfound by auto, as a share of the better of the two forms")
    for cell, records in by_cell.items():
        auto, *others = (np.mean([record[form]["found"] for record in records]) for form in FORMS)
        if max(others) > 0:
            print(f"{cell}: {auto / max(others):.3f}")


def parted(table: Codes, n: int, split: int) -> tuple[Codes, Codes]:
    """Rows to learn from, and up to 3,500 others without a state that those lack."""
    order = np.random.default_rng([split, n]).permutation(len(table))
    train, rest = table[order[:n]], table[order[n : n + 3500]]
    seen = [np.unique(column) for column in train.T]
    return train, rest[np.all([np.isin(x, s) for x, s in zip(rest.T, seen, strict=True)], axis=0)]


@command.command("held-out")
@click.option("--rows", type=int, multiple=True)
@click.option("--splits", type=click.IntRange(1), default=5, show_default=True)
@click.option("--data", type=click.Path(exists=True), help="The folder of real tables.")
def held_out(*, rows: Sequence[int], splits: int, data: str | None) -> None:
    """The questionnaire dass, learned from few rows, scored on 3,500 others."""
    table = real.dass(Path(data or os.environ["ISINGLASS_DATA"]))
    print(f"| rows | {' | '.join(FORMS)} |\n" + "|---" * (len(FORMS) + 1) + "|")
    for n in rows or (400, 1000, 3500):
        scores = defaultdict(list)
        for split in range(splits):
            train, rest = parted(table, n, split)
            for form in FORMS:
                est = ig.GreedyGraph(edges=form, n_jobs=1).fit(train)
                scores[form].append(-est.score(rest))
        means = [f"{np.mean(scores[form]):.3f} ± {np.std(scores[form]):.3f}" for form in FORMS]
        print(f"| {n} | {' | '.join(means)} |", flush=True)


def as_tables(train: Codes, rest: Codes) -> list[tuple[bool, float, float]]:
    """Of both ends of each edge: has it an empty cell, and what a table gains beyond a product.

    As deviances of so many rows as were learned from: on these, and on others.
    """
    est = ig.GreedyGraph(n_jobs=1).fit(train)
    codes = est.table_.codes
    seen = [np.unique(column) for column in train.T]
    others = np.column_stack([np.searchsorted(s, x) for s, x in zip(seen, rest.T, strict=True)])

    def losses(forms: dict[tuple[int, int], str]) -> NDArray[np.float64]:
        fits = fit_conditionals(est.table_, est.graph_.neighbourhoods, forms)
        new = [-fit.log_likelihood(others, r).mean() for r, fit in enumerate(fits)]
        return 2 * len(train) * np.array([[fit.loss for fit in fits], new])

    products = dict.fromkeys(est.graph_.pairs, "product")
    before, found = losses(products), []
    for a, b in est.graph_.pairs:
        fall = before - losses({**products, (a, b): "table"})
        cells = len(set(zip(codes[:, a].tolist(), codes[:, b].tolist(), strict=True)))
        empty = cells < len(seen[a]) * len(seen[b])
        found += [(empty, *fall[:, end].tolist()) for end in (a, b)]
    return found


@command.command("empty-cells")
@click.option("--rows", type=int, multiple=True)
@click.option("--splits", type=click.IntRange(1), default=2, show_default=True)
@click.option("--data", type=click.Path(exists=True), help="The folder of real tables.")
def empty_cells(*, rows: Sequence[int], splits: int, data: str | None) -> None:
    """What a table in the place of a product gains: on the rows of the fit, and on others."""
    table = real.dass(Path(data or os.environ["ISINGLASS_DATA"]))
    print("| rows | an empty cell | ends of edges | gain on these rows | on others |")
    print("|---" * 5 + "|")
    for n in rows or (400, 1000):
        found = [end for split in range(splits) for end in as_tables(*parted(table, n, split))]
        for empty in (False, True):
            gains = np.array([gain for has, *gain in found if has == empty]).reshape(-1, 2)
            words = " | ".join(f"{mean:.1f}" for mean in gains.mean(axis=0))
            print(f"| {n} | {'yes' if empty else 'no'} | {len(gains)} | {words} |", flush=True)


if __name__ == "__main__":
    command()
