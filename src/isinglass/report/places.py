"""Where the page draws every column: one place each, whatever the threshold.

The links that were chosen pull most, those that only smaller thresholds bring pull less. So the
picture is that of the chosen graph, and nothing jumps when the slider brings links and takes them
away. The same graph gives the same places: nothing here is random.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, shortest_path

Array = NDArray[np.float64]
Pair = tuple[int, int]

#: Lengths of a link that was chosen, and of one that only a smaller threshold brings.
CHOSEN, FAINT = 1.0, 2.2
#: Room around a part of the graph, and between columns that nothing links.
GAP = 1.0
#: Room around a group of columns.
APART = 3.0


def places(
    p: int,
    chosen: Sequence[Pair],
    faint: Sequence[Pair],
    groups: Sequence[int | None] | None = None,
) -> Array:
    """Return the (p, 2) places of all columns, a link being about one unit long.

    Given the groups of columns, each group is laid out by itself and set apart from the others.

    >>> places(3, [(0, 1)], []).round(3).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 1.0]]
    """
    if groups is not None:
        chosen = [(a, b) for a, b in chosen if groups[a] == groups[b]]
    lengths = _lengths(p, chosen, faint)
    count, part = connected_components(lengths, directed=False)
    sizes = np.bincount(part, minlength=count)
    parts = [np.flatnonzero(part == i) for i in np.argsort(-sizes, kind="stable")]
    linked = [part for part in parts if len(part) > 1]
    at = np.zeros((p, 2))
    for group in linked:
        at[group] = _spread(lengths[group][:, group])
    bottom = _in_rows(at, linked, GAP if groups is None else APART)
    _alone(at, np.array([part[0] for part in parts if len(part) == 1], dtype=int), bottom)
    return at


def _lengths(p: int, chosen: Sequence[Pair], faint: Sequence[Pair]) -> csr_array:
    pairs = dict.fromkeys(faint, FAINT) | dict.fromkeys(chosen, CHOSEN)
    ends = np.array(sorted(pairs), dtype=int).reshape(-1, 2)
    length = np.array([pairs[a, b] for a, b in ends.tolist()], dtype=float)
    return csr_array((length, (ends[:, 0], ends[:, 1])), shape=(p, p))


def _spread(lengths: csr_array, rounds: int = 150) -> Array:
    """One connected part, by stress majorisation (Gansner, Koren and North, 2004).

    Distances in the plane are brought near those along the links; each round solves the same
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
    """Classical scaling, with a small spiral so that no two columns share a place."""
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
    across, down = (np.subtract.outer(along, along) for along in at.T)
    distance: Array = np.sqrt(across * across + down * down)
    return distance


def _lying_down(at: Array) -> Array:
    """Turned so that the longest extent is horizontal, the first column at the upper left."""
    at = at - at.mean(axis=0)
    turned: Array = at @ np.linalg.svd(at, full_matrices=False)[2].T
    return turned * np.where(turned[0] > 0, -1.0, 1.0)


def _in_rows(
    at: Array, groups: Sequence[NDArray[np.intp]], room: float, shape: float = 1.7
) -> float:
    """Set connected parts side by side in rows, the largest first; return where they end."""
    sizes = [np.ptp(at[group], axis=0) + room for group in groups]
    area = sum(float(np.prod(size)) for size in sizes)
    widest = max((float(size[0]) for size in sizes), default=0.0)
    limit = max(widest, np.sqrt(shape * area))
    left = top = height = 0.0
    for group, size in zip(groups, sizes, strict=True):
        if left > 0 and left + size[0] > limit + 1e-9:
            left, top, height = 0.0, top + height, 0.0
        at[group] += np.array([left, top]) - at[group].min(axis=0)
        left += float(size[0])
        height = max(height, float(size[1]))
    return top + height


def _alone(at: Array, alone: NDArray[np.intp], top: float) -> None:
    """Columns without any link, in rows below all others, as wide as these."""
    if not len(alone):
        return
    others = np.setdiff1d(np.arange(len(at)), alone)
    width = float(np.ptp(at[others, 0])) if len(others) else np.sqrt(1.7 * len(alone))
    a_row = max(1, int(width / GAP) + 1)
    for start in range(0, len(alone), a_row):
        row = alone[start : start + a_row]
        middle = (len(row) - 1) / 2
        at[row, 0] = width / 2 + (np.arange(len(row)) - middle) * GAP
        at[row, 1] = top + start // a_row * 0.8
