"""Does the pairwise form hold, or does a third column change how two others go together?

A pairwise model says that the log odds between two columns are the same whatever a third one is.
The conditional probabilities of each column, fitted by the sum of its neighbours' tables, are
compared with the saturated table over its neighbours: as a whole (how much log-likelihood is left
there), and pair by pair of neighbours, by Rao's score test of the one interaction left out (Rao,
"Large sample tests of statistical hypotheses concerning several parameters", 1948).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from scipy.special import chdtrc

from isinglass.estimators.base import GraphEstimator
from isinglass.frames import frame
from isinglass.model.fit.layout import Pair
from isinglass.parameters import checked
from isinglass.table import Table
from isinglass.uncertainty.explaining.interaction import Explained
from isinglass.wording import counted


@dataclass(frozen=True)
class Interaction:
    """One test: does the effect of one neighbour on a column depend on another neighbour?

    Attributes
    ----------
    column : str
        The column whose conditional probabilities were examined.
    neighbours : tuple of two str
    statistic : float
        A chi-square under the pairwise form.
    df : int
    p_value : float
        Of this test alone.
    adjusted : float
        For all tests together, by Holm's rule.
    """

    column: str
    neighbours: tuple[str, str]
    statistic: float
    df: int
    p_value: float
    adjusted: float

    @property
    def sentence(self) -> str:
        """What a small p-value says."""
        a, b = self.neighbours
        p = f"p = {self.adjusted:.2g}" if self.adjusted > 1e-99 else "p < 1e-99"
        return (
            f"how {self.column!r} goes with {a!r} depends on {b!r}: a pairwise model misses it "
            f"({p} for all tests together)"
        )


@dataclass(frozen=True)
class SaturatedGap:
    """What a column's saturated table over its neighbours gains on the pairwise one.

    Attributes
    ----------
    column : str
    gain : float
        Log-likelihood per row.
    by_chance : float
        What it would gain on the average if the pairwise form were true and rows were many.
    """

    column: str
    gain: float
    by_chance: float


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseCheck:
    """Where the pairwise form fails; frozen.

    Attributes
    ----------
    interactions : tuple of Interaction
        All tests, the smallest p-value first.
    gaps : tuple of SaturatedGap
        One for each column with two neighbours or more.
    untested : tuple
        Columns with pairs of neighbours that had too few rows for a chi-square.
    level : float

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ig.check_pairwise(est).missed
    []
    """

    interactions: tuple[Interaction, ...]
    gaps: tuple[SaturatedGap, ...]
    untested: tuple[tuple[str, str, str], ...]
    level: float
    library: str | None = None

    @property
    def missed(self) -> list[Interaction]:
        """The interactions that stand at the level, each three columns once."""
        seen: set[frozenset[str]] = set()
        found = []
        for each in self.interactions:
            three = frozenset({each.column, *each.neighbours})
            if each.adjusted <= self.level and three not in seen:
                seen.add(three)
                found.append(each)
        return found

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """One row a test."""
        keys = ("statistic", "df", "p_value", "adjusted")
        columns: dict[str, list[Any]] = {
            "column": [each.column for each in self.interactions],
            "first": [each.neighbours[0] for each in self.interactions],
            "second": [each.neighbours[1] for each in self.interactions],
        }
        for key in keys:
            columns[key] = [getattr(each, key) for each in self.interactions]
        return frame(columns, library or self.library)

    def __repr__(self) -> str:
        return (
            f"PairwiseCheck({len(self.interactions)} tests, "
            f"{counted(len(self.missed), 'interaction')} missed at level {self.level:g})"
        )


@checked
def check_pairwise(
    estimator: GraphEstimator, *, level: float = 0.05, beyond: bool = False
) -> PairwiseCheck:
    """Test whether a third column changes how two others go together.

    Parameters
    ----------
    estimator : GreedyGraph or another, fitted
    level : float
        The probability, for all tests together, that one is named though the pairwise form holds;
        as near as a chi-square can tell, see ``docs/errors.md``.
    beyond : bool
        Also look at pairs of columns outside a column's neighbours: about p^3 / 2 fits. An
        interaction that leaves no trace in any pair (a pure XOR) shows only here.

    Returns
    -------
    PairwiseCheck

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.random((2, 2000)) < 0.3
    >>> c = np.where(rng.random(2000) < 0.9, a ^ b, a)
    >>> est = ig.GreedyGraph().fit(np.column_stack([a, b, c]))
    >>> check = ig.check_pairwise(est)
    >>> sorted([check.missed[0].column, *check.missed[0].neighbours])
    ['x0', 'x1', 'x2']
    """
    table, graph = estimator.table_, estimator.graph_
    near: list[list[int]] = [[] for _ in table.names]
    for link in graph.links:
        if min(table.n_answers[link.source], table.n_answers[link.target]) > 1:
            near[link.source].append(link.target)
            near[link.target].append(link.source)
    candidates = {
        r: _pairs(table, r, near[r], beyond) for r, m in enumerate(table.n_answers) if m > 1
    }
    clear = level / max(sum(map(len, candidates.values())), 1)
    searches = [
        _Search(table, r, near[r], bool(getattr(estimator, "intercept", True)), clear)
        for r in candidates
    ]
    for search in searches:
        search.test(candidates[search.r])
    names = table.names
    return PairwiseCheck(
        _adjusted(names, [test for search in searches for test in search.tests]),
        tuple(search.gap() for search in searches if len(search.near) > 1),
        tuple(
            (names[search.r], names[s], names[t]) for search in searches for s, t in search.untested
        ),
        float(level),
        table.library,
    )


def _pairs(table: Table, r: int, near: list[int], beyond: bool) -> list[Pair]:
    """The pairs of columns whose interaction is tested at column r."""
    varying = [v for v, m in enumerate(table.n_answers) if m > 1 and v != r]
    return list(combinations(varying if beyond else near, 2))


class _Search:
    """The tests at one column. What stands clear of chance is taken in before the others.

    Otherwise one interaction would be named several times: where it is left out, a column that
    is linked to one of the three seems to have a part in it.
    """

    def __init__(
        self, table: Table, r: int, near: list[int], intercept: bool, clear: float
    ) -> None:
        self.table, self.r, self.near = table, r, near
        self.intercept, self.clear = intercept, clear
        self.tests: list[tuple[int, Pair, float, int]] = []
        self.untested: list[Pair] = []

    def gap(self) -> SaturatedGap:
        """The saturated table over the neighbours beside the pairwise one."""
        look = Explained(self.table, self.r, self.near, self.intercept)
        return SaturatedGap(self.table.names[self.r], *look.saturated_gain())

    def test(self, pairs: list[Pair]) -> None:
        """Test interactions, the strongest first."""
        others, left = self.near, pairs
        known: list[Pair] = []
        while left:
            results = self._results(others, known, left)
            p_values = {pair: _p_value(*result) for pair, result in results.items() if result}
            strongest = min(p_values, key=lambda pair: p_values[pair], default=None)
            if strongest is None or p_values[strongest] > self.clear:
                self._keep(results)
                return
            self._keep({strongest: results[strongest]})
            others = [*others, *(v for v in strongest if v not in others)]
            known.append(strongest)
            left = [pair for pair in left if pair != strongest]

    def _results(
        self, others: list[int], known: list[Pair], pairs: list[Pair]
    ) -> dict[Pair, tuple[float, int] | None]:
        """The test of each pair; a column that is not there yet is put in for it."""
        looks: dict[tuple[int, ...], Explained] = {}
        results = {}
        for pair in pairs:
            extra = tuple(v for v in pair if v not in others)
            if extra not in looks:
                columns = [*others, *extra]
                looks[extra] = Explained(self.table, self.r, columns, self.intercept, known)
            results[pair] = looks[extra].interaction(*pair)
        return results

    def _keep(self, results: Mapping[Pair, tuple[float, int] | None]) -> None:
        for pair, result in results.items():
            if result is None:
                self.untested.append(pair)
            else:
                self.tests.append((self.r, pair, *result))


def _p_value(statistic: float, df: int) -> float:
    return float(chdtrc(df, statistic))


def _adjusted(
    names: tuple[str, ...], found: list[tuple[int, Pair, float, int]]
) -> tuple[Interaction, ...]:
    """All tests with Holm's adjusted p-values, the smallest first."""
    p_values = [_p_value(statistic, df) for _, _, statistic, df in found]
    order = sorted(range(len(found)), key=lambda at: p_values[at])
    worst, tests = 0.0, []
    for rank, at in enumerate(order):
        r, (s, t), statistic, df = found[at]
        worst = max(worst, min(1.0, (len(found) - rank) * p_values[at]))
        tests.append(
            Interaction(names[r], (names[s], names[t]), statistic, df, p_values[at], worst)
        )
    return tuple(tests)
