"""Is "not linked down to an odds ratio of x" wrong no more often than its power says?

Over simulated tables, every pair that is truly linked, with a typical odds ratio above the x that
`verdict` names for it, should be called "not linked" in at most one table of five (80 % power).
"just above": the true odds ratio is at most 1.25 times x, the hardest cases. The last designs have
links that show in one state of each column only, the rarest of three or four; for those, the odds
ratio of that state is compared with the one that `verdict` names for a link in one state.

    python benchmarks/verdicts.py [--tables 100] [--seed 0] [--design "three states"]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

import isinglass as ig
from isinglass import simulate
from isinglass.uncertainty.power.smallest_link import typical_log_odds

POWER = 0.8
#: So large that no size is too large to matter: all that is not linked is called so.
MATTERS = 1e6
NEAR = 1.25

Model = Callable[[int], ig.MarkovField]


def in_one_state(states: int, rare: float, size: tuple[float, float], seed: int) -> ig.MarkovField:
    """Ten columns whose first state is rare, in pairs that are linked in that state only."""
    rng = np.random.default_rng(seed)
    shares = np.array([rare, *[(1 - rare) / (states - 1)] * (states - 1)])
    link = np.outer(*[np.eye(states)[0] - 1 / states] * 2)
    fields = [np.log(shares) - np.log(shares).mean() for _ in range(10)]
    couplings = {(k, k + 1): rng.uniform(*size) * link for k in range(0, 10, 2)}
    names = tuple(f"x{k}" for k in range(10))
    return ig.MarkovField(names, [tuple(range(states))] * 10, fields, couplings)


DESIGNS: dict[str, tuple[Model, int]] = {
    "two states, weak unequal": (
        lambda seed: simulate.ising(
            simulate.random_regular(15, 4, seed),
            coupling=(0.05, 0.35),
            intercept=(-0.5, 0.5),
            seed=seed,
        ),
        600,
    ),
    "two states, weak, small table": (
        lambda seed: simulate.ising(
            simulate.erdos_renyi(12, 3, seed), coupling=(0.1, 0.6), intercept=(-0.5, 0.5), seed=seed
        ),
        200,
    ),
    "two states, strong": (
        lambda seed: simulate.ising(simulate.grid(3, 4), coupling=(0.1, 0.8), seed=seed),
        800,
    ),
    "three states": (
        lambda seed: simulate.potts(
            simulate.random_regular(12, 3, seed), 3, coupling=(0.05, 0.4), intercept=0.3, seed=seed
        ),
        800,
    ),
    "two to five states": (
        lambda seed: simulate.potts(
            simulate.random_regular(12, 3, seed),
            [2, 3, 4, 5] * 3,
            coupling=(0.05, 0.4),
            intercept=(0.0, 0.5),
            seed=seed,
        ),
        1000,
    ),
    "one rare state of three": (partial(in_one_state, 3, 0.1, (0.5, 4.0)), 800),
    "one rare state of four": (partial(in_one_state, 4, 0.08, (0.5, 4.0)), 1000),
}
SIZES = ("", ", in one state")
SINGLE = ("one rare state of three", "one rare state of four")


#: True log odds ratio, the log of x, and the verdict, of a true link.
Row = tuple[float, float, str]


def judged(model: Model, n: int, seed: int, rule: str) -> Iterator[tuple[Row, Row]]:
    """Every true link of a table: by typical odds ratios, and by those of the first states."""
    field = model(seed)
    table = field.sample(n, seed=seed + 10**6)
    verdicts = ig.verdict(ig.GreedyGraph(rule=rule).fit(table), matters=MATTERS, power=POWER)
    for (i, j), coupling in field.couplings.items():
        said = verdicts.of(field.names[i], field.names[j])
        typical = typical_log_odds(coupling), float(np.log(said.odds_ratio))
        first = coupling[0, 0] - coupling[1, 0] - coupling[0, 1] + coupling[1, 1]
        alone = float(first), float(np.log(said.state_odds_ratio))
        yield (*typical, said.verdict), (*alone, said.verdict)


def shares(rows: Sequence[Row]) -> list[str]:
    """Of links above x, and just above it: how many, found, and called not linked."""
    cells = []
    for most in (np.inf, np.log(NEAR)):
        above = [word for true, least, word in rows if least < true <= least + most]
        wrong = sum(word == "not linked" for word in above)
        found = sum(word == "linked" for word in above)
        cells += [
            f"{len(above)}",
            f"{found / max(len(above), 1):.3f}",
            f"{wrong / max(len(above), 1):.3f}",
        ]
    return cells


def main() -> None:
    """Print one row a design and rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--design", action="append", choices=DESIGNS, help="all unless named")
    options = parser.parse_args()
    print(
        "| tables | rule | links above x | found | called not linked "
        "| just above x | found | called not linked |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in options.design or DESIGNS:
        model, n = DESIGNS[name]
        seeds = range(options.seed * 10**4, options.seed * 10**4 + options.tables)
        for rule in ("or", "and"):
            links = [link for seed in seeds for link in judged(model, n, seed, rule)]
            for rows, size in zip(zip(*links, strict=True), SIZES, strict=True):
                if size == SIZES[0] or name in SINGLE:
                    cells = [f"{name}, n = {n}{size}", rule]
                    print(f"| {' | '.join(cells + shares(rows))} |", flush=True)


if __name__ == "__main__":
    main()
