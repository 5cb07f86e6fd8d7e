"""Does the statistic of the rule "joint" pass as often as it should where there is no link?

    python benchmarks/nulls.py [--tables 4000] [--only "strong fields"] [--by-share] [--alone]

Tables are drawn from a model; to its links pairs without an effect are added, and what both ends
say of each is compared with a chi-square of one degree of freedom. Printed is how often it is above
the quantile of a level, as a multiple of the level, with two standard errors.

`--by-share` prints that again by the share of rows that the rarest state of a pair has: where
states are rare, the chi-square approximation is poor.

`--alone` prints the same for the likelihood ratio of two columns of two states and nothing beside
them, with exact probabilities: what no way of adding two ends can mend.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import click
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import chi2, hypergeom

from isinglass import simulate
from isinglass.core import both_ends
from isinglass.model import MarkovField

LEVELS = (1e-1, 1e-2, 1e-3)
#: Pairs without effect that are added to the graph of a table at once, and how often.
ADDED, TIMES = 2, 4

DESIGNS: dict[str, Callable[[int], MarkovField]] = {
    "no links": lambda seed: simulate.ising(simulate.star(12, 0), intercept=0.3, seed=seed),
    "grid": lambda seed: simulate.ising(simulate.grid(3, 4), seed=seed),
    "strong fields": lambda seed: simulate.ising(
        simulate.grid(3, 4), coupling=0.4, intercept=1.0, seed=seed
    ),
    "five neighbours each": lambda seed: simulate.ising(
        simulate.random_regular(12, 5, seed=seed), coupling=0.25, seed=seed
    ),
    "star": lambda seed: simulate.ising(simulate.star(12, 6), seed=seed),
    "2 to 5 states": lambda seed: simulate.potts(
        simulate.grid(2, 4), [2, 3, 4, 5, 3, 2, 4, 3], coupling=0.4, seed=seed
    ),
    "4 states": lambda seed: simulate.potts(simulate.grid(2, 4), 4, coupling=0.5, seed=seed),
}
ROWS = {"2 to 5 states": (500, 2000), "4 states": (500, 2000)}

#: `--by-share` puts pairs together by the share of their rarest state, in ranges with these limits.
SHARES = (0.0, 0.03, 0.06, 0.12, 0.25, 0.5)


def statistics(name: str, rows: int, seed: int) -> list[tuple[float, float]]:
    """What both ends say of pairs without effect in one table, and the shares of rarest states."""
    field = DESIGNS[name](seed)
    codes = field.sample_codes(rows, seed=seed + 10**6, n_jobs=1)
    states = [len(labels) for labels in field.states]
    if any(len(np.unique(column)) < m for column, m in zip(codes.T, states, strict=True)):
        return []
    true = sorted(field.couplings)
    null = [pair for pair in combinations(range(len(states)), 2) if pair not in field.couplings]
    rng, found = np.random.default_rng(seed), []
    for _ in range(TIMES):
        added = [null[k] for k in rng.choice(len(null), ADDED, replace=False)]
        pairs = sorted([*true, *added])
        values, *_ = both_ends(codes, np.ones(rows), states, pairs, intercept=True, threads=1)
        found += [(float(values[pairs.index(pair)]), rarest(codes[:, pair])) for pair in added]
    return found


def rarest(codes: NDArray[Any]) -> float:
    """The share of rows of the rarest state of some columns."""
    rows = (np.unique(column, return_counts=True)[1].min() for column in codes.T)
    return float(min(rows)) / len(codes)


def above(values: NDArray[np.float64]) -> str:
    """How often values are above the quantile of each level, as a multiple of it."""
    shares = [np.mean(values > chi2.isf(level, 1)) / level for level in LEVELS]
    errors = [2 * np.sqrt(s / level / len(values)) for s, level in zip(shares, LEVELS, strict=True)]
    return ", ".join(f"{s:.2f} ± {error:.2f}" for s, error in zip(shares, errors, strict=True))


def print_by_share(values: NDArray[np.float64], shares: NDArray[np.float64]) -> None:
    """One line for each range of shares that has a thousand pairs."""
    for low, high in pairwise(SHARES):
        own = values[(shares > low) & (shares <= high)]
        if len(own) >= 1000:
            print(
                f"  rarest state in {low:.0%} to {high:.0%}, {len(own):,}: {above(own)}", flush=True
            )


def alone(rows: int, share: float, margins: int = 1000) -> list[float]:
    """How often the likelihood ratio of two columns is above each level, as a multiple of it.

    Each has its rarer state in about this share of the rows. Given both margins, the number of rows
    with both rarer states is hypergeometric; the mean is over drawn margins.
    """
    rng = np.random.default_rng(0)
    totals = np.zeros(len(LEVELS))
    for a, b in rng.binomial(rows, share, (margins, 2)):
        both = np.arange(max(0, a + b - rows), min(a, b) + 1)
        observed = np.array([both, a - both, b - both, rows - a - b + both])
        sides = np.array([[a, rows - a], [b, rows - b]])
        expected = np.outer(sides[0], sides[1]).ravel()[:, None] / rows
        ratio = 2 * xlogy(observed, observed / np.maximum(expected, 1e-300)).sum(axis=0)
        probability = hypergeom(rows, a, b).pmf(both)
        totals += [probability[ratio > chi2.isf(level, 1)].sum() / level for level in LEVELS]
    return [float(total) for total in totals / margins]


def print_alone() -> None:
    """One line per number of rows and share."""
    print("rows, share of the rarer states:", ", ".join(f"{level:g}" for level in LEVELS))
    for rows in (200, 2000):
        for share in (0.05, 0.1, 0.2, 0.5):
            print(f"{rows}, {share}:", ", ".join(f"{ratio:.2f}" for ratio in alone(rows, share)))


def drawn_pairs(name: str, rows: int, tables: int) -> list[tuple[float, float]]:
    """The pairs of all tables; a bar on standard error shows how far they are."""
    drawn = Parallel(n_jobs=-1, return_as="generator")(
        delayed(statistics)(name, rows, seed) for seed in range(tables)
    )
    label = f"{name}, {rows} rows"
    with click.progressbar(drawn, length=tables, label=label, file=sys.stderr) as told:
        return [pair for table in told for pair in table]


@click.command()
@click.option("--tables", type=click.IntRange(10), default=1000, show_default=True)
@click.option("--only", type=click.Choice(list(DESIGNS)), help="One design (default: all).")
@click.option("--by-share", is_flag=True, help="Also by the share of the rarest state.")
@click.option("--alone", "only_alone", is_flag=True, help="Two columns and nothing beside them.")
def command(*, tables: int, only: str | None, by_share: bool, only_alone: bool) -> None:
    """Print one line per design and number of rows."""
    if only_alone:
        print_alone()
        return
    print("design, rows, pairs:", ", ".join(f"{level:g}" for level in LEVELS))
    for name in DESIGNS if only is None else [only]:
        for rows in ROWS.get(name, (200, 2000)):
            values, shares = np.array(drawn_pairs(name, rows, tables)).T
            print(f"{name}, {rows}, {len(values):,}: {above(values)}", flush=True)
            if by_share:
                print_by_share(values, shares)


if __name__ == "__main__":
    command()
