"""The parameters of one graph in all groups, and how they differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from isinglass.graph import Graph
from isinglass.losses.forms import zero_sum_basis
from isinglass.model.fit.layout import Pair
from isinglass.table import Table
from isinglass.uncertainty.groups.fits import GroupFit, joint_covariance
from isinglass.uncertainty.groups.result import EdgeDifference, GroupTest
from isinglass.uncertainty.groups.testing import Differences, Statistic

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SideBySide:
    """The parameters of one graph in all groups."""

    graph: Graph
    table: Table
    fits: Sequence[GroupFit]
    intercept: bool = True

    @cached_property
    def tested(self) -> list[Pair]:
        """Edges that can be compared."""
        return [pair for pair in self.graph.pairs if not self.why_untested(pair)]

    def why_untested(self, pair: Pair) -> str:
        """Why an edge cannot be compared; empty if it can."""
        reasons = (fit.why_open(pair) for fit in self.fits)
        first = next(filter(None, reasons), "")
        if not first and min(map(len, self.states(pair))) < 2:
            return "the groups share only one state of a column"
        return first

    def states(self, pair: Pair) -> tuple[list[int], list[int]]:
        """The states of both columns that all groups have."""
        one, other = (
            sorted(set.intersection(*(set(fit.kept[v].tolist()) for fit in self.fits)))
            for v in pair
        )
        answers = self.table.n_answers
        return [s for s in one if s < answers[pair[0]]], [s for s in other if s < answers[pair[1]]]

    @cached_property
    def covariance(self) -> list[list[Array]]:
        """Of the parameters of each two groups."""
        return joint_covariance(self.fits, self.graph, self.table, self.intercept)

    @cached_property
    def differences(self) -> Differences:
        """All groups but the first, less the first."""
        contrasts = [[self._free(fit, pair) for pair in self.tested] for fit in self.fits]
        sizes = [len(rows) for rows in contrasts[0]]
        if not sizes:
            return Differences(np.zeros(0), np.zeros((0, 0)), [], np.inf)
        stacked = [np.vstack(of_group) for of_group in contrasts]
        values = [of @ fit.parameters for of, fit in zip(stacked, self.fits, strict=True)]
        spread = [
            [a @ self.covariance[g][h] @ b.T for h, b in enumerate(stacked)]
            for g, a in enumerate(stacked)
        ]
        others = range(1, len(values))
        difference = np.concatenate([values[g] - values[0] for g in others])
        covariance = np.block(
            [
                [spread[g][h] - spread[g][0] - spread[0][h] + spread[0][0] for h in others]
                for g in others
            ]
        )
        return Differences(*_by_edge(difference, covariance, sizes, len(others)), self._units)

    def _free(self, fit: GroupFit, pair: Pair) -> Array:
        """What makes the free numbers of an edge of a group's parameters.

        An edge that is no whole table has fewer than its table has contrasts: those directions in
        which it can move in the first group, and, its form being the same, in all of them.
        """
        states = self.states(pair)
        directions, sizes, _ = np.linalg.svd(self.fits[0].numbers(pair, states))
        free = int(np.sum(sizes > 1e-9 * max(sizes, default=0.0)))
        return np.asarray(directions[:, :free].T @ fit.numbers(pair, states))

    @property
    def _units(self) -> float:
        """Rows, or clusters, of the smallest group."""
        return min(fit.units for fit in self.fits)

    def edge(self, pair: Pair, test: Statistic | None, adjusted: float) -> EdgeDifference:
        """The numbers of one edge."""
        numbers = [self._log_odds(fit, pair) for fit in self.fits]
        values, errors = zip(*numbers, strict=True)
        difference = error = None
        ways = [self._per_step(fit, pair) for fit in self.fits]
        if len(ways) == 2 and ways[0] is not None and ways[1] is not None and test is not None:
            one, other = (fit.parameters for fit in self.fits)
            difference = float(ways[1] @ other - ways[0] @ one)
            error = self._error_of_difference(ways[0], ways[1])
        names, tested = self.graph.names, Statistic(*[float("nan")] * 3) if test is None else test
        return EdgeDifference(
            names[pair[0]],
            names[pair[1]],
            values,
            errors,
            difference,
            error,
            tested.value,
            tested.df,
            tested.p_value,
            adjusted,
            self.why_untested(pair),
        )

    def _per_step(self, fit: GroupFit, pair: Pair) -> Array | None:
        """What makes the log odds ratio per step of a model's parameters; None without an order."""
        table = self.table
        if not all(table.ordered[v] for v in pair) or self.why_untested(pair):
            return None
        states = self.states(pair)
        slopes = []
        for v, of in zip(pair, states, strict=True):
            scores = np.asarray(table.scores[v], dtype=np.float64)[of]
            centred = scores - scores.mean()
            slopes.append(zero_sum_basis(len(of)).T @ centred / np.sum(centred**2))
        return np.asarray(np.kron(*slopes) @ fit.numbers(pair, states))

    def _log_odds(self, fit: GroupFit, pair: Pair) -> tuple[float | None, float | None]:
        along = self._per_step(fit, pair)
        if along is None:
            return None, None
        return float(along @ fit.parameters), float(np.sqrt(along @ fit.covariance @ along))

    def _error_of_difference(self, first: Array, second: Array) -> float:
        (own, across), (_, others) = self.covariance
        variance = first @ own @ first + second @ others @ second - 2 * first @ across @ second
        return math.sqrt(max(float(variance), 0.0))

    def strength(self) -> tuple[list[tuple[float, float]], GroupTest]:
        """The sum of the sizes of all couplings that are compared, in each group; and its test.

        The size of a coupling is the root mean square of its table, without what noise adds to it.
        """
        sums, slopes = [], []
        for fit in self.fits:
            total, slope = 0.0, np.zeros(len(fit.parameters))
            for pair in self.tested:
                size, own = self._size(fit, pair)
                total, slope = total + size, slope + own
            sums.append(total)
            slopes.append(slope)
        spread = np.array(
            [
                [a @ self.covariance[g][h] @ b for h, b in enumerate(slopes)]
                for g, a in enumerate(slopes)
            ]
        )
        errors = np.sqrt(np.maximum(np.diag(spread), 0.0))
        numbers = list(zip(sums, errors.tolist(), strict=True))
        contrast = np.column_stack([-np.ones(len(sums) - 1), np.eye(len(sums) - 1)])
        values, covariance = contrast @ np.array(sums), contrast @ spread @ contrast.T
        statistic = float(values @ np.linalg.pinv(covariance, hermitian=True) @ values)
        return numbers, GroupTest(statistic, len(values), float(chdtrc(len(values), statistic)))

    def _size(self, fit: GroupFit, pair: Pair) -> tuple[float, Array]:
        contrasts = self._free(fit, pair)
        numbers = contrasts @ fit.parameters
        cells = math.prod(len(of) for of in self.states(pair))
        noise = float(np.trace(contrasts @ fit.covariance @ contrasts.T))
        noise = noise if len(numbers) > 1 else 0.0  # of a single number, the sign is known
        square = float(numbers @ numbers)
        size, length = math.sqrt(max(square - noise, 0.0) / cells), math.sqrt(square * cells)
        return size, contrasts.T @ numbers / max(length, 1e-300)


def _by_edge(
    values: Array, covariance: Array, sizes: Sequence[int], others: int
) -> tuple[Array, Array, list[slice]]:
    """Differences that stood group by group, edge by edge."""
    total = sum(sizes)
    ends = np.cumsum([0, *sizes]).tolist()
    order = [
        g * total + at
        for begin, end in pairwise(ends)
        for g in range(others)
        for at in range(begin, end)
    ]
    edges = np.cumsum([0, *(size * others for size in sizes)]).tolist()
    blocks = [slice(begin, end) for begin, end in pairwise(edges)]
    return values[order], covariance[np.ix_(order, order)], blocks
