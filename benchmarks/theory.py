"""What the theorem asks for against what suffices, on the paper's three families.

    python benchmarks/theory.py [--graphs 20] [--records theory.jsonl]
                                [--picture docs/pictures/theory.png]

Chains, grids and stars of 9 to 36 columns with couplings of +-0.5: the rows with which the
conditions of Theorem 1 hold at every column, and those with which the weakest link is found with
probability 0.95 (both from `ig.theory`); and the rows with which the whole graph was recovered in
90 % of drawn tables. Then the same for 16 columns with other couplings, for which the rows grow.
Some minutes; what is in the file of records is not done again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np

from isinglass import GreedyGraph, plots, simulate, theory
from isinglass.experiments import crossing, monotone
from isinglass.repeating import Record, Task, repeat
from isinglass.theorem.results import number

SIZES = (9, 16, 25, 36)
COUPLINGS = (0.2, 0.3, 0.5, 0.8)
FAMILIES = ("chain", "grid", "star")
USUAL = 0.5, 16
#: Rows at which recovery is counted.
ROWS = (80, 120, 180, 270, 400, 600, 900)
LEVEL = 0.9
Records = dict[str, Record]


def graph_of(family: str, p: int) -> nx.Graph:
    """The paper's graphs; a star has a tenth of the columns as leaves, at least four."""
    side = round(p**0.5)
    if family == "grid":
        return simulate.grid(side, side)
    return simulate.chain(p) if family == "chain" else simulate.star(p, max(4, p // 10))


def asked(family: str, p: int, coupling: float) -> Record:
    """What the theorem asks for, and the working numbers."""
    field = simulate.ising(graph_of(family, p), coupling=coupling, seed=0)
    result = theory(field, rows=1000, draws=40, population=10_000)
    worst = max(result.columns, key=lambda column: column.rows)
    return {
        "asked": result.rows_asked,
        "sufficient": result.rows_sufficient,
        "margin": result.margin,
        "recovered": result.recovered,
        "condition": worst.condition,
        "l1": max(column.irrepresentability for column in result.columns),
    }


def recovered(family: str, p: int, n: int, graphs: int) -> Record:
    """The share of graphs that are recovered exactly from n rows."""
    hits = 0
    for seed in range(graphs):
        field = simulate.ising(graph_of(family, p), coupling=USUAL[0], seed=seed)
        est = GreedyGraph(n_jobs=1).fit(field.sample(n, seed=seed + 1000))
        hits += est.graph_.pairs == field.graph.pairs
    return {"share": hits / graphs}


def asked_key(family: str, p: int, coupling: float) -> str:
    return f"{family} of {p}, coupling {coupling:g}"


def share_key(family: str, p: int, n: int, graphs: int) -> str:
    return f"{family} of {p}, {n} rows, {graphs} graphs"


def tasks(graphs: int) -> Iterator[Task]:
    """All points of the figure."""
    for family in FAMILIES:
        points = [(p, USUAL[0]) for p in SIZES] + [(USUAL[1], c) for c in COUPLINGS]
        for p, coupling in dict.fromkeys(points):
            at = family, p, coupling
            yield Task.single(asked_key(*at), partial(asked, *at))
        for p in SIZES:
            for n in ROWS:
                yield Task.single(
                    share_key(family, p, n, graphs), partial(recovered, family, p, n, graphs)
                )


def measured(records: Records, family: str, p: int, graphs: int) -> float:
    """Rows with which the level of recovery is reached."""
    shares = [records[share_key(family, p, n, graphs)]["share"] for n in ROWS]
    return crossing(ROWS, monotone(shares, np.ones(len(ROWS))), LEVEL).beta


def table(records: Records, graphs: int) -> Iterator[str]:
    """One line per family and size, then per coupling."""
    yield (
        "| graph | columns | coupling | rows asked by Theorem 1 | its condition number | weakest "
        "link found | 90 % of graphs recovered | margin | l1 |"
    )
    yield "|---" * 9 + "|"
    for family in FAMILIES:
        points = [(p, USUAL[0]) for p in SIZES] + [(USUAL[1], c) for c in COUPLINGS]
        for p, coupling in dict.fromkeys(points):
            at = records[asked_key(family, p, coupling)]
            seen = number(measured(records, family, p, graphs)) if coupling == USUAL[0] else ""
            yield (
                f"| {family} | {p} | {coupling:g} | {number(at['asked'])} | {at['condition']:.3g} "
                f"| {number(at['sufficient'])} | {seen} | {at['margin']:.3g} | {at['l1']:.2f} |"
            )


def picture(records: Records, graphs: int) -> bytes:
    """Rows over columns, and over couplings."""
    figure, first = plots.new_figure(9.0, 6.0)
    first.remove()
    axes = figure.subplots(2, len(FAMILIES), sharex="row", sharey=True)
    styles = {"Theorem 1 asks for": "C3-o", "weakest link found": "C0-s"}
    for (above, below), family in zip(axes.T, FAMILIES, strict=True):
        for (label, style), name in zip(styles.items(), ("asked", "sufficient"), strict=True):
            by_size = [records[asked_key(family, p, USUAL[0])][name] for p in SIZES]
            above.plot(SIZES, by_size, style, ms=4, label=label)
            by_coupling = [records[asked_key(family, USUAL[1], c)][name] for c in COUPLINGS]
            below.plot(COUPLINGS, by_coupling, style, ms=4)
        seen = [measured(records, family, p, graphs) for p in SIZES]
        above.plot(SIZES, seen, "k--^", ms=4, label="90 % of graphs recovered")
        above.set(yscale="log", xlabel="columns", xticks=SIZES, title=family)
        below.set(yscale="log", xlabel="coupling", xticks=COUPLINGS)
    axes[0, 0].set_ylabel("rows, couplings of 0.5")
    axes[1, 0].set_ylabel("rows, 16 columns")
    handles = axes[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3, fontsize=9)
    return plots.png(figure)


def report(done: int, total: int) -> None:
    """Say every ten records how far it is."""
    if done % 10 == 0 or done == total:
        print(f"{done} of {total}", file=sys.stderr, flush=True)


def main() -> None:
    """Print the table, and write the picture if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--records", type=Path, help="a file that results are kept in")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    records = repeat(
        tasks(options.graphs),
        work="benchmarks/theory.py",
        path=options.records,
        n_jobs=1,
        progress=report,
    )
    print("\n".join(table(records, options.graphs)))
    if options.picture:
        options.picture.write_bytes(picture(records, options.graphs))


if __name__ == "__main__":
    main()
