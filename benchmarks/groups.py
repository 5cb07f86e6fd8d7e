"""How often does a comparison of groups find a difference, where there is one and where none is?

Two groups of rows from one model, so that no link differs; except in the designs named "power",
where some links of the second group are smaller by 0.35 (couplings of -1/+1 states). "any edge":
the share of tables in which some edge differs at 5 %, by Holm's rule; "omnibus", "strength": in
which the tests of all edges together, and of global strength, say so; "edges found": of the edges
that do differ, the share that is found.

    python benchmarks/groups.py [--tables 400] [--design identical] [--out groups.jsonl]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl

import isinglass as ig
from isinglass.repeating import Task, repeat
from isinglass.simulate import erdos_renyi

Draw = Callable[[int], tuple[pl.DataFrame, list[tuple[str, str]]]]
LEVEL = 0.05
#: How much smaller a coupling is in the second group.
LESS = 0.35


def two_states(
    rows: tuple[int, int],
    coupling: float,
    shift: float,
    changed: int,
    seed: int,
) -> tuple[pl.DataFrame, list[tuple[str, str]]]:
    """Ising models; intercepts of the second group are shifted, some couplings are smaller."""
    rng, columns = np.random.default_rng([7, seed]), 10
    graph = erdos_renyi(columns, 2.4, seed)
    field = ig.simulate.ising(graph, coupling=coupling, intercept=(-0.4, 0.4), seed=seed)
    couplings = dict(field.couplings)
    pairs = [list(couplings)[at] for at in rng.permutation(len(couplings))[:changed]]
    for pair in pairs:
        theta = couplings[pair][1, 1]
        couplings[pair] = couplings[pair] * (1 - LESS / abs(theta))
    intercepts = [
        own + by * np.array([-1.0, 1.0])
        for own, by in zip(field.intercepts, rng.uniform(-shift, shift, columns), strict=True)
    ]
    other = ig.MarkovField(field.names, field.states, tuple(intercepts), couplings)
    names = [(field.names[i], field.names[j]) for i, j in pairs]
    return table_of([field, other], rows, seed), names


def ordered(
    rows: tuple[int, int], coupling: float, seed: int
) -> tuple[pl.DataFrame, list[tuple[str, str]]]:
    """Ordered items; a link is a product of scores."""
    rng, columns, levels = np.random.default_rng([8, seed]), 8, 5
    scores = np.arange(levels) - (levels - 1) / 2
    product = np.outer(scores, scores)
    field = ig.MarkovField.from_potentials(
        [f"x{k}" for k in range(columns)],
        [tuple(range(levels))] * columns,
        [rng.normal(0, 0.2, levels) - 0.15 * scores**2 for _ in range(columns)],
        {
            (min(pair), max(pair)): coupling * rng.choice([-1, 1]) * product
            for pair in erdos_renyi(columns, 2.2, seed).edges
        },
    )
    return table_of([field, field], rows, seed), []


def table_of(fields: list[ig.MarkovField], rows: tuple[int, int], seed: int) -> pl.DataFrame:
    """Rows of one model after those of the other, and a column of groups."""
    drawn = [
        field.sample(n, seed=seed + 10**6 * (k + 1))
        for k, (field, n) in enumerate(zip(fields, rows, strict=True))
    ]
    items = np.vstack(drawn)
    table = {name: items[:, k] for k, name in enumerate(fields[0].names)}
    return pl.DataFrame(table | {"group": np.repeat(["one", "two"], rows)})


DESIGNS: dict[str, Draw] = {
    "identical": partial(two_states, (400, 400), 0.4, 0.0, 0),
    "intercepts differ": partial(two_states, (400, 400), 0.4, 0.6, 0),
    "150 and 600 rows": partial(two_states, (150, 600), 0.4, 0.0, 0),
    "weak links": partial(two_states, (400, 400), 0.2, 0.0, 0),
    "ordered items": partial(ordered, (300, 300), 0.25),
    "power, two edges": partial(two_states, (400, 400), 0.4, 0.0, 2),
}
#: Further ones, not among the targets.
MORE: dict[str, Draw] = {
    "ordered items, 150 and 600 rows": partial(ordered, (150, 600), 0.25),
    "100 and 100 rows": partial(two_states, (100, 100), 0.4, 0.0, 0),
    "power, intercepts differ": partial(two_states, (400, 400), 0.4, 0.6, 2),
}


def compared(draw: Draw, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """What a comparison of one table found."""
    table, changed = draw(seed)
    found = ig.compare_groups(table, "group", ig.GreedyGraph(n_jobs=1, **settings))
    hits = {(edge.source, edge.target) for edge in found.different}
    return {
        "edges": len(found.edges),
        "least": min((edge.adjusted for edge in found.edges if not edge.untested), default=1.0),
        "omnibus": found.omnibus.p_value,
        "strength": found.strength.p_value,
        "found": [pair in hits for pair in changed],
        "false": len(hits - set(changed)),
    }


def main() -> None:
    """Print one row per design."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--design", action="append", choices=[*DESIGNS, *MORE])
    parser.add_argument("--edges", help="what an edge may be, as GreedyGraph(edges=...)")
    parser.add_argument("--out", help="a file that results are added to, and read from")
    options = parser.parse_args()
    settings = {"edges": options.edges} if options.edges else {}
    every = {**DESIGNS, **MORE}
    print("| design | edges | any edge | omnibus | strength | edges found | false edges |")
    print("|---|---|---|---|---|---|---|")
    for name in options.design or DESIGNS:
        tasks = [
            Task.single(
                f"{name}/{options.edges}/{seed}", partial(compared, every[name], settings, seed)
            )
            for seed in range(options.tables)
        ]
        records = list(repeat(tasks, work="groups", path=options.out, n_jobs=1).values())
        failed = sum("failed" in record for record in records)
        good = [record for record in records if "failed" not in record]
        cells = [f"{np.mean([record['edges'] for record in good]):.1f}"]
        for key in ("least", "omnibus", "strength"):
            share = np.mean([record[key] <= LEVEL for record in good])
            cells.append(f"{share:.3f} ± {np.sqrt(share * (1 - share) / len(good)):.3f}")
        hits = [hit for record in good for hit in record["found"]]
        cells.append(f"{np.mean(hits):.3f}" if hits else "")
        cells.append(f"{np.mean([record['false'] for record in good]):.3f}")
        note = f" ({failed} failed)" if failed else ""
        print(f"| {name}, {len(good)} tables{note} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
