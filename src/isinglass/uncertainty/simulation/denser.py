"""A model to draw tables from, that is like a table but deliberately denser than its graph.

The effect of links that are too weak to be found shows up at other pairs, so a model of the found
links alone would make an analysis look better than it is. The model here is fitted to a graph
searched far below the threshold. Some of the links found there are noise: each link is in a drawn
table with the probability that it is real, estimated from how many more links were found in its
band of thresholds than expected in tables without any links. A link that was required is in every
drawn table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isinglass.estimators import GreedyGraph
from isinglass.experiments.plan import Codes
from isinglass.graph import Graph
from isinglass.model import Exact, Gibbs, MarkovField, fit_model
from isinglass.selection import FalseEdges
from isinglass.table import Table

#: Expected false edges at the ends of the bands, from the firm tier downwards.
LEVELS = (0.05, 1.0, 5.0, 20.0)
#: No band reaches below the threshold that so large a share of all pairs would pass.
LARGEST_SHARE = 0.25
#: Bytes that exact sampling of one table may take; beyond, Gibbs sampling.
METHOD = (Exact(memory=2e8), Gibbs())

Pair = tuple[int, int]


def levels_for(p: int) -> tuple[float, ...]:
    """The bands' ends that make sense for so many columns; two of them at least.

    >>> levels_for(30), levels_for(4)
    ((0.05, 1.0, 5.0, 20.0), (0.05, 1.0))
    """
    most = LARGEST_SHARE * p * (p - 1) / 2
    return (*LEVELS[:2], *(level for level in LEVELS[2:] if level <= most))


@dataclass(frozen=True, eq=False)
class DenserModel:
    """A model with all links, and the probability of each to be in a drawn table."""

    field: MarkovField
    probabilities: dict[Pair, float]

    def links_of(self, seed: int) -> list[Pair]:
        """The links that `sample` draws a table with, without drawing it."""
        of_links = int(np.random.SeedSequence(seed).generate_state(2)[0])
        drawn = np.random.default_rng(of_links).random(len(self.probabilities))
        items = zip(self.probabilities.items(), drawn, strict=True)
        return [pair for (pair, probability), u in items if u < probability]

    def sample(self, rows: int, seed: int) -> tuple[Codes, list[Pair]]:
        """Draw a table of codes, and the links it was drawn with."""
        of_rows = int(np.random.SeedSequence(seed).generate_state(2)[1])
        links, full = self.links_of(seed), self.field
        tables = {pair: full.couplings[pair] for pair in links}
        field = MarkovField(full.names, full.states, full.intercepts, tables)
        return field.sample_codes(rows, seed=of_rows, n_jobs=1, method=METHOD), links


def band_ends(table: Table) -> dict[float, float]:
    """Expected false edges and thresholds at the ends of a table's bands, from the top down."""
    p = len(table.columns)
    return {level: FalseEdges(level).threshold(table.n, p) for level in levels_for(p)}


def denser_model(estimator: GreedyGraph) -> DenserModel:
    """The model of a fit whose search ran to the lowest of `band_ends`.

    Links that were required are taken as real; any other is so with a probability that depends
    on the band in which it first appears.
    """
    table = estimator.table_
    probabilities: dict[Pair, float] = dict.fromkeys(estimator.search_.required, 1.0)
    above = 0.0
    for level, threshold in band_ends(table).items():
        dense = estimator.at(threshold)
        new = set(dense.pairs) - probabilities.keys()
        noise = min((level - above) / max(len(new), 1), 1.0)
        probabilities.update(dict.fromkeys(new, 1.0 - noise))
        above = level
    links = tuple(link for link in dense if probabilities[link.source, link.target] > 0)
    graph = Graph(table.names, links)
    field = fit_model(table, graph, intercept=bool(estimator.intercept))
    return DenserModel(field, {pair: probabilities[pair] for pair in field.couplings})
