"""How the time and memory of a whole fit grow with the table.

    python benchmarks/scaling.py [--only p] [--quick]

    n       rows: 10^4, 10^5, 10^6 at p = 100; time should grow no faster than n
    p       columns: 1000, 3000, 10,000, 30,000 at n = 10,000, beside one float32 X.T @ X
    wide    100,000 columns in ten parts at n = 10,000, beside the counting limit: all pairs once
            and one set of rows for each column against all others, at the rate of pairs
    degree  neighbours of every column: 2, 4, 8, 16 at p = 300
    states  of every column: 2, 3, 5, 10, 20, on a chain of 50 columns

All but the last are Ising models on random regular graphs. Each point is a process of its own;
its peak memory counts Python, the libraries and the table itself. Times are CPU time of all
threads, of the fastest of some runs, so that other work on the machine matters little. Ratios are
to the first row of a group; "power" is the one in which time grew since then; "product" and
"limit" are ratios to X.T @ X and to the counting limit, each measured in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import tables
from measure import GIGABYTE, Work, machine, options, peak_bytes, repeated, with_threads

from isinglass import GreedyGraph
from isinglass.core import all_pair_counts

Group = tuple[list[int], list[int], Callable[[int], tables.Codes]]

#: Sizes, sizes of a quick run, and the table of a size.
GROUPS: dict[str, Group] = {
    "n": (
        [10_000, 100_000, 1_000_000],
        [1000, 10_000],
        lambda n: tables.regular(100, n),
    ),
    "p": (
        [1000, 3000, 10_000, 30_000],
        [100, 300],
        lambda p: tables.regular(p, 10_000),
    ),
    "wide": ([100_000], [300], lambda p: tables.regular_parts(p, 10_000, min(p // 3, 10_000))),
    "degree": (
        [2, 4, 8, 16],
        [2, 4],
        lambda degree: tables.regular(300, 10_000, degree, strength=0.2),
    ),
    "states": ([2, 3, 5, 10, 20], [2, 3], lambda states: tables.chain(50, 20_000, states)),
}


@dataclass(frozen=True)
class Limit:
    """What a row may need: times the time of another row, times a product or the limit, bytes."""

    of: int | None = None
    ratio: float | None = None
    beside: float | None = None
    memory: float | None = None


#: By group and size.
LIMITS = {
    ("n", 1_000_000): Limit(10_000, 100),
    ("p", 10_000): Limit(1000, 50, 1.5),
    ("p", 30_000): Limit(10_000, 11, 1.5, 3 * GIGABYTE),
    ("wide", 100_000): Limit(beside=6, memory=6 * GIGABYTE),
}

REPEATS = 5
#: Columns of the table on which the rate of counting is measured.
COUNTED = 3000


def main() -> None:
    """Print a table for each group."""
    parser = options(__doc__)
    parser.add_argument(
        "--only", default="n,p,degree,states", help="groups, as in n,p; the last, wide, takes long"
    )
    point = ("KIND", "GROUP", "SIZE")
    parser.add_argument("--point", nargs=3, metavar=point, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.point:
        kind, group, size = chosen.point
        print(json.dumps(POINTS[kind](GROUPS[group][2](int(size)), chosen.threads)))
        return
    print(machine(chosen))
    for group in chosen.only.split(","):
        print_group(group, chosen)


def cpu_seconds(work: Work) -> float:
    """CPU time of the fastest of some calls, all threads together."""

    def once() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return min(repeated(once, REPEATS))


def measure_fit(table: tables.Codes, threads: int) -> tuple[float, int]:
    """Time of a fit, and the peak memory of this process."""
    graph = GreedyGraph("paper", n_jobs=threads)
    graph.fit(np.ascontiguousarray(table[:100, :3]))  # what is imported on first use
    return cpu_seconds(lambda: graph.fit(table)), peak_bytes()


def measure_product(table: tables.Codes, threads: int) -> tuple[float, int]:
    """Time of one product of the columns with each other.

    By blocks of columns where there are many: OpenBLAS crashes on 30,000 in one call.
    """
    X = table.astype(np.float32)
    begins = range(0, X.shape[1], BLOCK)
    blocks = [X[:, first : first + BLOCK] for first in begins]

    def product() -> None:
        for at, left in enumerate(blocks):
            for right in blocks[at:]:  # the others are their transposes
                _ = left.T @ right

    return cpu_seconds(with_threads(product, threads)), peak_bytes()


def measure_limit(table: tables.Codes, threads: int) -> tuple[float, int]:
    """Time of counting pairs once and one set for each column, from pairs of some columns.

    Counting all pairs of both states of p columns, in both orders, is 4 p^2 counts; pairs once and
    a set of rows for each column against all others are 1.5 p^2.
    """
    p = min(COUNTED, table.shape[1])
    codes = np.asfortranarray((table[:, :p] > 0).astype(np.uint8))
    pairs = cpu_seconds(lambda: all_pair_counts(codes, np.ones(len(codes)), [2] * p, threads))
    return 1.5 / 4 * pairs * (table.shape[1] / p) ** 2, peak_bytes()


#: Columns of a product that is made in one call.
BLOCK = 10_000
POINTS = {"fit": measure_fit, "product": measure_product, "limit": measure_limit}
#: What fits of a group are compared with.
BESIDE = {"p": "product", "wide": "limit"}


def print_group(group: str, chosen: argparse.Namespace) -> None:
    """One line per size, and whether it keeps to its limits."""
    full, quick, make = GROUPS[group]
    sizes = quick if chosen.quick else full
    beside = BESIDE.get(group, "")
    heading = f"{'CPU time':>11} {'ratio':>9} {'power':>9} {'peak memory':>12} {beside:>9}"
    print(f"\n{group:>10} {heading}")
    times: dict[int, float] = {}
    for size in sizes:
        if group != "wide":
            make(size)  # kept in a file, so that the point's process need not simulate
        times[size], memory = point_in_process("fit", group, size, chosen.threads)
        ratio = times[size] / times[sizes[0]]
        power = f"{math.log(ratio) / math.log(size / sizes[0]):.2f}" if size != sizes[0] else ""
        other = beside_it(beside, group, size, chosen.threads) if beside else math.inf
        share = f"{times[size] / other:9.3g}" if beside else ""
        print(
            f"{size:>10} {times[size]:>9.4g} s {ratio:>9.3g} {power:>9} {memory / 1e6:>9.0f} MB "
            f"{share}{judge(group, size, times, times[size] / other, memory)}",
            flush=True,
        )


def beside_it(kind: str, group: str, size: int, threads: int) -> float:
    """Time of what a fit is compared with; NaN if it crashes, as OpenBLAS does at 30,000."""
    try:
        return point_in_process(kind, group, size, threads)[0]
    except subprocess.CalledProcessError:
        return math.nan


def judge(group: str, size: int, times: dict[int, float], beside: float, memory: int) -> str:
    """Whether a row keeps to its limits."""
    limit = LIMITS.get((group, size), Limit())
    words = []
    if limit.of is not None and limit.ratio is not None and limit.of in times:
        grown = times[size] / times[limit.of]
        met = _met(grown <= limit.ratio)
        words.append(f"{grown:.3g} times {limit.of:,}, at most {limit.ratio:g}{met}")
    if limit.beside is not None:
        words.append(f"{BESIDE[group]} at most {limit.beside:g}{_met(beside <= limit.beside)}")
    if limit.memory is not None:
        words.append(f"{limit.memory / GIGABYTE:g} GB{_met(memory <= limit.memory)}")
    return "  " + "; ".join(words) if words else ""


def _met(kept: bool) -> str:
    return ": met" if kept else ": MISSED"


def point_in_process(kind: str, group: str, size: int, threads: int) -> tuple[float, int]:
    """Measure a point in a fresh interpreter."""
    point = ["--point", kind, group, str(size), "--threads", str(threads)]
    command = [sys.executable, __file__, *point]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seconds, memory = json.loads(done.stdout)
    return seconds, memory


if __name__ == "__main__":
    main()
