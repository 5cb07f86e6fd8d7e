"""Do the intervals cover, does the split test keep its rate, does the pairwise check stay calm?

    python benchmarks/errors.py [--tables 400] [--split-tables 100] [--check-tables 200]

Three studies on tables drawn from known models, printed as the tables of docs/errors.md:

coverage   the share of 95 % intervals of log odds ratios that hold the true one: with the true
           graph, and among the edges that GreedyGraph chose on the same rows. Should be 93 to 97 %
           with the true graph.
split      the split test's false-discovery rate (level 5 %) and the share of true links it finds,
           beside those of GreedyGraph on all rows.
pairwise   how often the check of the pairwise form (level 5 %) names a third column on tables of
           pairwise models, and on tables with a real interaction of three columns.

Every table is one record in the file; what is there is not done again. Its seed comes from its
key.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import isinglass as ig
from isinglass import simulate
from isinglass.model.codings import table_against
from isinglass.repeating import Record, Store
from isinglass.uncertainty.standard_errors import fit_with_errors

Rows = tuple[np.ndarray, dict[str, Any]]


@dataclass(frozen=True)
class Design:
    """A model, a number of rows, and how they are drawn: alone, weighted or in clusters."""

    words: str
    model: Callable[[int], ig.MarkovField]
    n: int
    rows: str = "alone"


def grid(seed: int) -> ig.MarkovField:
    return simulate.ising(
        simulate.grid(4, 4), coupling=(0.1, 0.5), intercept=(-0.3, 0.3), seed=seed
    )


def random_graph(seed: int) -> ig.MarkovField:
    return simulate.ising(
        simulate.erdos_renyi(16, 3, seed), coupling=(0.1, 0.6), intercept=(-0.5, 0.5), seed=seed
    )


def weak_graph(seed: int) -> ig.MarkovField:
    return simulate.ising(simulate.erdos_renyi(16, 3, seed), coupling=(0.05, 0.25), seed=seed)


def three_states(seed: int) -> ig.MarkovField:
    return simulate.potts(simulate.tree(8, seed), 3, coupling=0.5, seed=seed)


def mixed_states(seed: int) -> ig.MarkovField:
    return simulate.potts(simulate.grid(2, 4), [2, 3, 4, 2, 3, 2, 4, 2], coupling=0.4, seed=seed)


def weak_chain(seed: int) -> ig.MarkovField:
    return simulate.ising(simulate.chain(16), coupling=(0.1, 0.4), seed=seed)


COVERAGE = {
    "grid-500": Design("Ising, 4 x 4 grid", grid, 500),
    "grid-2000": Design("Ising, 4 x 4 grid", grid, 2000),
    "random-1000": Design("Ising, random graph, 16 columns", random_graph, 1000),
    "weak-500": Design("Ising, random graph, couplings 0.05 to 0.25", weak_graph, 500),
    "three-2000": Design("Potts, tree, 8 columns of 3 states", three_states, 2000),
    "mixed-4000": Design("Potts, 2 x 4 grid, 2 to 4 states", mixed_states, 4000),
    "sampled-2000": Design("Ising, 4 x 4 grid, sampling weights", grid, 2000, "weighted"),
    "clusters-2000": Design("Ising, 4 x 4 grid, 400 clusters of 5", grid, 2000, "clusters"),
}
SPLIT = {
    "chain-500": Design("Ising, chain of 16, couplings 0.1 to 0.4", weak_chain, 500),
    "chain-2000": Design("Ising, chain of 16, couplings 0.1 to 0.4", weak_chain, 2000),
    "random-1000": Design("Ising, random graph, 16 columns", random_graph, 1000),
}


def three_way(seed: int, n: int) -> np.ndarray:
    """Eight columns in a chain; a ninth is the xor of two of them half of the time."""
    rng = np.random.default_rng([seed, 2])
    rows = (weak_chain(seed).given({f"x{v}": 1 for v in range(8, 16)}).sample(n, seed=rng) + 1) // 2
    xor = rows[:, 2] ^ rows[:, 5]
    own = (rng.random(n) < 0.1 + 0.4 * rows[:, 2] + 0.4 * rows[:, 5]).astype(int)
    return np.column_stack([rows, np.where(rng.random(n) < 0.5, xor, own)])


CHECKED = {
    "grid-1000": Design("pairwise: Ising, 4 x 4 grid", grid, 1000),
    "random-2000": Design("pairwise: Ising, random graph, 16 columns", random_graph, 2000),
    "mixed-4000": Design("pairwise: Potts, 2 x 4 grid, 2 to 4 states", mixed_states, 4000),
    "xor-300": Design("xor of two columns of a chain", weak_chain, 300, "xor"),
    "xor-1000": Design("xor of two columns of a chain", weak_chain, 1000, "xor"),
}


def draw(design: Design, seed: int) -> tuple[ig.MarkovField, np.ndarray, dict[str, Any]]:
    """A model, rows of it, and what the fit has to know about them."""
    model = design.model(seed)
    rng = np.random.default_rng([seed, 1])
    if design.rows == "weighted":
        # Rows with two of the columns up are asked less often, and count more.
        many = model.sample(8 * design.n, seed=rng)
        weights = 1.0 + 2.0 * (many[:, 0] == 1) + 2.0 * (many[:, 5] == 1)
        asked = np.flatnonzero(rng.random(len(many)) < 1.0 / weights)[: design.n]
        return model, many[asked], {"weights": weights[asked]}
    if design.rows == "clusters":
        rows = model.sample(design.n, seed=rng)
        for at in range(1, design.n):
            if at % 5 and rng.random() < 0.5:
                rows[at] = rows[at - 1]  # a row of the same cluster again
        return model, rows, {"clusters": np.arange(design.n) // 5}
    return model, model.sample(design.n, seed=rng), {}


def covered(model: ig.MarkovField, true: ig.MarkovField) -> tuple[int, int, int]:
    """Intervals that hold the true log odds ratio, those that do not, and unbounded edges."""
    hits = misses = unbounded = 0
    for (i, j), table in model.couplings.items():
        errors = model.errors.of_log_odds((i, j), (0, 0))
        if errors is None:
            unbounded += 1
            continue
        truth = true.couplings.get((i, j), np.zeros(table.shape))
        off = np.abs(table_against(table, 0, 0) - table_against(truth, 0, 0))[1:, 1:]
        inside = off <= 1.959964 * errors[1:, 1:]
        hits, misses = hits + int(inside.sum()), misses + int((~inside).sum())
    return hits, misses, unbounded


def cover_one(design: Design, seed: int) -> Record:
    """Coverage with the true graph, and with the one that these rows choose."""
    true, rows, about = draw(design, seed)
    weights, clusters = about.get("weights"), about.get("clusters")
    estimator = ig.GreedyGraph(n_eff="sum" if weights is None else "kish", n_jobs=1)
    estimator.fit(rows, sample_weight=weights)
    known = fit_with_errors(
        estimator.table_, true.graph, clusters=clusters, sampling=weights is not None
    )
    record = {
        "known": covered(known, true),
        "selected": covered(ig.with_errors(estimator, clusters=clusters), true),
    }
    if about:
        plain = fit_with_errors(estimator.table_, true.graph)
        record["ignored"] = covered(plain, true)
    return record


def split_one(design: Design, seed: int) -> Record:
    """False and true finds of the split test, and of the search on all rows."""
    true, rows, _ = draw(design, seed)
    links = set(true.graph.edges)
    estimator = ig.GreedyGraph(n_jobs=1)
    test = ig.split_test(estimator, rows, splits=20, seed=seed)
    found, full = set(test.edges), set(estimator.fit(rows).graph_.edges)
    return {
        "links": len(links),
        "split": (len(found & links), len(found - links)),
        "full": (len(full & links), len(full - links)),
    }


def check_one(design: Design, seed: int) -> Record:
    """How many interactions are named among neighbours, and among all; which are true."""
    xor = design.rows == "xor"
    rows = three_way(seed, design.n) if xor else draw(design, seed)[1]
    estimator = ig.GreedyGraph(n_jobs=1).fit(rows)
    record: Record = {}
    for way in ("near", "beyond"):
        if way == "beyond" and (rows.shape[1] > 9 or seed % 5):
            continue  # hundreds of fits a table: every fifth of the small ones
        check = ig.check_pairwise(estimator, beyond=way == "beyond")
        three = [{each.column, *each.neighbours} for each in check.missed]
        true = sum(each == {"x2", "x5", "x8"} for each in three) if xor else 0
        record[way] = (true, len(three) - true)
    return record


STUDIES = {
    "coverage": (COVERAGE, cover_one),
    "split": (SPLIT, split_one),
    "pairwise": (CHECKED, check_one),
}


def missing(
    done: dict[str, Record], tables: dict[str, int], only: str
) -> Iterator[tuple[str, str, str]]:
    """Keys of tables without a record, with their study and design."""
    for study, (designs, _) in STUDIES.items():
        for at in range(tables[study]):
            for name in designs:
                key = f"{study}/{name}/{at}"
                if key not in done and key.startswith(only):
                    yield key, study, name


def run(store: Store, tables: dict[str, int], only: str = "") -> dict[str, Record]:
    """Do what has no record yet."""
    store.prepare()
    todo = list(missing(store.read(), tables, only))
    for at, (key, study, name) in enumerate(todo, start=1):
        designs, one = STUDIES[study]
        store.append({"key": key, **one(designs[name], zlib.crc32(key.encode()))})
        if sys.stderr.isatty() or at % 100 == 0:
            print(f"\r{at} of {len(todo)} tables", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return store.read()


def records_of(done: dict[str, Record], study: str, name: str) -> list[Record]:
    return [record for key, record in done.items() if key.startswith(f"{study}/{name}/")]


def percent(hits: float, of: float) -> str:
    return f"{100 * hits / of:.1f} %" if of else "-"


def share(counts: list[tuple[int, int, int]]) -> str:
    hits, misses, _ = np.sum(counts, axis=0)
    return percent(hits, hits + misses)


def print_coverage(done: dict[str, Record]) -> None:
    print("\n| model | rows | tables | intervals | true graph | selected edges | as single rows |")
    print("|---|---|---|---|---|---|---|")
    for name, design in COVERAGE.items():
        records = records_of(done, "coverage", name)
        if not records:
            continue
        known = [record["known"] for record in records]
        ignored = [record["ignored"] for record in records if "ignored" in record]
        total = int(np.sum(known, axis=0)[:2].sum())
        print(
            f"| {design.words} | {design.n:,} | {len(records)} | {total:,} | {share(known)} | "
            f"{share([record['selected'] for record in records])} | "
            f"{share(ignored) if ignored else ''} |"
        )


def print_split(done: dict[str, Record]) -> None:
    print("\n| model | rows | tables | split: false | found | all rows: false | found |")
    print("|---|---|---|---|---|---|---|")
    for name, design in SPLIT.items():
        records = records_of(done, "split", name)
        if not records:
            continue
        links = sum(record["links"] for record in records)
        cells = []
        for way in ("split", "full"):
            rates = [false / max(true + false, 1) for true, false in (r[way] for r in records)]
            cells += [percent(np.sum(rates), len(rates))]
            cells += [percent(sum(record[way][0] for record in records), links)]
        print(f"| {design.words} | {design.n:,} | {len(records)} | {' | '.join(cells)} |")


def print_checked(done: dict[str, Record]) -> None:
    heads = ("neighbours: found", "tables with a false alarm", "all pairs: found", "false alarm")
    print(f"\n| model | rows | tables | {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|")
    for name, design in CHECKED.items():
        records = records_of(done, "pairwise", name)
        if not records:
            continue
        cells = []
        for way in ("near", "beyond"):
            counts = [record[way] for record in records if way in record]
            named = f"{sum(count[0] for count in counts)} of {len(counts)}"
            alarms = f"{sum(count[1] > 0 for count in counts)} of {len(counts)}"
            cells += [named if design.rows == "xor" else "", alarms if counts else ""]
        print(f"| {design.words} | {design.n:,} | {len(records)} | {' | '.join(cells)} |")


def main() -> None:
    """Run what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=400, help="of each design of the coverage")
    parser.add_argument("--split-tables", type=int, default=100, help="of each of the split test")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/errors.jsonl"))
    parser.add_argument("--check-tables", type=int, default=200, help="of each of the check")
    parser.add_argument("--only", default="", help="what keys begin with, as split/chain-500")
    options = parser.parse_args()
    tables = {
        "coverage": options.tables,
        "split": options.split_tables,
        "pairwise": options.check_tables,
    }
    done = run(Store(options.out, "benchmarks/errors.py"), tables, options.only)
    print_coverage(done)
    print_split(done)
    print_checked(done)


if __name__ == "__main__":
    main()
