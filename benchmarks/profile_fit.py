"""Where the time of one fit goes, stage by stage, in percent of the whole.

    python benchmarks/profile_fit.py [--quick]

On the tables of rows a, b and e of `speed`. The core's stages are told apart from outside: a
search of no column packs the bits and counts the pairs; the searches have ended when progress
first reports all columns done; what edges are worth, and the flat arrays, come after. What the
stages leave of a whole fit is "other". Below the percentages stands how many candidates a column's
search evaluated exactly, of all that bounds could have skipped.
(The standard library has a module `profile`, hence the name of this one.)
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import tables
from measure import machine, medians, options

from isinglass import GreedyGraph
from isinglass.core import search_columns
from isinglass.estimators.join import join
from isinglass.table import Table, encode

STAGES = ("encode", "pack, pairs", "searches", "worth", "join", "other")


def main() -> None:
    """Print a line for each table."""
    chosen = options(__doc__).parse_args()
    print(machine(chosen.threads))
    print(f"{'':34} {'whole fit':>11}" + "".join(f"{stage:>13}" for stage in STAGES))
    for words, table in tables_to_profile(chosen):
        fit = FitStages(table, chosen.threads)
        whole, stages = fit.measure(repeats=3 if chosen.quick else 7)
        shares = "".join(f"{100 * stage / whole:>11.1f} %" for stage in stages)
        print(f"{words:<34} {whole:>9.4g} s{shares}")
        print(f"{'':34} {fit.evaluated.mean():.3g} exact evaluations a column, {fit.steps:.3g} steps")


def tables_to_profile(chosen: argparse.Namespace) -> Iterator[tuple[str, tables.Codes]]:
    p, side, n = (200, 14, 2000) if chosen.quick else (1000, 32, 10_000)
    yield f"a  3-regular, p = {p}, n = {n}", tables.regular(p, n)
    yield f"b  {side} x {side} grid, n = {n}", tables.grid(side, n)
    items = tables.dass(chosen.data)
    if items is None:
        print("e  dass: not run, no such table; --data names its folder")
    else:
        yield "e  dass, 4 states", items
