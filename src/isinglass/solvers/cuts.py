"""The path at a threshold, and the edges that neighbourhoods make: both are written here only.

A run to a larger threshold is a path cut before its first forward step whose gain is not above it.
So a path changes only where the threshold passes the smallest gain so far, and one run holds the
graphs of all thresholds down to its floor. The report's page has a twin, ``page/graph.js``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from isinglass.solvers.path import Path

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]
Pair = tuple[int, int]


def steps_at(gains: Iterable[float | None], threshold: float) -> int:
    """How many steps of a path a run to a threshold takes; a backward step has no gain.

    >>> steps_at([0.5, 0.2, None, 0.3], 0.1), steps_at([0.5, 0.2, None, 0.3], 0.2)
    (4, 1)
    """
    return sum(1 for _ in takewhile(lambda gain: gain is None or gain > threshold, gains))


def fits_at(begin: Numbers, gains: Array, threshold: float) -> Numbers:
    """The number of the fit that a threshold leaves of each of many paths.

    Fits ``begin[i]`` to ``begin[i + 1]`` are those of path i, the first before any step. `gains`
    has the gain of the step that led to each fit, infinite for a start and a backward step.

    >>> gains = np.array([np.inf, 0.5, 0.2, np.inf, 0.3, np.inf])
    >>> fits_at(np.array([0, 5, 6]), gains, 0.2).tolist()
    [1, 5]
    """
    last = begin[1:] - 1
    weak = np.flatnonzero(~(gains > threshold))[::-1]
    fits = last.copy()
    fits[np.searchsorted(last, weak)] = weak - 1  # of several, the first step
    return fits


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where the path of one column may be cut.

    Attributes
    ----------
    least : (k,) array
        The smallest gain of the first 1, ..., k forward steps.
    fits : sequence of k + 1 fits
        The fit before each forward step, and the last one.
    supports : list of k + 1 tuples of int
        The neighbours in each fit.
    """

    least: Array
    fits: Sequence[Any]
    supports: list[tuple[int, ...]]

    @classmethod
    def of(cls, path: Path) -> Cuts:
        """Find the cuts of a path."""
        forward = [i for i, step in enumerate(path.steps) if step.kind == "add"]
        gains = np.array([path.steps[i].gain for i in forward], dtype=np.float64)
        fits = [path.start, *(step.fit for step in path.steps)]
        supports = [path.required, *(step.support for step in path.steps)]
        left = [*forward, len(path.steps)]
        return cls(
            np.minimum.accumulate(gains), [fits[i] for i in left], [supports[i] for i in left]
        )

    def at(self, thresholds: Array) -> Numbers:
        """Which of the fits each threshold leaves."""
        return np.searchsorted(-self.least, -thresholds, side="left")

    def stretches(self, neighbour: int) -> Iterator[tuple[float, float]]:
        """The thresholds at which a neighbour is in the support, falling.

        Each stretch is a pair of thresholds: the first is included, the second is not.
        """
        begin: float | None = None
        high = math.inf
        for low, support in zip([*self.least.tolist(), -math.inf], self.supports, strict=True):
            if not low < high:  # no threshold cuts the path here
                continue
            if neighbour in support:
                begin = high if begin is None else begin
            elif begin is not None:
                yield high, begin
                begin = None
            high = low
        if begin is not None:
            yield -math.inf, begin


def changes(cuts: Iterable[Cuts]) -> Array:
    """The thresholds at which some path is cut elsewhere, falling."""
    return np.unique(np.concatenate([[], *(one.least for one in cuts)]))[::-1]


def one_threshold_per_graph(cuts: Sequence[Cuts], floor: float) -> Array:
    """One threshold for each graph of a run, falling; the last is for the graph at the floor.

    The first leaves no step at all. The others lie half-way, in logarithms, between two gains at
    which some path is cut, so that rounding cannot move one to the other side.
    """
    least = np.unique([floor, *changes(cuts)])[::-1]
    least = least[np.concatenate([[True], least[1:] < least[:-1] * (1 - 1e-9)])]
    if len(least) == 1:
        return np.array([floor])
    return np.concatenate([least[:1], np.sqrt(least[:-1] * least[1:])])


