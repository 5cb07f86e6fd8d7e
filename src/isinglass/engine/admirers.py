"""Which edges have to be valued where a path is cut.

All paths are cut at the same threshold. There an edge is valued by both of its ends: by the one
that chose the other, and by the other, which may not have chosen it back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from isinglass.solvers.path import Path


class Thresholds(NamedTuple):
    """Thresholds from `low` up to `high`, which is not among them.

    >>> Thresholds(0.1, 0.2).meet(Thresholds(0.2, 0.3))
    False
    """

    low: float
    high: float

    def meet(self, other: Thresholds) -> bool:
        """Whether some threshold is among both."""
        return max(self.low, other.low) < min(self.high, other.high)


Admirers = dict[int, Thresholds]
"""Columns that choose another one, and between which thresholds."""


def find_admirers(paths: Sequence[Path]) -> list[Admirers]:
    """Find who chooses each column, from the least such threshold to the greatest."""
    admirers: list[Admirers] = [{} for _ in paths]
    for r, path in enumerate(paths):
        for count, thresholds in _cuts(path):
            for t in _support(path, count) if thresholds.low < thresholds.high else ():
                low, high = admirers[t].get(r, thresholds)
                hull = Thresholds(min(low, thresholds.low), max(high, thresholds.high))
                admirers[t][r] = hull
    return admirers


def valued(path: Path, admirers: Admirers) -> Iterator[tuple[int, list[int], list[int]]]:
    """Where a path may be cut, in steps: its neighbours there, and who else values an edge."""
    for count, thresholds in _cuts(path):
        support = _support(path, count)
        others = {j for j, chosen in admirers.items() if chosen.meet(thresholds)}
        yield count, sorted(support), sorted(others.difference(support))


def _cuts(path: Path) -> Iterator[tuple[int, Thresholds]]:
    """At which thresholds a path is cut, before each forward step and at its end.

    A path is cut before the first forward step whose gain is not above the threshold.
    """
    least = math.inf
    for count, step in enumerate(path.steps):
        if step.gain is not None:
            yield count, Thresholds(step.gain, least)
            least = min(least, step.gain)
    yield len(path), Thresholds(-math.inf, least)


def _support(path: Path, count: int) -> tuple[int, ...]:
    return path.steps[count - 1].support if count else path.required
