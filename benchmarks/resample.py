"""What half-samples cost beside fits: ``python benchmarks/resample.py --data nltcs.ts.data.gz``.

Fits and half-samples take turns in one process, on one thread, so that whatever else the machine
does slows down both; times are of the processor. A fit reads an array and encodes it; half-samples
are drawn from the fitted table. The overhead is what is not spent in the compiled search.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np

import isinglass as ig
from isinglass.engine import native


def table(path: str | None) -> np.ndarray:
    """Whole numbers with commas in a file, or a table of that size, drawn from a model."""
    if path:
        return np.loadtxt(path, delimiter=",", dtype=np.int64)
    graph = ig.simulate.random_regular(16, 6, seed=0)
    field = ig.simulate.ising(graph, coupling=0.35, signs="positive", intercept=-0.5, seed=0)
    return field.sample(16_181, seed=0)


class Clock:
    """Processor time of some calls."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, work, *arguments, **settings):
        start = process_time()
        try:
            return work(*arguments, **settings)
        finally:
            self.seconds += process_time() - start


def main() -> None:
    """Print the two times, their ratio, and the overhead."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="whole numbers with commas; by default a simulated one")
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=10)
    options = parser.parse_args()
    X = table(options.data)
    fits, halves, search, core = Clock(), Clock(), Clock(), native.search_columns

    def searching(*arguments, **settings):
        return search(core, *arguments, **settings)

    est = ig.GreedyGraph(n_jobs=1).fit(X)
    distinct = len(np.unique(X, axis=0))
    print(f"{len(X):,} rows x {X.shape[1]} columns, {distinct:,} distinct rows; ", end="")
    print(f"{len(est.graph_)} edges; {options.samples} of each")
    each = options.samples // options.turns
    for turn in range(options.turns):
        for _ in range(each):
            fits(ig.GreedyGraph(n_jobs=1).fit, X)
        native.search_columns = searching
        halves(ig.resample, est, n=each, seed=turn, n_jobs=1)
        native.search_columns = core
    print(f"{each * options.turns} fits          {fits.seconds:8.2f} s")
    print(f"{each * options.turns} half-samples  {halves.seconds:8.2f} s")
    print(f"ratio              {halves.seconds / fits.seconds:8.2f}")
    overhead = 1 - search.seconds / halves.seconds
    print(f"overhead           {overhead:8.1%} of the half-samples' time")


if __name__ == "__main__":
    main()
