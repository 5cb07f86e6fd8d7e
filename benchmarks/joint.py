"""Time and peak memory of the joint fit, beside those of the search that found the graph.

    python benchmarks/joint.py [--only items]

    items   25 questions of 6 answers, 2,400 rows
    mixed   56 columns of 2 to 11 states, 20,000 rows
    states  21 columns of 32 states, 3,000 rows: stars of up to 5,800 parameters
    wide    1,556 columns of 2 states, 1,000 rows

Each case is a process of its own. Its peak counts Python, the libraries and the table.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable

import numpy as np
from measure import GIGABYTE, peak_bytes, seconds
from numpy.typing import NDArray

from isinglass import GreedyGraph

Codes = NDArray[np.int64]


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


CASES: dict[str, Callable[[], Codes]] = {
    "items": items,
    "mixed": mixed,
    "states": states,
    "wide": wide,
}


def main() -> None:
    """Print a row per case."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(CASES), help="cases, as in items,wide")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case:
        measure(asked.case)
        return
    print(f"{'case':8}{'edges':>7}{'parameters':>12}{'search':>9}{'model':>9}{'ratio':>8}{'GB':>7}")
    for name in asked.only.split(","):
        subprocess.run([sys.executable, __file__, "--case", name], check=True)


def measure(name: str) -> None:
    """One case, in this process."""
    estimator = GreedyGraph()
    codes = CASES[name]()
    search = seconds(lambda: estimator.fit(codes))
    model = seconds(estimator.fit_model)
    field = estimator.model_
    free = [len(labels) - 1 for labels in field.states]
    parameters = sum(free) + sum(free[i] * free[j] for i, j in field.couplings)
    print(
        f"{name:8}{len(field.couplings):7}{parameters:12,}{search:8.1f}s{model:8.1f}s"
        f"{model / search:8.1f}{peak_bytes() / GIGABYTE:7.2f}"
    )


if __name__ == "__main__":
    main()
