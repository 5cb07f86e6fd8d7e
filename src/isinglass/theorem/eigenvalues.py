"""Extreme eigenvalues of a curvature on a support and a few further candidates.

Every set that the paper's proof looks at holds the true support. By interlacing, the extremes over
up to j further candidates are those over exactly j; with all of them, they are those of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

#: So many sets are looked at one by one; beyond that, the search is greedy.
MOST_SETS = 3000


@dataclass(frozen=True)
class Extremes:
    """The extreme eigenvalues over all sets of the support and some further candidates.

    Attributes
    ----------
    further : int
        Candidates beyond the support.
    smallest, largest : float
        As found: the smallest eigenvalue is at most, and the largest at least, this much. Where
        `exact`, they are these.
    at_least, at_most : float
        Certified: no set has a smaller, and none a larger eigenvalue.
    exact : bool
    """

    further: int
    smallest: float
    largest: float
    at_least: float
    at_most: float
    exact: bool


def extremes(
    matrix: Array, blocks: Sequence[Numbers], support: Iterable[int], further: int
) -> Extremes:
    """Extreme eigenvalues over the support and up to `further` other blocks."""
    inside = tuple(support)
    outside = [at for at in range(len(blocks)) if at not in inside]
    further = min(further, len(outside))
    if further in (0, 1, len(outside)) or comb(len(outside), further) <= MOST_SETS:
        ends = np.array(
            [_ends(matrix, blocks, (*inside, *more)) for more in combinations(outside, further)]
        )
        low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
        return Extremes(further, low, high, low, high, exact=True)
    low = _greedy(matrix, blocks, inside, outside, further, sign=1)
    high = -_greedy(matrix, blocks, inside, outside, further, sign=-1)
    at_least, at_most = certified(matrix, blocks, inside, further)
    return Extremes(further, low, high, at_least, at_most, exact=False)


def certified(
    matrix: Array, blocks: Sequence[Numbers], support: Sequence[int], further: int
) -> tuple[float, float]:
    """A lower and an upper bound on all eigenvalues of all sets: interlacing, and Gershgorin."""
    values = np.linalg.eigvalsh(matrix)
    sizes = sorted((len(b) for at, b in enumerate(blocks) if at not in support), reverse=True)
    most = sum(len(blocks[at]) for at in support) + sum(sizes[:further])
    beside = np.sort(np.abs(matrix - np.diag(np.diag(matrix))), axis=1)[:, ::-1]
    radius = beside[:, : max(most - 1, 0)].sum(axis=1)
    low = max(float(values[0]), float((np.diag(matrix) - radius).min()))
    high = min(float(values[-1]), float((np.diag(matrix) + radius).max()))
    return low, high


def _ends(matrix: Array, blocks: Sequence[Numbers], chosen: Sequence[int]) -> tuple[float, float]:
    if not chosen:
        return np.inf, -np.inf
    at = np.concatenate([blocks[b] for b in chosen])
    values = np.linalg.eigvalsh(matrix[np.ix_(at, at)])
    return float(values[0]), float(values[-1])


def _greedy(
    matrix: Array,
    blocks: Sequence[Numbers],
    inside: tuple[int, ...],
    outside: Sequence[int],
    further: int,
    *,
    sign: int,
) -> float:
    """The smallest eigenvalue of sign times the matrix, the worst candidate added each time."""
    chosen, left, worst = inside, list(outside), np.inf
    for _ in range(further):
        lowest = [_ends(sign * matrix, blocks, (*chosen, b))[0] for b in left]
        at = int(np.argmin(lowest))
        worst = lowest[at]
        chosen = (*chosen, left.pop(at))
    return float(worst)
