"""How long it takes to inspect a file, beside polars' own description of the same file.

    python benchmarks/inspect_time.py [--rows 1000000] [--columns 50] [--repeats 3]

Both read the file; the one describes its columns, the other inspects them. They take turns, each in
a process of its own, so that a busy machine slows both alike. Printed is the ratio of their
medians, which should be below 2: of the time elapsed, and of that of all processors, which a busy
machine changes less.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

THEIRS = "import polars as pl\nread = lambda path: pl.read_csv(path).describe()"
OURS = "from isinglass.inspection.inspect import inspect_file as read"
RUN = """
import sys, time
{how}
start, busy = time.perf_counter(), time.process_time()
read(sys.argv[1])
print(time.perf_counter() - start, time.process_time() - busy)
"""


def main() -> None:
    """Write the file, time both, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, polars {version('polars')}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write(path, given.rows, given.columns)
        print(f"{given.rows:,} x {given.columns}, {path.stat().st_size / 1e6:.0f} MB")
        rounds = [(seconds(OURS, path), seconds(THEIRS, path)) for _ in range(given.repeats)]
    for at, what in enumerate(("elapsed", "of all processors")):
        ours, theirs = (statistics.median(one[k][at] for one in rounds) for k in (0, 1))
        print(f"{what}: inspect {ours:.2f} s, describe {theirs:.2f} s, ratio {ours / theirs:.2f}")


def write(path: Path, rows: int, columns: int) -> None:
    """A survey: words, small numbers, a few measurements and missing values."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    words = np.array(["never", "rarely", "often", "always"])
    table = {}
    for j in range(columns):
        if j % 10 == 0:
            table[f"number{j}"] = rng.normal(50, 10, rows).round(1)
        elif j % 3 == 0:
            table[f"word{j}"] = words[rng.integers(0, 4, rows)]
        else:
            table[f"item{j}"] = rng.integers(1, 3 + j % 5, rows)
    gaps = pl.Series(rng.random(rows) < 0.02)
    frame = pl.DataFrame(table)
    frame.with_columns(
        pl.when(~gaps).then(pl.col(name)).alias(name) for name in frame.columns[::7]
    ).write_csv(path)


def seconds(how: str, path: Path) -> tuple[float, float]:
    """The time of the work in a new process, without its imports: elapsed, and of processors."""
    run = [sys.executable, "-c", RUN.format(how=how), str(path)]
    elapsed, busy = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    return float(elapsed), float(busy)


if __name__ == "__main__":
    main()
