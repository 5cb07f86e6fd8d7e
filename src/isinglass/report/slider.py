"""Every threshold at once: where graphs change, and what they are in between.

One run gives the graph of every larger threshold: each path is cut before its first forward step
whose gain is not above it. So the graph changes only where the smallest gain so far of some path
lies, and one stop between two such places stands for all thresholds there.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from isinglass.solvers.path import Path

Pair = tuple[int, int]


def neighbourhood(path: Path, threshold: float) -> tuple[int, ...]:
    """The columns that a search chose, had it run to a larger threshold."""
    support = tuple(sorted(path.start.coef))  # what is required, if anything
    for step in path.steps:
        if step.gain is not None and not step.gain > threshold:
            break
        support = step.support
    return support


def edges_at(paths: Sequence[Path], threshold: float, rule: str) -> set[Pair]:
    """Pairs of columns, in order, that the neighbourhoods make edges of."""
    chosen = [
        (min(r, t), max(r, t))
        for r, path in enumerate(paths)
        for t in neighbourhood(path, threshold)
    ]
    if rule == "or":
        return set(chosen)
    seen: set[Pair] = set()
    both: set[Pair] = set()
    for pair in chosen:
        (both if pair in seen else seen).add(pair)
    return both


def changes(paths: Sequence[Path], floor: float) -> list[float]:
    """Thresholds at which some neighbourhood changes, falling: smallest gains so far."""
    places = set()
    for path in paths:
        least = math.inf
        for step in path.steps:
            if step.gain is not None and step.gain < least:
                least = step.gain
                places.add(least)
    return sorted((place for place in places if place > floor), reverse=True)


def stops(paths: Sequence[Path], floor: float, threshold: float) -> list[float]:
    """Thresholds for a slider, falling: one in each stretch in which no neighbourhood changes.

    None equals a gain. The chosen threshold is one of them, unless it equals a gain itself.

    >>> import isinglass as ig
    >>> x = ig.simulate.ising(ig.simulate.chain(4), coupling=0.8).sample(500, seed=1)
    >>> est = ig.GreedyGraph(floor=1e-4).fit(x)
    >>> some = stops(est.paths_, est.floor_, est.threshold_)
    >>> est.threshold_ in some, len(edges_at(est.paths_, some[0], "or"))
    (True, 0)
    """
    places = changes(paths, floor)
    gains = {step.gain for path in paths for step in path.steps}
    ends = [2.0 * places[0] if places else 2.0 * max(floor, threshold), *places, floor]
    between = []
    for high, low in pairwise(ends):
        stop = math.sqrt(high * low)
        if (low < threshold < high or low == threshold == floor) and threshold not in gains:
            stop = threshold
        # Where two gains are next to each other as numbers, no threshold lies between them.
        if (low < stop or stop == floor) and stop < high and stop not in gains:
            between.append(stop)
    return between


def stop_of(threshold: float, some: Sequence[float], paths: Sequence[Path]) -> int:
    """The place of the stop whose graph is that of a threshold."""
    rising = changes(paths, 0.0)[::-1]
    above = len(rising) - bisect_right(rising, threshold)
    stretches = [len(rising) - bisect_right(rising, stop) for stop in some]
    return min(bisect_left(stretches, above), len(some) - 1)
