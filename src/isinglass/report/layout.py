"""Where to draw the columns: the same seed gives the same picture."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from isinglass.graph import Graph

Positions = dict[str, tuple[float, float]]


def positions(graph: Graph, seed: int = 0) -> Positions:
    """Linked columns spread by their links, component by component; the others below."""
    import networkx as nx

    network = graph.to_networkx()
    components = sorted(nx.connected_components(network), key=lambda c: (-len(c), min(c)))
    linked = [c for c in components if len(c) > 1]
    placed = _side_by_side([_spread(network.subgraph(c), graph, seed) for c in linked])
    alone = [name for name in graph.names if network.degree(name) == 0]
    return placed | _in_rows_below(alone, placed)


def _spread(network: object, graph: Graph, seed: int) -> Positions:
    """One component around the origin, in a disc whose area grows with its size."""
    import networkx as nx

    ordered = nx.Graph()  # subgraphs come in no fixed order; layouts depend on it
    ordered.add_nodes_from(name for name in graph.names if name in network)  # type: ignore[operator]
    ordered.add_edges_from(edge for edge in graph.edges if edge[0] in ordered)
    if len(ordered) <= 150:
        raw = nx.kamada_kawai_layout(ordered)
    else:
        raw = nx.spring_layout(ordered, seed=seed, iterations=100)
    points = np.array([raw[name] for name in ordered])
    points -= points.mean(axis=0)
    points *= math.sqrt(len(ordered)) / max(float(np.abs(points).max()), 1e-9)
    return {name: (float(x), float(y)) for name, (x, y) in zip(ordered, points, strict=True)}


def _side_by_side(parts: list[Positions]) -> Positions:
    """Components from left to right in rows, larger ones first."""
    placed: Positions = {}
    width = 2.4 * math.sqrt(sum(len(part) for part in parts) or 1)
    x = y = row_height = 0.0
    for part in parts:
        radius = math.sqrt(len(part)) + 0.7
        if x > 0 and x + 2 * radius > 2 * width:
            x, y, row_height = 0.0, y - row_height, 0.0
        for name, (dx, dy) in part.items():
            placed[name] = (x + radius + dx, y - radius + dy)
        x += 2 * radius
        row_height = max(row_height, 2 * radius)
    return placed


def _in_rows_below(names: list[str], placed: Positions) -> Positions:
    if not names:
        return {}
    points: NDArray[np.float64] = np.array(list(placed.values()) or [(0.0, 0.0)])
    left, right, bottom = points[:, 0].min(), points[:, 0].max(), points[:, 1].min()
    per_row = max(6, math.ceil(math.sqrt(4 * len(names))))
    step = max((right - left) / per_row, 1.0)
    return {
        name: (float(left + (i % per_row + 0.5) * step), float(bottom - 1.5 - i // per_row))
        for i, name in enumerate(names)
    }
