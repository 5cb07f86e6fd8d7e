"""Graph families: networkx graphs whose nodes are 0, 1, ..., p - 1, in that order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from isinglass.errors import SettingError
from isinglass.parameters import check, checked

if TYPE_CHECKING:
    import networkx

    Seed = int | np.random.Generator | None


@checked
def chain(p: int) -> networkx.Graph:
    """Link every node to the next.

    >>> list(chain(4).edges)
    [(0, 1), (1, 2), (2, 3)]
    """
    return _graph(p, ((i, i + 1) for i in range(p - 1)))


@checked
def grid(rows: int, cols: int) -> networkx.Graph:
    """Link every node to its right and its lower neighbour; nodes are numbered row by row.

    >>> list(grid(2, 3).edges)
    [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]
    """
    p = rows * cols
    if p > 10**6:
        raise SettingError(f"a grid has at most 1,000,000 nodes; {rows:,} x {cols:,} is more.")
    across = ((i, i + 1) for i in range(p) if (i + 1) % cols)
    return _graph(p, [*across, *((i, i + cols) for i in range(p - cols))])


@checked
def star(p: int, d: int) -> networkx.Graph:
    """Link node 0 to d leaves; the other nodes are alone.

    >>> list(star(6, 3).edges)
    [(0, 1), (0, 2), (0, 3)]
    """
    check("d", d, most=p - 1)
    return _graph(p, ((0, leaf) for leaf in range(1, d + 1)))


@checked
def tree(p: int, seed: Seed = None) -> networkx.Graph:
    """Draw a tree, every tree on p labelled nodes equally probable (by its Prüfer code).

    >>> import networkx as nx
    >>> nx.is_tree(tree(20, seed=1))
    True
    """
    import networkx as nx

    if p <= 2:
        return chain(p)
    code = np.random.default_rng(seed).integers(p, size=p - 2)
    return _graph(p, nx.from_prufer_sequence(code.tolist()).edges)


@checked
def random_regular(p: int, d: int, seed: Seed = None) -> networkx.Graph:
    """Draw a graph in which every node has d neighbours.

    >>> set(dict(random_regular(10, 3, seed=1).degree).values())
    {3}
    """
    import networkx as nx

    check("d", d, most=p - 1)
    if p * d % 2:
        raise SettingError(f"no graph of {p} nodes has {d} edges at each; p or d must be even.")
    return _graph(p, nx.random_regular_graph(d, p, seed=_networkx_seed(seed)).edges)


@checked
def erdos_renyi(p: int, degree: float, seed: Seed = None) -> networkx.Graph:
    """Draw every edge independently; a node has `degree` neighbours on average.

    >>> erdos_renyi(1000, 4, seed=1).number_of_edges()
    1994
    """
    check("degree", degree, most=p - 1)
    rng, probability = np.random.default_rng(seed), float(degree) / max(p - 1, 1)
    drawn = ((i, rng.random(p - 1 - i) < probability) for i in range(p - 1))
    return _graph(p, ((i, i + 1 + int(k)) for i, some in drawn for k in np.flatnonzero(some)))


@checked
def small_world(p: int, k: int, rewire: float, seed: Seed = None) -> networkx.Graph:
    """Link every node of a ring to its k nearest, then move each edge with probability `rewire`.

    The graphs of Watts and Strogatz (1998); k is even.

    >>> small_world(20, 4, 0.1, seed=1).number_of_edges()
    40
    """
    import networkx as nx

    check("k", k, most=p - 1)
    ring = nx.watts_strogatz_graph(p, k, rewire, seed=_networkx_seed(seed))
    return _graph(p, ring.edges)


def _graph(p: int, edges: Iterable[tuple[int, int]]) -> networkx.Graph:
    """Nodes and edges in order, whatever order they were made in."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(p))
    graph.add_edges_from(sorted((min(edge), max(edge)) for edge in edges))
    return graph


def _networkx_seed(seed: Seed) -> int:
    """One number for networkx's own generator, as numpy makes it of any seed."""
    return int(np.random.default_rng(seed).integers(2**63))
