"""Do edges of the rule "joint" say enough in the graph that is left?

    python benchmarks/leaving.py [--tables 500]

Edges leave one by one, and not all others are looked at before each. Counted are the random tables
whose graph has an edge with less evidence than the threshold asks for, and how many edges were
found that no search of a single column had proposed.
"""

from __future__ import annotations

import click
import numpy as np

from isinglass import GreedyGraph, simulate


def fitted(seed: int) -> GreedyGraph:
    """A fit of a table of 16 to 40 columns of 2 to 4 states, 200 to 1,499 rows."""
    rng = np.random.default_rng(seed)
    p, most, n = int(rng.integers(16, 41)), int(rng.integers(2, 5)), int(rng.integers(200, 1500))
    states = [int(rng.integers(2, most + 1)) for _ in range(p)]
    graph = simulate.erdos_renyi(p, 3, seed=seed)
    field = simulate.potts(graph, states, coupling=float(rng.uniform(0.2, 0.8)), seed=seed)
    return GreedyGraph(rule="joint").fit(field.sample_codes(n, seed=seed))


@click.command()
@click.option("--tables", type=click.IntRange(1), default=500, show_default=True)
def command(tables: int) -> None:
    """Print the counts."""
    below = further = with_further = links = 0
    for seed in range(tables):
        est = fitted(seed)
        level = 2 * est.table_.n * est.threshold_
        below += any(link.evidence <= level for link in est.graph_.links)
        chosen = est.search_.runs.proposals.chosen(est.search_.runs.proposed_at)
        proposed = {tuple(sorted(end)) for end in zip(*(v.tolist() for v in chosen), strict=True)}
        fresh = set(est.graph_.pairs) - proposed
        links, further = links + len(est.graph_.pairs), further + len(fresh)
        with_further += bool(fresh)
    print(f"{tables} tables, {links:,} edges")
    print(f"graphs with an edge below its threshold: {below}")
    print(f"edges that nobody had proposed: {further}, in {with_further} graphs")


if __name__ == "__main__":
    command()
