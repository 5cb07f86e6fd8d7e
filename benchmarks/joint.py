"""CPU time and peak memory of the joint fit, beside those of the search that found the graph.

    python benchmarks/joint.py [--only items] [--errors] [--edges table] [--data FOLDER]

    items     25 questions of 6 answers, 2,400 rows
    mixed     56 columns of 2 to 11 states, 20,000 rows
    states    21 columns of 32 states, 3,000 rows: stars of up to 5,800 parameters
    wide      1,556 columns of 2 states, 1,000 rows
    regular   1,000 columns of 2 states, 10,000 rows, a random 3-regular graph
    dass, alarm, asia, nltcs, mushroom, soybean, house, senate, court, wenchuan, rogers, protein
              published tables, read from the folder

A fit that stops early ends its case with an error.

Each case is a process of its own. Its peak counts Python, the libraries and the table. With
`--errors` the same for `with_errors`, which takes that model.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measure import GIGABYTE, Work, options, peak_bytes
from numpy.typing import NDArray
from tables import dass, protein, regular

from isinglass import GreedyGraph, with_errors
from isinglass.errors import OutOfMemory

Codes = NDArray[np.int64]
Case = Callable[[Path], Any]


def items() -> Codes:
    """Graded answers to one of five traits each."""
    rng = np.random.default_rng(0)
    traits = rng.normal(size=(2400, 5))
    noisy = 1.2 * traits[:, np.arange(25) % 5] + rng.normal(size=(2400, 25))
    cuts = np.sort(rng.normal(0, 1.2, size=(25, 5)))
    return np.column_stack([np.searchsorted(cuts[j], noisy[:, j]) for j in range(25)])


def mixed() -> Codes:
    """Columns of 2 to 11 states, each of two of eight traits."""
    rng = np.random.default_rng(1)
    traits = rng.normal(size=(20_000, 8))
    columns = []
    for j in range(56):
        both = 0.9 * traits[:, j % 8] + 0.4 * traits[:, (3 * j + 1) % 8]
        noisy = both + rng.normal(size=len(both))
        shares = np.sort(rng.uniform(0.01, 0.99, size=rng.integers(1, 11)))
        columns.append(np.searchsorted(np.quantile(noisy, shares), noisy))
    return np.column_stack(columns)


def states() -> Codes:
    """Noisy copies of three columns of 32 states."""
    rng = np.random.default_rng(2)
    hidden = rng.integers(0, 32, size=(3000, 3))[:, np.arange(21) % 3]
    return np.where(rng.random(hidden.shape) < 0.8, hidden, rng.integers(0, 32, hidden.shape))


def wide() -> Codes:
    """Each column a noisy copy of one of the five before it."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, size=(1000, 1556))
    for j in range(1, codes.shape[1]):
        near = max(0, j - int(rng.integers(1, 6)))
        codes[:, j] = np.where(rng.random(len(codes)) < 0.8, codes[:, near], codes[:, j])
    return codes


def published(path: str, missing: str, folder: Path) -> pl.DataFrame | None:
    """A file of answers; None where it is absent."""
    if not (folder / path).exists():
        return None
    blanks = ["", "?", "NA"]
    frame = pl.read_csv(folder / path, infer_schema=False, null_values=blanks)
    return frame.drop_nulls() if missing == "drop" else frame


def senate(folder: Path) -> pl.DataFrame | None:
    """Votes of senators who were absent less than a quarter of the time; None without the file."""
    votes = published("senate/S109_voteview.csv", "state", folder)
    if votes is None:
        return None
    return votes.drop(
        "rollnumber", *(name for name in votes.columns if votes[name].null_count() > len(votes) / 4)
    )


def nltcs(folder: Path) -> Codes | None:
    """The training rows; None where the file is absent."""
    path = folder / "nltcs" / "nltcs.ts.data.gz"
    return np.loadtxt(path, dtype=np.int64, delimiter=",") if path.exists() else None