def ends_needed(rule: str) -> int:
    """How many ends must choose an edge: both by "and", else one ("joint": they agree)."""
    return 2 if rule == "and" else 1


class Edges(NamedTuple):
    """Pairs of columns in order, and where among the choices each stands; the same number twice
    where only one end chose it.
    """

    source: Numbers
    target: Numbers
    choice: Numbers
    other_choice: Numbers

    @property
    def pairs(self) -> list[Pair]:
        """The ends of each edge."""
        return list(zip(self.source.tolist(), self.target.tolist(), strict=True))


def join(column: Numbers, neighbour: Numbers, rule: str) -> Edges:
    """The edges that columns make by choosing neighbours, each choice once.

    >>> join(np.array([0, 1, 2]), np.array([1, 0, 1]), "or").pairs
    [(0, 1), (1, 2)]
    >>> join(np.array([0, 1, 2]), np.array([1, 0, 1]), "and").pairs
    [(0, 1)]
    """
    low, high = np.minimum(column, neighbour), np.maximum(column, neighbour)
    key = low * (high.max(initial=0) + 1) + high
    _, choice, position = np.unique(key, return_index=True, return_inverse=True)
    other = choice.copy()
    other[position] = np.arange(len(low))  # the last choice of a pair; `choice` is the first
    kept = (other != choice) | (ends_needed(rule) == 1)
    choice, other = choice[kept], other[kept]
    return Edges(low[choice], high[choice], choice, other)


def join_neighbourhoods(neighbours: Iterable[Iterable[int]], rule: str) -> list[Pair]:
    """The edges that neighbourhoods make, one per column, in column order.

    >>> join_neighbourhoods([[1], [0], [1]], "and")
    [(0, 1)]
    """
    chosen = [(r, t) for r, others in enumerate(neighbours) for t in others]
    column, neighbour = np.array(chosen, dtype=np.intp).reshape(-1, 2).T
    return join(column, neighbour, rule).pairs


def edges_at(paths: Iterable[Path], threshold: float, rule: str) -> list[Pair]:
    """The edges of some paths at a threshold."""
    return join_neighbourhoods((support_at(path, threshold) for path in paths), rule)


def support_at(path: Path, threshold: float) -> tuple[int, ...]:
    """What is in the support of a path at a threshold."""
    count = steps_at((step.gain for step in path.steps), threshold)
    return path.steps[count - 1].support if count else path.required


def edges_at_each(cuts: Sequence[Cuts], thresholds: Array, rule: str) -> Iterator[set[Pair]]:
    """The edges at each of some falling thresholds: one set that grows and shrinks on the way."""
    needed = ends_needed(rule)
    chosen: dict[Pair, int] = {}
    edges: set[Pair] = set()

    def count(r: int, others: Iterable[int], change: int) -> None:
        for t in others:
            pair = (min(r, t), max(r, t))
            chosen[pair] = chosen.get(pair, 0) + change
            (edges.add if chosen[pair] >= needed else edges.discard)(pair)

    fits = [one.at(thresholds) for one in cuts]
    before: list[set[int]] = [set() for _ in cuts]
    for at, columns in enumerate(_changed(fits, len(thresholds))):
        for r in columns:
            now = set(cuts[r].supports[fits[r][at]])
            count(r, before[r] - now, -1)
            count(r, now - before[r], +1)
            before[r] = now
        yield edges


def _changed(fits: Sequence[Numbers], thresholds: int) -> list[list[int]]:
    """For each threshold the columns whose path is cut elsewhere than at the one before."""
    changed: list[list[int]] = [[] for _ in range(thresholds)]
    changed[0] = list(range(len(fits)))
    for r, of_column in enumerate(fits):
        for at in (np.flatnonzero(np.diff(of_column)) + 1).tolist():
            changed[at].append(r)
    return changed
