"""Where to draw the linked columns, in inches: the same graph gives the same picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.graph import Graph

Array = NDArray[np.float64]
Positions = dict[str, tuple[float, float]]

#: Inches between two columns that one link joins, if nothing is in the way.
LINK = 1.0
#: Inches that a column's dot and its label take up from top to bottom.
HEIGHT = 0.5
#: Inches beyond which a thin component is folded.
LONGEST = 12.0
#: Inches around a component, and the width of a label when nobody says.
GAP, WIDTH = 0.35, 0.5


def positions(graph: Graph, widths: Mapping[str, float] | None = None) -> Positions:
    """Place every linked column; columns without a link get no place.

    Each component is spread by its links, lying down, with no label on another; components
    are set side by side in rows, the largest first.

    Parameters
    ----------
    graph : Graph
    widths : dict of name to float, optional
        Inches that each label takes up.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import GreedyGraph
    >>> a = np.random.default_rng(0).integers(0, 2, (200, 2))
    >>> at = positions(GreedyGraph().fit(np.column_stack([a, a[:, 0]])).graph_)
    >>> sorted(at), round(at["x2"][0] - at["x0"][0], 6)
    (['x0', 'x2'], 1.0)
    """
    widths = dict.fromkeys(graph.names, WIDTH) if widths is None else widths
    parts = []
    for names in _components(graph):
        wide = np.array([widths[name] for name in names])
        parts.append((names, _apart(_spread(names, graph.edges, wide), wide), wide))
    return _in_rows(parts)


def _components(graph: Graph) -> list[list[str]]:
    """Names of linked columns by component, in column order; the largest first."""
    import networkx as nx

    place = {name: i for i, name in enumerate(graph.names)}
    network = nx.Graph(graph.edges)
    components = [sorted(part, key=place.__getitem__) for part in nx.connected_components(network)]
    return sorted(components, key=lambda names: (-len(names), place[names[0]]))


def _spread(names: Sequence[str], edges: list[tuple[str, str]], widths: Array) -> Array:
    """One component by its links alone, its long side horizontal."""
    import networkx as nx

    network = nx.Graph()  # layouts depend on the order of nodes, so it is set here
    network.add_nodes_from(names)
    network.add_edges_from(edge for edge in edges if edge[0] in network)
    if len(names) <= 150:
        raw = nx.kamada_kawai_layout(network)
    else:
        raw = nx.spring_layout(network, seed=0, iterations=100)
    points = _lying_down(np.array([raw[name] for name in names]))
    ends = np.array([[names.index(a), names.index(b)] for a, b in network.edges])
    lengths = np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1)
    crowd = max(1.0, math.sqrt(2 * len(ends) / len(names) / 3))  # mean degree above 3
    points *= crowd * LINK / max(float(lengths.mean()), 1e-9)
    points[:, 0] *= max(1.0, float(widths.mean()) / LINK)
    return _folded(points)


def _lying_down(points: Array) -> Array:
    """Turned so that the longest extent is horizontal and the first column at the left top."""
    points = points - points.mean(axis=0)
    axes = np.linalg.svd(points, full_matrices=False)[2]
    turned: Array = points @ axes.T
    if turned.shape[1] < 2:
        turned = np.column_stack([turned, np.zeros(len(turned))])
    return turned * np.where(turned[0] * [1, -1] > 0, -1.0, 1.0)


def _folded(points: Array) -> Array:
    """A component much longer than high, as a chain is, laid in rows to and fro."""
    width, height = np.ptp(points, axis=0)
    if width < LONGEST or width < 6 * height:
        return points
    rows = math.ceil(math.sqrt(width / (2 * (height + LINK))))
    share = (points[:, 0] - points[:, 0].min()) / width * (1 - 1e-9)  # the last row is not left
    row, along = np.divmod(share * rows, 1.0)
    across = np.where(row % 2 == 0, along, 1 - along) * width / rows
    return np.column_stack([across, points[:, 1] - row * (height + LINK)])


def _apart(points: Array, widths: Array) -> Array:
    """Push columns away from each other until no two labels overlap."""
    least = np.add.outer(widths, widths) / 2 + 0.1
    np.fill_diagonal(least, 0.0)
    before = np.sign(np.subtract.outer(np.arange(len(points)), np.arange(len(points))))
    for _ in range(int(np.clip(2e7 / len(points) ** 2, 10, 300))):
        away = points[:, None, :] - points[None, :, :]
        lack = np.stack([least, np.full_like(least, HEIGHT)], axis=2) - np.abs(away)
        clash = (lack > 1e-6).all(axis=2) & (before != 0)
        if not clash.any():
            break
        # The shorter way out; columns at one point part by their order.
        vertical = lack[:, :, 1] <= lack[:, :, 0]
        for axis, chosen in ((0, clash & ~vertical), (1, clash & vertical)):
            sign = np.where(away[:, :, axis] == 0, before, np.sign(away[:, :, axis]))
            points[:, axis] += 0.3 * np.sum(sign * lack[:, :, axis] * chosen, axis=1)
    return points


Part = tuple[list[str], Array, Array]


def _in_rows(parts: list[Part]) -> Positions:
    """Components from left to right in rows, each row centred on a line."""
    boxes = [_box(points, widths) for _, points, widths in parts]
    area = sum(float(np.prod(high - low)) for low, high in boxes)
    widest = max((float((high - low)[0]) for low, high in boxes), default=0.0)
    limit = max(widest, 1.5 * math.sqrt(area))
    placed: Positions = {}
    left = top = 0.0
    row: list[int] = []
    for i, (low, high) in enumerate(boxes):
        if row and left + (high - low)[0] > limit:
            top -= _place_row(placed, parts, boxes, row, top)
            left, row = 0.0, []
        left += (high - low)[0]
        row.append(i)
    _place_row(placed, parts, boxes, row, top)
    return placed


def _place_row(
    placed: Positions,
    parts: list[Part],
    boxes: list[tuple[Array, Array]],
    row: list[int],
    top: float,
) -> float:
    """Set down one row of components under `top`; return its height."""
    height = max((float((boxes[i][1] - boxes[i][0])[1]) for i in row), default=0.0)
    left = 0.0
    for i in row:
        low, high = boxes[i]
        corner = np.array([left, top - (height + (high - low)[1]) / 2])
        for name, point in zip(parts[i][0], parts[i][1] - low + corner, strict=True):
            placed[name] = (float(point[0]), float(point[1]))
        left += float((high - low)[0])
    return height


def _box(points: Array, widths: Array) -> tuple[Array, Array]:
    """The corners of a component with its labels and a gap."""
    half = np.column_stack([widths / 2, np.full(len(widths), HEIGHT / 2)]) + GAP / 2
    return (points - half).min(axis=0), (points + half).max(axis=0)
