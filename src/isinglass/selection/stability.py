"""What comes back in other rows of the same table: stability selection and StARS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.selection.choice import Look, Selection, at_floor, curve_of
from isinglass.selection.rules import Checked, FalseEdges
from isinglass.solvers.cuts import edges_at_each
from isinglass.table import Drawer
from isinglass.table.draws import Counts

Array = NDArray[np.float64]
Pair = tuple[int, int]
#: Thresholds that are looked at.
POINTS = 60


@dataclass(frozen=True, repr=False)
class Stability(Checked):
    """Stability selection: edges found in most half-samples, with a bound on the wrong ones.

    The rows are split at random into two halves, `pairs` times over, and the search is run on each
    half. With q the mean number of edges a half-sample's graph has at a threshold, N the number of
    pairs of columns, and the edges kept that at least `share` (above 1/2) of the half-samples
    choose,

        expected number of wrong edges kept <= q^2 / ((2 share - 1) N).

    The smallest threshold at which the bound is at most `expected` is chosen; ``graph_`` holds the
    edges of the whole table's run at that threshold that are also kept. Thresholds stand for the
    same evidence, 2 n times themselves, in all rows.

    What "wrong" means depends on what is assumed. Without assumptions, the bound is for edges that
    a half-sample chooses with probability at most q/N (Shah and Samworth 2013, Theorem 1). It is
    for edges that are not in the true graph if those are exchangeable and no better than guessing
    (Meinshausen and Buehlmann 2010), which does not hold for graphs: the effect of a missed link
    shows up at some pairs more than at others. The bound is usually far above the actual number of
    wrong edges, so true edges are lost.

    Examples
    --------
    >>> Stability()
    Stability(expected=1, share=0.75, pairs=50, seed=0): edges in 0.75 of the half-samples, with a
    bound of 1 on the expected wrong ones
    """

    expected: float = 1.0
    share: float = 0.75
    pairs: int = 50
    seed: int = 0
    words = (
        "edges in {share:g} of the half-samples, with a bound of {expected:g} on the expected "
        "wrong ones"
    )

    def floor(self, n: float, p: int) -> float:
        """Return a threshold that so many edges without effect pass: more would exceed the bound.

        An edge has two ends that mostly agree, so that twice as many tests are passed.
        """
        most = float(np.sqrt(self.expected * (2 * self.share - 1) * max(p * (p - 1) / 2, 1)))
        return FalseEdges(2 * most).threshold(n, p)

    def select(self, look: Look) -> Selection:
        """Count edges in half-samples at each threshold."""
        drawer = Drawer.of(look.table)
        drawer.check_halves()
        rng = np.random.default_rng(self.seed)
        thresholds = evenly_spaced(look)
        halves = [half for _ in range(int(self.pairs)) for half in drawer.halves(rng)]
        counts = counted_edges(look, drawer, halves, thresholds)
        samples, p = 2 * int(self.pairs), len(look.table.columns)
        q = np.array([sum(count.values()) / samples for count in counts])
        bound = q**2 / ((2 * self.share - 1) * max(p * (p - 1) / 2, 1))
        best, broken = _last_within(bound, self.expected)
        least = self.share * samples - 1e-9
        kept = [{pair for pair in count if count[pair] >= least} for count in counts]
        stop = f"there the bound is {bound[best]:.3g}.{at_floor(best, thresholds)}"
        if broken:
            stop = "the bound is exceeded at every threshold, even the largest."
        return Selection(
            repr(self),
            float(thresholds[best]),
            curve_of(
                thresholds,
                look.edge_counts(thresholds),
                stable=[len(some) for some in kept],
                mean_edges=q,
                bound=bound,
            ),
            f"half-samples have {q[best]:.3g} edges on average at this threshold, and "
            f"{len(kept[best])} edges are in {self.share:g} of the {samples}; {stop}",
            "bound",
            look.search.required.union(kept[best]),
        )


@dataclass(frozen=True, repr=False)
class StARS(Checked):
    """The smallest threshold at which graphs of subsamples still agree (Liu et al. 2010).

    Of `samples` subsamples of b rows, drawn without replacement, a share xi of the graphs at a
    threshold have a pair of columns as an edge. The instability is the mean of 2 xi (1 - xi) over
    all pairs. Going down from the largest threshold, the last one is chosen before the instability
    exceeds `instability`. Thresholds stand for the same evidence, 2 n times themselves, in all
    rows. b is 10 sqrt(n), or 0.8 n for 144 rows and fewer, as in the paper.

    It promises, as n grows and under conditions that cannot be checked on a table, a graph that
    *contains* the true one: it is made to err on the side of too many edges. 0.05 is the authors'
    choice, not an error rate.

    Examples
    --------
    >>> StARS()
    StARS(instability=0.05, samples=20, seed=0): the densest graph before subsamples disagree on
    more than 0.05
    """

    instability: float = 0.05
    samples: int = 20
    seed: int = 0
    words = "the densest graph before subsamples disagree on more than {instability:g}"

    def floor(self, n: float, p: int) -> float:
        """Return the threshold at which edges without effect alone are that unstable.

        A pair that a share xi of the graphs have is unstable by 2 xi (1 - xi).
        """
        share = (1 - np.sqrt(1 - 2 * self.instability)) / 2
        return FalseEdges(share * max(p * (p - 1), 1)).threshold(n, p)

    def select(self, look: Look) -> Selection:
        """Measure how graphs of subsamples differ at each threshold."""
        drawer = Drawer.of(look.table)
        rng = np.random.default_rng(self.seed)
        thresholds = evenly_spaced(look)
        size = max(self.rows(drawer.size), drawer.least)
        samples, p = int(self.samples), len(look.table.columns)
        draws = [drawer.some(rng, size) for _ in range(samples)]
        counts = counted_edges(look, drawer, draws, thresholds)
        shares = [np.array(list(count.values())) / samples for count in counts]
        unstable = np.array([np.sum(2 * share * (1 - share)) for share in shares])
        unstable /= max(p * (p - 1) / 2, 1)
        best, _ = _last_within(unstable, self.instability)
        edges = look.edge_counts(thresholds)
        return Selection(
            repr(self),
            float(thresholds[best]),
            curve_of(thresholds, edges, instability=unstable),
            f"graphs of {samples} subsamples of {size} {drawer.what}s have an instability of "
            f"{unstable[best]:.3g} at this threshold, where the whole table has {edges[best]} "
            f"edges.{at_floor(best, thresholds)}",
            "instability",
        )

    @staticmethod
    def rows(n: int) -> int:
        """How many rows a subsample has."""
        return int(10 * np.sqrt(n)) if n > 144 else max(int(0.8 * n), 1)


def counted_edges(
    look: Look, drawer: Drawer, draws: Sequence[Counts], thresholds: Array
) -> list[Counter[Pair]]:
    """In how many of the graphs of some draws each edge is, at each threshold: one run per draw.

    Required edges do not count: nobody chose them.
    """
    counts: list[Counter[Pair]] = [Counter() for _ in thresholds]
    for done, draw in enumerate(draws, start=1):
        cuts, here = look.others(drawer.table_of(draw)[0], thresholds)
        for count, edges in zip(counts, edges_at_each(cuts, here, look.search.rule), strict=True):
            count.update(edges - look.search.required)
        look.progress(done, len(draws))
    return counts


def evenly_spaced(look: Look, count: int = POINTS) -> Array:
    """Falling thresholds, evenly spaced in logarithms, from where a run's first graph is empty.

    Not the thresholds of the run's own graphs: other rows have graphs between them.
    """
    return np.maximum(np.geomspace(look.thresholds[0], look.search.floor, count), look.search.floor)


def _last_within(values: Array, limit: float) -> tuple[int, bool]:
    """The last value before one exceeds the limit, from the first on; whether the first does."""
    last = int(np.argmax(np.append(values > limit, True))) - 1
    return max(last, 0), last < 0
