"""Blocks of a loss of a linear predictor: not every candidate is evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.families import (
    HuberLoss,
    LogisticLoss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
)
from isinglass.losses.linear import LinearLoss
from isinglass.losses.protocol import Block, Fit
from isinglass.solvers.blocks import TIE, Blocks, Variables, first_within_tie
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.solvers.linear.bounds import Bound, HuberBound, SelfConcordant
from isinglass.solvers.linear.curved import CurvedWay
from isinglass.solvers.linear.members import Members
from isinglass.solvers.linear.race import Judge
from isinglass.solvers.linear.squared import SquaredWay

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

#: Candidates that are evaluated first, to know what the others must beat.
FIRST = 4
#: Candidates that are first looked at more closely, if that is cheap.
LOOK = 32


def has_quick_way(loss: Any) -> bool:
    """Whether a loss is one of the package: a subclass may have changed its values."""
    return type(loss) is SquaredLoss or _bound_of(loss) is not None


def _bound_of(loss: Any) -> Bound | None:
    if type(loss) in (LogisticLoss, PoissonLoss):
        return SelfConcordant(np.ones((1, 1)))
    if type(loss) is MultinomialLoss:
        pairs = np.array(np.triu_indices(len(loss.classes), 1))
        return SelfConcordant(loss.basis[pairs[0]] - loss.basis[pairs[1]])
    return HuberBound(loss.k) if type(loss) is HuberLoss else None


class LinearBlocks(Blocks):
    """The steps of :class:`~isinglass.solvers.blocks.Blocks`, by products with X and bounds.

    Blocks are numbered from 0 on.
    """

    loss: LinearLoss

    def __init__(
        self,
        loss: LinearLoss,
        blocks: Mapping[int, Block],
        *,
        standardise: bool,
        likelihood: bool = False,
    ) -> None:
        super().__init__(loss, blocks, standardise=standardise, likelihood=likelihood)
        self._members = members = Members(blocks)
        bound = _bound_of(loss)
        self._way: SquaredWay | CurvedWay = (
            SquaredWay(loss, members) if bound is None else CurvedWay(loss, members, bound)
        )

    def fit(self, support: Sequence[int], start: Fit | None = None) -> Fit:
        return self._way.fit([i for j in support for i in self.blocks[j]], start)

    def has_all(self, support: tuple[int, ...]) -> bool:
        return len(support) == len(self.candidates)  # quickly: there may be many

    def best(self, fit: Fit, support: Sequence[int], threshold: float) -> tuple[int, float]:
        outside = np.ones(len(self.candidates), dtype=bool)
        outside[list(support)] = False
        places = np.flatnonzero(outside)
        upper, guess = self._way.prospects(fit)
        most = self.scaled_gains(fit, places, upper[places])
        if upper is guess:
            best, gain = first_within_tie(places, -most)
            return best, -gain
        possible = most >= threshold - TIE
        places, most, guess = places[possible], most[possible], guess[places[possible]]
        bar, order = self._closer(fit, places, most, best_first(guess, LOOK), threshold)
        order = order[best_first(guess[order], FIRST)]
        gains = np.full(len(places), -np.inf)
        size = FIRST
        while len(order):
            now, order = order[:size], order[size:]

            def scale(raw: Array, which: Numbers, now: Numbers = now) -> Array:
                return self.scaled_gains(fit, places[now[which]], raw)

            judge = Judge(scale, bar - TIE)
            gains[now] = scale(self._way.gains(fit, places[now], judge), np.arange(len(now)))
            bar = max(bar, float(gains.max()))
            order = order[most[order] >= bar - TIE]
            order = order[np.argsort(-guess[order], kind="stable")]
            size = self._way.batch
        if not len(places):
            return 0, 0.0
        place, gain = first_within_tie(places, -gains)
        return place, -gain if self._way.apart else self._alone(fit, place)

    def _alone(self, fit: Fit, place: int) -> float:
        """The gain of one candidate, whose last digit does not depend on who else was evaluated."""
        one = np.array([place])
        never = Judge(lambda raw, which: raw, -np.inf)
        return float(self.scaled_gains(fit, one, self._way.gains(fit, one, never))[0])

    def _closer(
        self, fit: Fit, places: Numbers, most: Array, order: Numbers, bar: float
    ) -> tuple[float, Numbers]:
        """What must be beaten, and who may, after a closer look where that is cheap.

        The first few in the order show how much there is to beat; `most` is lowered.
        """
        for part in (order[:LOOK], order[LOOK:]):
            now = part[most[part] >= bar - TIE]
            closer = self._way.sharpen(fit, places[now])
            if closer is None:
                return bar, order
            least, upper = (self.scaled_gains(fit, places[now], raw) for raw in closer)
            most[now] = np.minimum(most[now], upper)
            bar = max(bar, float(least.max(initial=0.0)))
        return bar, order[most[order] >= bar - TIE]

    def cheapest(self, fit: Fit, free: Sequence[int], limit: float) -> tuple[int, float]:
        places = np.array(free, dtype=np.intp)
        least = self.scaled_costs(fit, places, self._way.least_costs(fit, places))
        near = places[least <= limit + TIE]
        if not len(near):
            return int(free[0]), np.inf
        costs = self.scaled_costs(fit, near, self._way.costs(fit, near))
        return first_within_tie(near, costs)

    def _for_one_parameter(self, variables: Variables, values: Array) -> Array:
        """Quickly: there may be many variables."""
        if not self.standardise:
            return values
        scaled = values.copy()
        finite = np.isfinite(values)  # a bound may be infinite
        df = self._members.sizes[np.asarray(variables)][finite] * self.loss.width
        scaled[finite] = one_parameter_gain(values[finite], df, self.loss.n)
        return scaled


def best_first(values: Array, count: int) -> Numbers:
    """Positions of the largest values, in their order; then all others, in any."""
    if len(values) <= count:
        return np.argsort(-values, kind="stable")
    order = np.argpartition(-values, count)
    order[:count] = order[:count][np.argsort(-values[order[:count]], kind="stable")]
    return order
