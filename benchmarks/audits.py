"""Does `audit` know how many false edges an analysis makes?

For each kind of table: the mean number of false edges at each tier over many tables whose truth is
known; beside it, the mean of what `audit` says on some of such tables, knowing nothing but the
table; and the ratio of the two, with a 95 % interval.

    python benchmarks/audits.py [--graphs 200] [--audited 20] [--draws 50] [--kind NAME]

With --power, instead, the share of the true links that are firm, by the size of a link, beside the
power that `audit` says for that size; and the share of all of them, beside the share of the links
of the learned model that `audit` finds again, which is larger: the model lacks what was missed.

It may be stopped and started again; a larger number of graphs or tables goes on from a smaller.

How many are enough? A false edge in the firm graph is seen in about one table of thirty, so its
mean over G graphs has a relative error of sqrt(30/G), and what `audit` says one of at least
sqrt(30/(tables x draws)). For an interval that a factor of 1.25 either way holds, each may be
8 %: some 5000 graphs, and 100 tables with 50 draws each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

import isinglass as ig
from isinglass import simulate
from isinglass.experiments import Design, Found, Method, Plan, run
from isinglass.selection import FalseEdges
from isinglass.uncertainty.power.smallest_link import typical_log_odds
from isinglass.uncertainty.simulation.audit import SIZES

TIERS = {"firm": 0.05, "tentative": 1.0}


@dataclass(frozen=True)
class Kind:
    """A kind of table."""

    p: int
    n: int
    model: Callable[[int], ig.MarkovField]
    #: Rows per cluster, and how far the clusters' intercepts are spread.
    size: int = 1
    spread: float = 0.0

    @property
    def clusters(self) -> np.ndarray | None:
        """The cluster of each row."""
        return None if self.size == 1 else np.arange(self.n) // self.size


def two_states(p: int, degree: int, seed: int, **model: object) -> ig.MarkovField:
    """An Ising model on a random regular graph."""
    return simulate.ising(simulate.random_regular(p, degree, seed), seed=seed, **model)


def several_states(seed: int) -> ig.MarkovField:
    """Columns of two, three and four states, weakly and unequally linked."""
    graph = simulate.random_regular(15, 4, seed)
    return simulate.potts(
        graph, [2, 3, 4] * 5, coupling=(0.05, 0.3), intercept=(0.0, 0.5), seed=seed
    )


WEAK = {"coupling": (0.05, 0.3), "intercept": (-0.5, 0.5)}
KINDS = {
    "no links, intercepts": Kind(30, 300, partial(two_states, 30, 0, intercept=(-0.5, 0.5))),
    "no links, 300 clusters of 4": Kind(15, 1200, partial(two_states, 15, 0), 4, 1.5),
    "strong equal": Kind(30, 500, partial(two_states, 30, 3, coupling=0.5)),
    "weak unequal, intercepts": Kind(30, 300, partial(two_states, 30, 6, **WEAK)),
    "weak unequal, intercepts, 2 to 4 states": Kind(15, 400, several_states),
    "weak unequal, intercepts, more rows": Kind(30, 1000, partial(two_states, 30, 6, **WEAK)),
}


def drawn(kind: Kind, n: int, seed: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """A table and its true edges."""
    of_model, of_rows = (int(s) for s in np.random.SeedSequence(seed).generate_state(2))
    field = kind.model(of_model)
    if kind.clusters is None:
        return field.sample_codes(n, seed=of_rows, n_jobs=1), list(field.couplings)
    rng = np.random.default_rng(of_rows)  # no links: every column by itself
    tendency = rng.normal(0, kind.spread, (kind.clusters.max() + 1, kind.p))[kind.clusters]
    return (rng.random((n, kind.p)) < 1 / (1 + np.exp(-tendency))).astype(np.uint8), []


def learned(codes: np.ndarray, clusters: np.ndarray | None) -> Found:
    """The graphs of both tiers."""
    levels = {name: FalseEdges(k).threshold(*codes.shape) for name, k in TIERS.items()}
    estimator = ig.GreedyGraph("auto", floor=levels["tentative"], n_jobs=1)
    estimator.fit(codes, clusters=clusters)
    return Found({name: estimator.at(level) for name, level in levels.items()})


def truth(name: str, kind: Kind, options: argparse.Namespace) -> dict[str, np.ndarray]:
    """False edges of every table, by tier."""
    design = Design(name, kind.p, 1, partial(drawn, kind), (kind.n,), unit="n")
    method = Method("greedy", partial(learned, clusters=kind.clusters))
    cells = Plan([design], [method], options.graphs).cells()
    records = run(cells, Path(options.out) / "truth.jsonl", n_jobs=options.jobs).values()
    return {tier: np.array([r["settings"][tier][0] for r in records]) for tier in TIERS}


def audited(kind: Kind, options: argparse.Namespace) -> list[ig.Audit]:
    """What `audit` says of some tables."""
    results = []
    for seed in range(options.audited):
        codes, _ = drawn(kind, kind.n, 10**6 + seed)
        results.append(
            ig.audit(
                ig.GreedyGraph(),
                codes,
                options.draws,
                clusters=kind.clusters,
                path=Path(options.out) / "audits.jsonl",
                n_jobs=options.jobs,
            )
        )
    return results


def true_links(kind: Kind, graphs: int) -> tuple[np.ndarray, np.ndarray]:
    """The log odds ratio of every true link of some tables, and whether it is firm."""
    sizes, hits = [], []
    for seed in range(graphs):
        of_model, of_rows = (int(s) for s in np.random.SeedSequence(seed).generate_state(2))
        field = kind.model(of_model)
        codes = field.sample_codes(kind.n, seed=of_rows, n_jobs=1)
        firm = set(ig.GreedyGraph(n_jobs=1, max_states=256).fit(codes).graph_.pairs)
        sizes += [typical_log_odds(table) for table in field.couplings.values()]
        hits += [pair in firm for pair in field.couplings]
    return np.array(sizes), np.array(hits)


def print_power(name: str, kind: Kind, options: argparse.Namespace) -> None:
    """Print one row per size of link, and one for all links."""
    (sizes, hits), results = true_links(kind, options.graphs), audited(kind, options)
    for low, high in pairwise(SIZES):
        here = (np.log(low) < sizes) & (sizes <= np.log(high))
        own = [size for found in results for size in found.detection if size.low == low]
        if here.any() and own:
            links = sum(size.links for size in own)
            said = sum(size.links * size.found["firm"] for size in own) / links
            cells = [name, own[0].words, f"{here.sum():,}", f"{hits[here].mean():.2f}"]
            print(f"| {' | '.join(cells)} | {links:,} | {said:.2f} |", flush=True)
    again = np.mean([found.tier("firm").found_again for found in results])
    cells = [name, "all links", f"{len(hits):,}", f"{hits.mean():.2f}", "found again"]
    print(f"| {' | '.join(cells)} | {again:.2f} |", flush=True)


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """The mean with its standard error."""
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))


def ratio(said: np.ndarray, true: np.ndarray) -> str:
    """The ratio of two means, with an interval: normal on the scale of logarithms."""
    (above, its_error), (below, error) = mean_and_error(said), mean_and_error(true)
    if above == 0 or below == 0:
        return "nan" if below == 0 else "0"
    width = 1.96 * np.hypot(its_error / above, error / below)
    low, middle, high = above / below * np.exp([-width, 0.0, width])
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    """Print one row a kind of table and tier."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--audited", type=int, default=20)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--kind", action="append", choices=KINDS, help="all unless named")
    parser.add_argument("--out", default="audits")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--power", action="store_true", help="by the size of a link")
    options = parser.parse_args()
    if options.power:
        print("| tables | odds ratio | links | firm | links drawn by `audit` | `audit` says |")
        print("|---|---|---|---|---|---|")
        for name in options.kind or KINDS:
            print_power(name, KINDS[name], options)
        return
    print("| tables | n | tier | false edges | error | `audit` says | error | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.kind or KINDS:
        kind = KINDS[name]
        true, results = truth(name, kind, options), audited(kind, options)
        for tier in TIERS:
            cells = [name, f"{kind.n}", tier]
            said = np.array([found.tier(tier).false for found in results])
            for values in (true[tier], said):
                cells += [f"{number:.4f}" for number in mean_and_error(values)]
            cells.append(ratio(said, true[tier]))
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
