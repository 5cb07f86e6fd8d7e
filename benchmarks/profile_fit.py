"""Where the time of one fit goes, stage by stage, in percent of the whole.

    python benchmarks/profile_fit.py [--quick]

On the tables of rows a, b and e of `speed`. The core's stages are told apart from outside: a
search of no column packs the bits and counts the pairs; the searches have ended when progress
first reports all columns done; the flat arrays come after. "numbers" is what a graph takes when it
is first asked for strength and evidence, after the fit. What the stages leave of it is "other".
Below the percentages stands how many candidates were evaluated exactly for a column in its whole
search. The standard library has a module `profile`, hence the name of this one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from typing import Any

import tables
from measure import machine, options, repeated, seconds

from isinglass import GreedyGraph
from isinglass.core import search_columns
from isinglass.table import Table, encode

STAGES = ("encode", "pack, pairs", "searches", "arrays", "join", "other", "numbers")


def main() -> None:
    """Print the stages of each table."""
    chosen = options(__doc__).parse_args()
    print(machine(chosen))
    print(f"{'':32} {'whole fit':>11}" + "".join(f"{stage:>13}" for stage in STAGES))
    for words, table in tables_to_profile(chosen):
        rounds = repeated(lambda t=table: one_round(t, chosen.threads), 3 if chosen.quick else 7)
        whole, *stages = (statistics.median(column) for column in zip(*rounds, strict=True))
        shares = "".join(f"{100 * stage / whole:>11.1f} %" for stage in stages)
        print(f"{words:<32} {whole:>9.4g} s{shares}")
        print(f"{'':32} {evaluations(table, chosen.threads)}", flush=True)


def tables_to_profile(chosen: argparse.Namespace) -> Iterator[tuple[str, tables.Codes]]:
    """The tables of rows a, b and e of `speed`."""
    p, side, n = (200, 14, 2000) if chosen.quick else (1000, 32, 10_000)
    yield f"a  3-regular, p = {p}, n = {n}", tables.regular(p, n)
    yield f"b  {side} x {side} grid, n = {n}", tables.grid(side, n)
    items = tables.dass(chosen.data)
    if items is None:
        print("e  dass: not run, no such table; --data names its folder")
    else:
        yield "e  dass, 42 items of 4 states", items


def one_round(table: tables.Codes, threads: int) -> list[float]:
    """Seconds of a whole fit, then of each stage."""
    graph = GreedyGraph("paper", n_jobs=threads)
    whole = seconds(lambda: graph.fit(table))
    reading = seconds(lambda: encode(table))
    joining = seconds(lambda: graph.at(graph.threshold_))
    encoded = encode(table)
    packing = seconds(lambda: search(encoded, graph.threshold_, threads, targets=[]))
    numbers = seconds(lambda: graph.at(graph.threshold_ * (1 + 1e-12)).links)
    searched, finished = search_and_flatten(encoded, graph.threshold_, threads)
    native = [packing, searched - packing, finished - searched]
    other = whole - reading - finished - joining
    return [whole, reading, *native, joining, other, numbers]


def search_and_flatten(table: Table, threshold: float, threads: int) -> tuple[float, float]:
    """Seconds until all columns are searched, and until all is done."""
    ends: list[float] = []

    def progress(done: int) -> None:
        if done == len(table.columns):
            ends.append(time.perf_counter() - start)

    start = time.perf_counter()
    search(table, threshold, threads, progress=progress)
    finished = time.perf_counter() - start
    return (ends[0] if ends else finished), finished


def search(table: Table, threshold: float, threads: int, **more: Any) -> dict[str, Any]:
    """Run the core as a fit does."""
    return search_columns(
        table.codes,
        table.weights,
        table.n_states,
        threshold,
        nu=0.5,
        intercept=True,
        max_degree=None,
        threads=threads,
        **more,
    )


def evaluations(table: tables.Codes, threads: int) -> str:
    """How much exact work the bounds left, in words."""
    graph = GreedyGraph("paper", n_jobs=threads).fit(table)
    flat = search(encode(table), graph.threshold_, threads)
    steps = sum(map(len, graph.paths_)) / table.shape[1]
    return f"{flat['evaluated'].mean():.3g} exact evaluations and {steps:.3g} steps a column"


if __name__ == "__main__":
    main()
