"""A run as a function of the threshold: everything it says about every threshold, without a refit.

A path is cut before its first forward step whose gain is not above the threshold. So it is cut in
the same place for all thresholds between two of the running minima of its gains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.runs import Runs
from isinglass.solvers.path import Path

Array = NDArray[np.float64]
Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where the path of one column may be cut.

    Attributes
    ----------
    least : (k,) array
        The smallest gain of the first 1, ..., k forward steps.
    fits : list of k + 1 fits
        The fit before each forward step, and the last one.
    """

    least: Array
    fits: list[Any]

    @classmethod
    def of(cls, path: Path) -> Cuts:
        """Find the cuts of a path."""
        after = [path.start, *(step.fit for step in path.steps)]
        forward = [i for i, step in enumerate(path.steps) if step.kind == "add"]
        gains = np.array([path.steps[i].gain for i in forward], dtype=np.float64)
        return cls(np.minimum.accumulate(gains), [after[i] for i in forward] + [after[-1]])

    def at(self, thresholds: Array) -> NDArray[np.intp]:
        """Which fit each threshold leaves."""
        return np.searchsorted(-self.least, -thresholds, side="left")

    def supports(self) -> list[frozenset[int]]:
        """The neighbours in each fit."""
        return [frozenset(fit.coef) for fit in self.fits]


def cuts_of(runs: Runs) -> list[Cuts]:
    """Where each column's path may be cut."""
    return [Cuts.of(runs.path(r)) for r in range(len(runs))]


def thresholds_along(cuts: Sequence[Cuts], floor: float) -> Array:
    """One threshold for each graph of a run, falling; the last is for the graph at the floor.

    The first leaves no step at all. The others lie half-way, in logarithms, between two gains at
    which some path is cut, so that rounding cannot move one to the other side.
    """
    least = np.unique(np.concatenate([[floor], *(one.least for one in cuts)]))[::-1]
    least = least[np.concatenate([[True], least[1:] < least[:-1] * (1 - 1e-9)])]
    if len(least) == 1:
        return np.array([floor])
    return np.concatenate([least[:1], np.sqrt(least[:-1] * least[1:])])


def edges_along(cuts: Sequence[Cuts], thresholds: Array, rule: str) -> Iterator[set[Pair]]:
    """The edges at each of some falling thresholds: one set that grows and shrinks on the way."""
    needed = 1 if rule == "or" else 2
    chosen: dict[Pair, int] = {}
    edges: set[Pair] = set()

    def count(r: int, others: frozenset[int], change: int) -> None:
        for t in others:
            pair = (min(r, t), max(r, t))
            chosen[pair] = chosen.get(pair, 0) + change
            (edges.add if chosen[pair] >= needed else edges.discard)(pair)

    supports = [one.supports() for one in cuts]
    places = [one.at(thresholds) for one in cuts]
    before: list[frozenset[int]] = [frozenset()] * len(cuts)
    changes = _changes(places, len(thresholds))
    for at, columns in enumerate(changes):
        for r in columns:
            now = supports[r][places[r][at]]
            count(r, before[r] - now, -1)
            count(r, now - before[r], +1)
            before[r] = now
        yield edges


def _changes(places: Sequence[NDArray[np.intp]], thresholds: int) -> list[list[int]]:
    """For each threshold the columns whose path is cut elsewhere than at the one before."""
    changes: list[list[int]] = [[] for _ in range(thresholds)]
    changes[0] = list(range(len(places)))
    for r, place in enumerate(places):
        for at in (np.flatnonzero(np.diff(place)) + 1).tolist():
            changes[at].append(r)
    return changes