CASES: dict[str, Case] = {
    "items": lambda _: items(),
    "mixed": lambda _: mixed(),
    "states": lambda _: states(),
    "wide": lambda _: wide(),
    "regular": lambda _: regular(1000, 10_000),
    "dass": dass,
    "alarm": partial(published, "alarm/alarm.csv.gz", "error"),
    "asia": partial(published, "alarm/asia.csv.gz", "error"),
    "nltcs": nltcs,
    "mushroom": partial(published, "votes/mushroom.csv.gz", "state"),
    "soybean": partial(published, "votes/soybean.csv.gz", "state"),
    "house": partial(published, "votes/housevotes84.csv", "state"),
    "senate": senate,
    "court": partial(published, "senate/supremecourt_9497.csv", "error"),
    "wenchuan": partial(published, "psych/Wenchuan.csv", "drop"),
    "rogers": partial(published, "psych/Rogers.csv", "drop"),
    "protein": protein,
}


def main() -> None:
    """Print a row per case."""
    parser = options(__doc__)
    parser.add_argument("--only", default=",".join(CASES), help="cases, as in items,wide")
    parser.add_argument("--errors", action="store_true", help="standard errors too")
    parser.add_argument("--edges", default="auto", help="the forms of edges, as in table")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        measure(asked)
        return
    errors = f"{'errors':>9}{'ratio':>8}" if asked.errors else ""
    heads = f"{'search':>9}{'model':>9}{'ratio':>8}{errors}{'GB':>7}"
    print(f"{'case':9}{'edges':>7}{'parameters':>12}{'unbounded':>11}{heads}", flush=True)
    for name in asked.only.split(","):
        subprocess.run([sys.executable, __file__, *sys.argv[1:], "--case", name], check=True)


def measure(asked: argparse.Namespace) -> None:
    """One case, in this process; what takes less than ten seconds, the best of five."""
    codes = CASES[asked.case](asked.data)
    if codes is None:
        print(f"{asked.case:9} not run: there is no such file in {asked.data}")
        return
    warnings.simplefilter("error")  # such as one that says that a fit stopped early
    estimator = GreedyGraph(missing="state", edges=asked.edges)
    told = Told(asked.case)
    search, model = least_times(
        [
            lambda: estimator.fit(
                codes, progress=lambda done, all: told(f"{done} of {all} columns")
            ),
            lambda: estimator.fit_model(progress=told),
        ]
    )
    field = estimator.model_
    free = [len(labels) - 1 for labels in field.states]
    parameters = sum(free) + sum(free[i] * free[j] for i, j in field.couplings)
    columns = f"{search:8.2f}s{model:8.2f}s{model / search:8.1f}"
    if asked.errors:
        try:
            [errors] = least_times([lambda: with_errors(estimator)])
            columns += f"{errors:8.2f}s{errors / search:8.1f}"
        except OutOfMemory:
            columns += f"{'too large':>17}"
    print(
        f"{asked.case:9}{len(field.couplings):7}{parameters:12,}{len(field.unbounded):11}{columns}"
        f"{peak_bytes() / GIGABYTE:7.2f}"
    )


class Told:
    """Says on standard error, every ten seconds, how far a case has come."""

    def __init__(self, case: str) -> None:
        self.case, self.last = case, time.monotonic()

    def __call__(self, words: str) -> None:
        if time.monotonic() > self.last + 10.0:
            self.last = time.monotonic()
            print(f"{self.case}: {words}", file=sys.stderr, flush=True)


def least_times(works: list[Work]) -> list[float]:
    """CPU time of each work, in turns; the best of five rounds, or of one if it takes long."""
    rounds = [[cpu_seconds(work) for work in works]]
    while len(rounds) < 5 and sum(rounds[0]) < 10.0:
        rounds.append([cpu_seconds(work) for work in works])
    return [min(column) for column in zip(*rounds, strict=True)]


def cpu_seconds(work: Work) -> float:
    """CPU time of one call, of all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
