"""Does `explain` name the column that stands between two others?

On chains, stars and trees every pair that is not linked has one path between its ends. Of the pairs
whose association `explain` accounts for, the share is printed in which the columns it names cut
that path, and in which all of them lie on it.

    python benchmarks/explanations.py [--tables 20] [--seed 0]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import networkx as nx

import isinglass as ig
from isinglass import simulate

KINDS = {
    "chain of 8": lambda seed: simulate.chain(8),
    "star of 8": lambda seed: simulate.star(8, 7),
    "tree of 10": lambda seed: simulate.tree(10, seed),
}
SIZES = (300, 1000, 5000)


def asked(kind: str, n: int, seed: int) -> Iterator[tuple[bool, bool]]:
    """For every pair explained: do the columns named cut the path, do all lie on it?"""
    graph = KINDS[kind](seed)
    field = simulate.ising(graph, coupling=(0.4, 0.8), intercept=(-0.3, 0.3), seed=seed)
    estimator = ig.GreedyGraph(n_jobs=1).fit(field.sample(n, seed=seed))
    for a, b in nx.non_edges(graph):
        named = {int(name[1:]) for name in ig.explain(estimator, f"x{a}", f"x{b}").by}
        if named:
            between = set(nx.shortest_path(graph, a, b)[1:-1])
            yield bool(named & between), named <= between


def main() -> None:
    """Print one row a kind of graph and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| graph | n | pairs explained | a column between is named | none but such |")
    print("|---|---|---|---|---|")
    for kind in KINDS:
        for n in SIZES:
            seeds = range(options.seed * 10**4, options.seed * 10**4 + options.tables)
            told = [answer for seed in seeds for answer in asked(kind, n, seed)]
            right, only = (sum(answers) / len(told) for answers in zip(*told, strict=True))
            print(f"| {kind} | {n} | {len(told)} | {right:.3f} | {only:.3f} |", flush=True)


if __name__ == "__main__":
    main()
