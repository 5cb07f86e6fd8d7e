"""Large files: cells encoded per CPU second, peak memory, and a file larger than memory.

    python benchmarks/large.py              encoding and memory, a minute or two
    python benchmarks/large.py --file 5     a CSV of 5 GB too, fitted with 2 GB of address space

Each path runs in a process of its own: CPU seconds are those of all its threads, after imports, and
memory is the most that was resident. "At once" is the path of files that fit memory; "decoded" is
what polars alone takes to read Parquet in the same chunks, which no path can do without.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COLUMNS = 100
LIMIT = 2 << 30

WORK = """
import json, pathlib, sys, time
import isinglass as ig
from isinglass.table import encode, read_table
from isinglass.table.packed.api import stream_table
from isinglass.table.packed.stream import Encoding, Reading
from isinglass.table.reading.blocks import ColumnarFile
import polars
way, path = sys.argv[1:3]
start = time.process_time()
packed = 0
if way == "at once":
    table = encode(read_table(path, max_bytes=1e12))
    cells = table.n * len(table.columns)
elif way == "in chunks":
    table = stream_table(path, Reading(), Encoding())
    packed = 8 * (-(-table.elsewhere.rows // 512) * 8) * sum(m - 1 for m in table.n_states)
    cells = table.n * len(table.columns)
else:
    file = ColumnarFile.open(pathlib.Path(path))
    cells = sum(frame.height * frame.width for frame in file.frames(file.names))
seconds = time.process_time() - start
status = open("/proc/self/status").read()
peak = 1024 * int(status.split("VmHWM:")[1].split()[0])  # of this program alone
print(json.dumps({"seconds": seconds, "peak": peak, "packed": packed, "cells": cells}))
"""

FIT = """
import resource, sys, time
limit = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
import isinglass as ig
from isinglass.table.packed.api import stream_table
from isinglass.table.packed.stream import Encoding, Reading
start = time.time()
table = stream_table(sys.argv[1], Reading(), Encoding())
read = time.time() - start
estimator = ig.GreedyGraph().fit(table)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(f"{table.n:,.0f} rows of {len(table.columns)} columns: read in {read:.0f} s, fitted in "
      f"{time.time() - start - read:.0f} s, {len(estimator.graph_)} edges, {peak:.2f} GB resident")
"""


def chain(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Rows of two states in which each column depends on the one before."""
    codes = np.empty((rows, COLUMNS), dtype=np.uint8)
    codes[:, 0] = rng.integers(0, 2, rows)
    for j in range(1, COLUMNS):
        codes[:, j] = codes[:, j - 1] ^ (rng.random(rows) < 0.3)
    return codes


def write_text(path: Path, codes: np.ndarray, mode: str = "wb") -> None:
    """Cells of one digit, written by arrays: a row is its digits and what separates them."""
    text = np.empty((len(codes), 2 * COLUMNS), dtype=np.uint8)
    text[:, ::2], text[:, 1::2], text[:, -1] = codes + ord("0"), ord(","), ord("\n")
    with path.open(mode) as file:
        if mode == "wb":
            file.write((",".join(f"x{j}" for j in range(COLUMNS)) + "\n").encode())
        file.write(text.tobytes())


def measured(way: str, path: Path) -> dict[str, float]:
    """One run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", WORK, way, str(path)], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def encoding(folder: Path, rows: int, repeats: int) -> None:
    """Cells per CPU second, of both paths, from text and from Parquet."""
    import polars as pl

    codes = chain(np.random.default_rng(0), rows)
    write_text(folder / "t.csv", codes)
    names = [f"x{j}" for j in range(COLUMNS)]
    pl.DataFrame(codes.astype(np.int64), schema=names).write_parquet(folder / "integers.parquet")
    words = pl.DataFrame(codes, schema=names).select(
        pl.all().replace_strict({0: "no", 1: "yes"}, return_dtype=pl.String)
    )
    words.write_parquet(folder / "words.parquet")
    print(f"encoding, {rows:,} rows of {COLUMNS} columns, millions of cells per CPU second")
    for name in ("t.csv", "integers.parquet", "words.parquet"):
        ways = ["at once", "in chunks", *(["decoded"] if name.endswith(".parquet") else [])]
        speeds = [
            max(
                run["cells"] / run["seconds"] / 1e6
                for run in (measured(way, folder / name) for _ in range(repeats))
            )
            for way in ways
        ]
        listed = ", ".join(f"{way} {speed:.1f}" for way, speed in zip(ways, speeds, strict=True))
        print(f"  {name:18} {listed}: {speeds[1] / speeds[0]:.1f} x", flush=True)


def memory(folder: Path, rows: int) -> None:
    """Peak memory at ten times the rows, packed bits aside."""
    peaks = []
    for times in (1, 10):
        path = folder / f"rows-{times}.csv"
        rng = np.random.default_rng(1)
        for part in range(times):
            write_text(path, chain(rng, rows), "wb" if part == 0 else "ab")
        run = measured("in chunks", path)
        peaks.append(run["peak"] - run["packed"])
        print(
            f"  {times * rows:10,} rows: {run['peak'] / 1e6:7.0f} MB, of which bits "
            f"{run['packed'] / 1e6:6.0f} MB"
        )
        path.unlink()
    ratio = peaks[1] / peaks[0]
    print(f"  packed bits aside, ten times the rows take {ratio:.2f} times the memory")


def larger_than_memory(folder: Path, size: float) -> None:
    """A CSV of so many bytes, fitted with little address space."""
    path, rng = folder / "large.csv", np.random.default_rng(2)
    write_text(path, chain(rng, 1 << 17))
    while path.stat().st_size < size:  # new rows: copies would make links of chance
        write_text(path, chain(rng, 1 << 17), "ab")
    print(f"{path.stat().st_size / 1e9:.2f} GB of CSV with {LIMIT / 2**30:.0f} GB of address space")
    done = subprocess.run([sys.executable, "-c", FIT, str(path), str(LIMIT)], check=False)
    path.unlink()
    if done.returncode:
        sys.exit("it was not fitted")


def main() -> None:
    """Measure, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--file", type=float, default=0, help="GB of a file to fit with 2 GB")
    parser.add_argument("--only-file", action="store_true", help="nothing but that")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not asked.only_file:
            encoding(folder, asked.rows, asked.repeats)
            print("peak memory of a CSV in chunks")
            memory(folder, asked.rows)
        if asked.file:
            larger_than_memory(folder, asked.file * 1e9)


if __name__ == "__main__":
    main()
