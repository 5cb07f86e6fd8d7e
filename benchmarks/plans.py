"""Does the chance that `plan` promises hold on fresh tables, and if the guess was too high?

For each setting: the answer of `plan`, with its chance and interval; then as many fresh tables
with the same number of rows, and as many whose couplings are 30 % smaller than guessed.

    python benchmarks/plans.py [--graphs 200] [--out plans/]    (may be stopped and started again)
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import isinglass as ig

SETTINGS: dict[str, dict[str, Any]] = {
    "12 columns, degree 3, coupling 0.4": {"columns": 12, "degree": 3, "coupling": 0.4},
    "30 columns, degree 4, coupling 0.3": {"columns": 30, "degree": 4, "coupling": 0.3},
    "20 columns, degree 3, odds ratio 2, intercepts": {
        "columns": 20,
        "degree": 3,
        "odds_ratio": 2.0,
        "intercept": 0.5,
    },
    "12 columns of 3 states, degree 2.5, odds ratio 2.5": {
        "columns": 12,
        "degree": 2.5,
        "odds_ratio": 2.5,
        "states": 3,
    },
}


def main() -> None:
    """Print one row a setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--out", default="plans")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    shared = {
        "graphs": options.graphs,
        "path": Path(options.out) / "records.jsonl",
        "n_jobs": options.jobs,
    }
    print(
        "| setting | rows | promised | 95 % interval | fresh tables | 95 % interval "
        "| coupling 30 % too high | edges found then |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name, setting in SETTINGS.items():
        promise = ig.plan(**setting, **shared).answers[1.0]
        fresh = ig.plan(**setting, **shared, rows=[promise.rows], seed=1)
        less, same = fresh.points
        cells = [
            name,
            f"{promise.rows:,}",
            f"{promise.recovered:.3f}",
            f"{promise.low:.3f} to {promise.high:.3f}",
            f"{same.recovered:.3f}",
            f"{same.low:.3f} to {same.high:.3f}",
            f"{less.recovered:.3f}",
            f"{less.found:.3f}",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
