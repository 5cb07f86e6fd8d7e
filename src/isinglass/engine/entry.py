"""At which threshold an edge enters the graph: the number that decides whether it is there.

A graph with a lower threshold may lack an edge that one with a higher threshold has, since searches
drop what others explain better. So the entry of an edge belongs to a graph: it is in the graphs of
all thresholds from this graph's own up to its entry.
"""

from __future__ import annotations

from collections.abc import Sequence

from isinglass.engine.runs import Runs, cuts_of
from isinglass.solvers.cuts import ends_needed

Pair = tuple[int, int]
Stretch = tuple[float, float]
"""Thresholds from the first, included, up to the second, which is not."""


def entries(runs: Runs, pairs: Sequence[Pair], threshold: float, rule: str) -> list[float]:
    """The entry of each edge of the graph at a threshold; infinite for required ones."""
    cuts = cuts_of(runs)
    climb = _climb_either if ends_needed(rule) == 1 else _climb_both
    return [
        climb([list(cuts[a].stretches(b)), list(cuts[b].stretches(a))], threshold) for a, b in pairs
    ]


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
