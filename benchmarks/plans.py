"""Does the probability that `plan` promises hold on fresh tables, and if the guess was too high?

For each setting: the answer of `plan`, with its probability and interval; then as many fresh tables
with the same number of rows, and as many whose couplings are 30 % smaller than guessed.

    python benchmarks/plans.py [--graphs 200] [--out plans/]    (may be stopped and started again)

With --plans N every setting is planned N times, with other tables each time, and as many fresh
tables are drawn at every answer: the mean over plans of both, and the smallest promise.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

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


def print_mean(shared: dict[str, Any], plans: int) -> None:
    """Print one row a setting: what several plans promise, and what holds, on average."""
    print("| setting | plans | mean rows | promised | smallest | fresh tables | error |")
    print("|---|---|---|---|---|---|---|")
    for name, setting in SETTINGS.items():
        answers, fresh = [], []
        for seed in range(plans):
            only = setting | shared | {"factors": [1.0]}
            answers.append(ig.plan(**only, seed=seed).answers[1.0])
            rows = [answers[-1].rows]
            fresh.append(ig.plan(**only, rows=rows, seed=1000 + seed).points[0].recovered)
        promised = [answer.recovered for answer in answers]
        cells = [name, f"{plans}", f"{np.mean([answer.rows for answer in answers]):,.0f}"]
        numbers = np.mean(promised), min(promised), np.mean(fresh), np.std(fresh) / plans**0.5
        print(f"| {' | '.join([*cells, *(f'{each:.3f}' for each in numbers)])} |", flush=True)


def main() -> None:
    """Print one row a setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--out", default="plans")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--plans", type=int, default=0, help="plans of each setting")
    options = parser.parse_args()
    shared = {
        "graphs": options.graphs,
        "path": Path(options.out) / "records.jsonl",
        "n_jobs": options.jobs,
    }
    if options.plans:
        print_mean(shared, options.plans)
        return
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
