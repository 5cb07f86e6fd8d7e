"""Many states: the protein family PF00014, 13,600 rows, 53 columns, up to 21 states.

    python benchmarks/protein.py [--nodes 3] [--quick]

The whole graph (threshold "paper") against scikit-learn regressions without penalty on one-hot
columns, a few nodes timed and the rest reckoned at the same price, with as many processes as we
use threads. Should be at most 3 times their time, in under 4 GB.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import tables
from measure import (
    GIGABYTE,
    HEADING,
    AtMost,
    NotRun,
    Row,
    machine,
    options,
    peak_bytes,
    print_rows,
    seconds,
)
from run_peers import time_peer

from isinglass import GreedyGraph

MOST_BYTES = 4 * GIGABYTE
WORDS = "PF00014 / scikit-learn without penalty, node by node"


def main() -> None:
    """Print the ratio and the memory."""
    parser = options(__doc__)
    parser.add_argument("--nodes", type=int, default=3, help="nodes of the regressions to time")
    chosen = parser.parse_args()
    print(machine(chosen))
    print(HEADING)
    print_rows(rows(chosen), chosen.quick)


def rows(chosen: argparse.Namespace) -> Iterator[Row | NotRun]:
    """The comparison, with the memory of our fit in its words."""
    table = tables.protein(chosen.data)
    if table is None:
        yield NotRun("", "no such table; --data names its folder", WORDS)
        return
    if chosen.quick:
        table = np.ascontiguousarray(table[:1000, :6])
    ours = seconds(lambda: GreedyGraph("paper", n_jobs=chosen.threads).fit(table))
    memory = peak_bytes()
    theirs = time_peer("unpenalised", table, chosen.threads, nodes=chosen.nodes)
    yield Row("", AtMost(3), ours, theirs.seconds, f"{WORDS}, {theirs}")
    met = "met" if memory < MOST_BYTES else "MISSED"
    print(f"peak memory {memory / 1e6:.0f} MB; under {MOST_BYTES / GIGABYTE:g} GB: {met}")


if __name__ == "__main__":
    main()
