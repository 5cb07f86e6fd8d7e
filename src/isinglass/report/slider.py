"""The stops of the page's slider: one in each stretch of thresholds that share a graph."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from isinglass.solvers.cuts import Cuts, changes
from isinglass.solvers.path import Path


def stops(paths: Sequence[Path], floor: float, threshold: float) -> list[float]:
    """Thresholds for a slider, falling: one in each stretch in which no neighbourhood changes.

    None equals a gain. The chosen threshold is one of them, unless it equals a gain itself.

    >>> import isinglass as ig
    >>> x = ig.simulate.ising(ig.simulate.chain(4), coupling=0.8).sample(500, seed=1)
    >>> est = ig.GreedyGraph(floor=1e-4).fit(x)
    >>> some = stops(est.paths_, est.floor_, est.threshold_)
    >>> est.threshold_ in some, len(est.at(some[0]))
    (True, 0)
    """
    falling = [gain for gain in changes(map(Cuts.of, paths)).tolist() if gain > floor]
    gains = {step.gain for path in paths for step in path.steps}
    ends = [2.0 * falling[0] if falling else 2.0 * max(floor, threshold), *falling, floor]
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
    """The number of the stop whose graph is that of a threshold."""
    rising = changes(map(Cuts.of, paths)).tolist()[::-1]
    above = len(rising) - bisect_right(rising, threshold)
    stretches = [len(rising) - bisect_right(rising, stop) for stop in some]
    return min(bisect_left(stretches, above), len(some) - 1)
