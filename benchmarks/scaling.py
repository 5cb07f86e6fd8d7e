"""How the time and memory of a whole fit grow with the table.

    python benchmarks/scaling.py [--only p] [--quick]

    n       rows: 10^4, 10^5, 10^6 at p = 100; time should grow no faster than n
    p       columns: 1000, 3000, 10,000 at n = 10,000; the last under 2 GB, and at most 1.5 x 100
            times the time of the first
    degree  neighbours of every column: 2, 4, 8, 16 at p = 300
    states  of every column: 2, 3, 5, 10, 20, on a chain of 50 columns

All but the last are Ising models on random regular graphs. Each point is a process of its own;
its peak memory counts Python, the libraries and the table itself. Ratios are to the first row
of a group; "power" is the one in which time grew since then.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import tables
from measure import GIGABYTE, TOLERATED, OthersBusy, machine, options, peak_bytes, repeated, seconds

from isinglass import GreedyGraph

Group = tuple[list[int], list[int], Callable[[int], tables.Codes]]

#: Sizes, sizes of a quick run, and the table of a size.
GROUPS: dict[str, Group] = {
    "n": (
        [10_000, 100_000, 1_000_000],
        [1000, 10_000],
        lambda n: tables.regular(100, n),
    ),
    "p": ([1000, 3000, 10_000], [100, 300], lambda p: tables.regular(p, 10_000)),
    "degree": (
        [2, 4, 8, 16],
        [2, 4],
        lambda degree: tables.regular(300, 10_000, degree, strength=0.2),
    ),
    "states": ([2, 3, 5, 10, 20], [2, 3], lambda states: tables.chain(50, 20_000, states)),
}

#: Of the last row of a group: largest ratio of times to the first, and most memory.
LIMITS = {"n": (100.0, None), "p": (150.0, 2 * GIGABYTE)}

REPEATS = 5


def main() -> None:
    """Print a table for each group."""
    parser = options(__doc__)
    parser.add_argument("--only", default=",".join(GROUPS), help="groups, as in n,p")
    parser.add_argument("--point", nargs=2, metavar=("GROUP", "SIZE"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.point:
        print(json.dumps(measure_point(chosen.point[0], int(chosen.point[1]), chosen.threads)))
        return
    print(machine(chosen))
    for group in chosen.only.split(","):
        print_group(group, chosen)


def measure_point(group: str, size: int, threads: int) -> tuple[float, int]:
    """Median time of a fit, and the peak memory of this process."""
    table = GROUPS[group][2](size)
    graph = GreedyGraph("paper", n_jobs=threads)
    graph.fit(np.ascontiguousarray(table[:100, :3]))  # what is imported on first use
    times = repeated(lambda: seconds(lambda: graph.fit(table)), REPEATS)
    return statistics.median(times), peak_bytes()


def print_group(group: str, chosen: argparse.Namespace) -> None:
    """One line a size, and whether the last one keeps to its limits."""
    full, quick, make = GROUPS[group]
    sizes = quick if chosen.quick else full
    print(f"\n{group:>10} {'time':>11} {'ratio':>9} {'power':>9} {'peak memory':>12}")
    watch, points = OthersBusy(), []
    for size in sizes:
        make(size)  # kept in a file, so that the point's process need not simulate
        points.append(point_in_process(group, size, chosen.threads))
        (time, memory), first = points[-1], points[0]
        ratio = time / first[0]
        power = f"{math.log(ratio) / math.log(size / sizes[0]):.2f}" if points[1:] else ""
        print(f"{size:>10} {time:>9.4g} s {ratio:>9.3g} {power:>9} {memory / 1e6:>9.0f} MB")
    if group in LIMITS and not chosen.quick:
        print(judge(group, points[-1][0] / points[0][0], points[-1][1], watch.share()))


def judge(group: str, ratio: float, memory: int, others_busy: float | None) -> str:
    """Whether the last row of a group is within its limits; no verdict on a busy machine's time."""
    most, bytes_allowed = LIMITS[group]
    time = "met" if ratio <= most else "MISSED"
    if others_busy is not None and others_busy > TOLERATED:
        time = f"no verdict, other processes used {others_busy:.0%} of the cores"
    words = [f"time ratio at most {most:g}: {time}"]
    if bytes_allowed is not None:
        met = "met" if memory < bytes_allowed else "MISSED"
        words.append(f"under {bytes_allowed / GIGABYTE:g} GB: {met}")
    return f"{'':>10} target, last row: " + "; ".join(words)


def point_in_process(group: str, size: int, threads: int) -> tuple[float, int]:
    """Measure a point in a fresh interpreter."""
    command = [sys.executable, __file__, "--point", group, str(size), "--threads", str(threads)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    time, memory = json.loads(done.stdout)
    return time, memory


if __name__ == "__main__":
    main()
