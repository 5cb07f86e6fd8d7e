"""At which threshold an edge enters the graph: the number that decides whether it is there.

A graph with a lower threshold may lack an edge that one with a higher threshold has, since searches
drop what others explain better. So the entry of an edge belongs to a graph: it is in the graphs of
all thresholds from this graph's own up to its entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from isinglass.engine.along import Cuts, cuts_of
from isinglass.engine.runs import Runs

Pair = tuple[int, int]
Stretch = tuple[float, float]
"""Thresholds from the first, included, up to the second, which is not."""


def entries(runs: Runs, pairs: Sequence[Pair], threshold: float, rule: str) -> list[float]:
    """The entry of each edge of the graph at a threshold; infinite for required ones."""
    cuts = cuts_of(runs)
    climb = _climb_either if rule == "or" else _climb_both
    return [
        climb([list(_chosen(cuts[a], b)), list(_chosen(cuts[b], a))], threshold) for a, b in pairs
    ]


def _chosen(cuts: Cuts, neighbour: int) -> Iterator[Stretch]:
    """The thresholds at which a column has a neighbour, falling; stretches that touch are one."""
    begin: float | None = None
    high = math.inf
    ends = [*cuts.least.tolist(), -math.inf]
    for low, support in zip(ends, cuts.supports(), strict=True):
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


def _climb_either(ends: Sequence[Sequence[Stretch]], threshold: float) -> float:
    """How far up one end or the other has the edge without a break."""
    while True:
        tops = [high for end in ends for low, high in end if low <= threshold < high]
        if not tops:
            return threshold
        threshold = max(tops)


def _climb_both(ends: Sequence[Sequence[Stretch]], threshold: float) -> float:
    """How far up both ends have it."""
    tops = [[high for low, high in end if low <= threshold < high] for end in ends]
    return min((high[0] for high in tops if high), default=threshold)
