"""Where to draw columns, by stress majorisation of their links: for the page and for pictures.

On the page every column keeps its position, whatever the threshold: links that were chosen pull
most, those that only smaller thresholds bring pull less. Pictures show linked columns only, with
room for their labels. The same graph gives the same positions: nothing here is random.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

from isinglass.graph import Graph

Array = NDArray[np.float64]
Columns = NDArray[np.intp]
Pair = tuple[int, int]
Positions = dict[str, tuple[float, float]]

#: On the page: lengths of a link that was chosen, and of one that only a smaller threshold brings.
CHOSEN, FAINT = 1.0, 2.2
#: On the page: room around a part of the graph, and around a group of columns.
ROOM, APART = 1.0, 3.0
#: In pictures, in inches: a link if nothing is in the way, and the height of a dot with its label.
LINK, HEIGHT = 1.0, 0.5
#: In pictures, in inches: the length from which on a thin part is folded, the room around a part,
#: and the width of a label when nobody says.
LONGEST, GAP, WIDTH = 12.0, 0.35, 0.5


def page_positions(
    p: int,
    chosen: Sequence[Pair],
    faint: Sequence[Pair],
    groups: Sequence[int | None] | None = None,
) -> Array:
    """Return the (p, 2) positions of all columns, y downward, a link being about one unit long.

    Given the groups of columns, each group is laid out by itself and set apart from the others.

    >>> page_positions(3, [(0, 1)], []).round(3).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]]
    """
    if groups is not None:
        chosen = [(a, b) for a, b in chosen if groups[a] == groups[b]]
    lengths = _lengths(p, chosen, faint)
    parts = _parts(lengths)
    linked = [part for part in parts if len(part) > 1]
    at = np.zeros((p, 2))
    for part in linked:
        at[part] = _spread(lengths[part][:, part])
    boxes = [(at[part].min(axis=0), at[part].max(axis=0)) for part in linked]
    room = ROOM if groups is None else APART
    bottom = _in_rows(at, linked, [(low, high + room) for low, high in boxes], shape=1.7)
    _alone(at, np.array([part[0] for part in parts if len(part) == 1], dtype=np.intp), bottom)
    return at


def positions(graph: Graph, widths: Mapping[str, float] | None = None) -> Positions:
    """Place every linked column in inches, y upward; columns without a link get no position.

    Each connected part lies down, with no label on another; parts are set side by side in rows,
    the largest first. `widths` are the inches that labels take up.

    >>> from isinglass.exports import from_networkx
    >>> import networkx as nx
    >>> positions(from_networkx(nx.Graph([("a", "b")])))
    {'a': (0.425, -0.425), 'b': (1.425, -0.425)}
    """
    wide = np.array([WIDTH if widths is None else widths[name] for name in graph.names])
    lengths = _lengths(len(wide), graph.pairs, ())
    linked = [part for part in _parts(lengths) if len(part) > 1]
    at, boxes = np.zeros((len(wide), 2)), []
    for part in linked:
        own = lengths[part][:, part]
        at[part] = _labels_apart(_for_labels(_spread(own), own.nonzero(), wide[part]), wide[part])
        half = np.column_stack([wide[part], np.full(len(part), HEIGHT)]) / 2 + GAP / 2
        boxes.append(((at[part] - half).min(axis=0), (at[part] + half).max(axis=0)))
    _in_rows(at, linked, boxes, shape=2.25)
    return {graph.names[j]: (float(at[j, 0]), float(-at[j, 1])) for part in linked for j in part}


def _parts(lengths: csr_array) -> list[Columns]:
    """The connected parts of a graph, the largest first."""
    count, part = connected_components(lengths, directed=False)
    sizes = np.bincount(part, minlength=count)
    return [np.flatnonzero(part == i) for i in np.argsort(-sizes, kind="stable")]


def _lengths(p: int, chosen: Sequence[Pair], faint: Sequence[Pair]) -> csr_array:
    pairs = dict.fromkeys(faint, FAINT) | dict.fromkeys(chosen, CHOSEN)
    ends = np.array(sorted(pairs), dtype=int).reshape(-1, 2)
    length = np.array([pairs[a, b] for a, b in ends.tolist()], dtype=float)
    return csr_array((length, (ends[:, 0], ends[:, 1])), shape=(p, p))


def _spread(lengths: csr_array, rounds: int = 150) -> Array:
    """One connected part, by stress majorisation (Gansner, Koren and North, 2004).

    Distances in the plane are brought near the lengths of paths; each round solves the same
    linear system, so it is inverted once.
    """
    distance = shortest_path(lengths, directed=False)
    p = len(distance)
    if p == 2:
        return np.array([[0.0, 0.0], [float(distance[0, 1]), 0.0]])
    weight = 1.0 / np.maximum(distance, 1e-9) ** 2
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(laplacian + 1.0 / p)
    target = weight * distance
    at = _start(distance)
    for _ in range(rounds if p <= 200 else 60):
        ratio = target / np.maximum(_distances(at), 1e-9)
        np.fill_diagonal(ratio, 0.0)
        moved = inverse @ (ratio.sum(axis=1)[:, None] * at - ratio @ at)
        if np.abs(moved - at).max() < 1e-3:
            break
        at = moved
    return _lying_down(_apart(at))


def _start(distance: Array) -> Array:
    """Classical scaling, with a small spiral so that no two columns coincide."""
    p = len(distance)
    centre = np.eye(p) - 1.0 / p
    values, vectors = eigh(-0.5 * centre @ distance**2 @ centre, subset_by_index=[p - 2, p - 1])
    top = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 1e-9))
    top *= np.sign(top[np.abs(top).argmax(axis=0), [0, 1]])
    turn = np.arange(p) * 2.399963  # the golden angle
    spiral = np.column_stack([np.cos(turn), np.sin(turn)]) * np.sqrt(np.arange(p) + 1.0)[:, None]
    start: Array = top + 0.05 * spiral
    return start


def _apart(at: Array, least: float = 0.55) -> Array:
    """Push columns away from each other that would be drawn on one another."""
    at = at.copy()
    for _ in range(40):
        distance = _distances(at)
        np.fill_diagonal(distance, np.inf)
        a, b = np.nonzero(distance < least - 1e-3)
        if not len(a):
            break
        near = distance[a, b]
        push = 0.4 * (least - near) / np.maximum(near, 1e-9)
        np.add.at(at, a, push[:, None] * (at[a] - at[b]))
    return at


def _distances(at: Array) -> Array:
    across, down = (np.subtract.outer(axis, axis) for axis in at.T)
    distance: Array = np.sqrt(across * across + down * down)
    return distance


def _lying_down(at: Array) -> Array:
    """Turned so that the longest extent is horizontal, the first column at the upper left."""
    at = at - at.mean(axis=0)
    turned: Array = at @ np.linalg.svd(at, full_matrices=False)[2].T
    return turned * np.where(turned[0] > 0, -1.0, 1.0)


def _in_rows(
    at: Array, parts: Sequence[Columns], boxes: Sequence[tuple[Array, Array]], shape: float
) -> float:
    """Set parts side by side in rows by the corners of their boxes; return where they end.

    All rows together are about `shape` times as wide as high.
    """
    sizes = [high - low for low, high in boxes]
    area = sum(float(np.prod(size)) for size in sizes)
    widest = max((float(size[0]) for size in sizes), default=0.0)
    limit = max(widest, np.sqrt(shape * area))
    left = top = height = 0.0
    for part, (low, _), size in zip(parts, boxes, sizes, strict=True):
        if left > 0 and left + size[0] > limit + 1e-9:
            left, top, height = 0.0, top + height, 0.0
        at[part] += np.array([left, top]) - low
        left += float(size[0])
        height = max(height, float(size[1]))
    return top + height


def _alone(at: Array, alone: Columns, top: float) -> None:
    """Columns without any link, in rows below all others, as wide as these."""
    if not len(alone):
        return
    others = np.setdiff1d(np.arange(len(at)), alone)
    width = float(np.ptp(at[others, 0])) if len(others) else np.sqrt(1.7 * len(alone))
    per_row = max(1, int(width / ROOM) + 1)
    for start in range(0, len(alone), per_row):
        row = alone[start : start + per_row]
        middle = (len(row) - 1) / 2
        at[row, 0] = width / 2 + (np.arange(len(row)) - middle) * ROOM
        at[row, 1] = top + start // per_row * 0.8


def _for_labels(points: Array, links: tuple[Columns, Columns], widths: Array) -> Array:
    """A part in inches: links of one length on average, longer where there are many of them."""
    lengths = np.linalg.norm(points[links[0]] - points[links[1]], axis=1)
    crowd = max(1.0, math.sqrt(2 * len(lengths) / len(points) / 3))  # mean degree above 3
    points = points * crowd * LINK / max(float(lengths.mean()), 1e-9)
    points[:, 0] *= max(1.0, float(widths.mean()) / LINK)
    return _folded(points)


def _folded(points: Array) -> Array:
    """A part much longer than high, as a chain is, laid in rows to and fro."""
    width, height = np.ptp(points, axis=0)
    if width < LONGEST or width < 6 * height:
        return points
    rows = math.ceil(math.sqrt(width / (2 * (height + LINK))))
    share = (points[:, 0] - points[:, 0].min()) / width * (1 - 1e-9)  # the last row is not left
    row, across = np.divmod(share * rows, 1.0)
    across = np.where(row % 2 == 0, across, 1 - across) * width / rows
    return np.column_stack([across, points[:, 1] + row * (height + LINK)])


def _labels_apart(points: Array, widths: Array) -> Array:
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
