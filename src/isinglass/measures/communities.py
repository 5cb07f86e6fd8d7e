"""Groups of columns with more links inside than between them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from isinglass.measures.graphs import HasGraph, graph_of
from isinglass.parameters import checked


@dataclass(frozen=True)
class Communities:
    """Groups of linked columns.

    Attributes
    ----------
    groups : tuple of tuple of str
        Names in column order, the group of the first column first. Columns without a link are
        in none.
    modularity : float
        Newman's Q: the share of strength inside groups, less what it would be by chance; 0 is
        no better than chance.
    """

    groups: tuple[tuple[str, ...], ...]
    modularity: float

    @property
    def number(self) -> Mapping[str, int]:
        """The number of each column's group, from 1."""
        return {name: at for at, group in enumerate(self.groups, start=1) for name in group}


@checked
def communities(graph: HasGraph, *, resolution: float = 1.0, starts: int = 20) -> Communities:
    """Find groups by the Louvain method: the best of some starts, by modularity.

    The method is that of Blondel, Guillaume, Lambiotte and Lefebvre ("Fast unfolding of
    communities in large networks", J. Stat. Mech., 2008), as networkx has it, on the edges'
    strengths: a negative link joins as a positive one does. It goes through the columns in a
    random order; from `starts` orders the grouping of the largest modularity (Newman, "Modularity
    and community structure in networks", PNAS 103, 2006) is kept, the first of equals.

    Parameters
    ----------
    graph : Graph, or a fitted estimator, MarkovField or FitRecord
    resolution : float
        More gives more and smaller groups.
    starts : int

    Returns
    -------
    Communities

    Examples
    --------
    >>> import isinglass as ig
    >>> import networkx as nx
    >>> graph = ig.exports.from_networkx(nx.barbell_graph(3, 0))
    >>> communities(graph).groups
    (('0', '1', '2'), ('3', '4', '5'))
    """
    import networkx as nx

    graph = graph_of(graph)
    network = nx.Graph()
    for link in graph.links:
        network.add_edge(link.source, link.target, weight=max(link.weight, 1e-12))
    if not network:
        return Communities((), 0.0)
    best, modularity = [set[int]()], -1.0
    for start in range(starts):
        found = nx.community.louvain_communities(
            network, weight="weight", resolution=resolution, seed=random.Random(start)
        )
        value = nx.community.modularity(network, found, weight="weight", resolution=resolution)
        if value > modularity + 1e-12:
            best, modularity = found, float(value)
    groups = sorted(sorted(group) for group in best)
    return Communities(tuple(tuple(graph.names[v] for v in group) for group in groups), modularity)
