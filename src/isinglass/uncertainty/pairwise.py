"""Does the pairwise form hold, or does a third column change how two others go together?

A pairwise model says that the log odds between two columns are the same whatever a third one is.
Each column's conditional chances, fitted by its neighbours' tables added up, are compared with
the saturated table over its neighbours: as a whole (how much log-likelihood is left there), and
pair by pair of neighbours, by Rao's score test of the one interaction that is left out (Rao,
"Large sample tests of statistical hypotheses concerning several parameters", 1948).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, xlogy

from isinglass.estimators.base import GraphEstimator
from isinglass.frames import frame
from isinglass.losses.contrasts import zero_sum_basis
from isinglass.losses.linear import RIDGE
from isinglass.losses.newton import minimise
from isinglass.model.layout import Pair
from isinglass.model.pseudolikelihood import Conditional, cells_of
from isinglass.model.settings import check_between
from isinglass.table import Table

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Interaction:
    """One test: does the effect of one neighbour on a column depend on another neighbour?

    Attributes
    ----------
    column : str
        The column whose chances were looked at.
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
        missed = len(self.missed)
        return (
            f"PairwiseCheck({len(self.interactions)} tests, {missed} "
            f"interaction{'' if missed == 1 else 's'} missed at level {self.level:g})"
        )


def check_pairwise(
    estimator: GraphEstimator, *, level: float = 0.05, beyond: bool = False
) -> PairwiseCheck:
    """Test whether a third column changes how two others go together.

    Parameters
    ----------
    estimator : GreedyGraph or another, fitted
    level : float
        The chance, for all tests together, that one is named though the pairwise form holds.
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
    check_between("level", level, 0.0, 1.0)
    table, graph = estimator._table, estimator.graph_
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
        return _Look(self.table, self.r, self.near, self.intercept).gap()

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
        looks: dict[tuple[int, ...], _Look] = {}
        results = {}
        for pair in pairs:
            extra = tuple(v for v in pair if v not in others)
            if extra not in looks:
                columns = [*others, *extra]
                looks[extra] = _Look(self.table, self.r, columns, self.intercept, known)
            results[pair] = looks[extra].interaction(*pair)
        return results

    def _keep(self, results: Mapping[Pair, tuple[float, int] | None]) -> None:
        for pair, result in results.items():
            if result is None:
                self.untested.append(pair)
            else:
                self.tests.append((self.r, pair, *result))


class _Look:
    """One column explained by others, each with a table of its own, added up.

    Interactions that are known already are added as well.
    """

    def __init__(
        self,
        table: Table,
        r: int,
        others: Sequence[int],
        intercept: bool,
        known: Sequence[Pair] = (),
    ) -> None:
        self.names, self.r, self.others = table.names, r, list(others)
        n_states = np.array([table.n_answers[v] for v in (r, *others)])
        codes = table.codes[:, [r, *others]]
        seen = np.all(codes < n_states, axis=1)
        self.cells, self.counts = cells_of(codes[seen], table.weights[seen], n_states.tolist())
        self.bases = {t: zero_sum_basis(table.n_answers[t]) for t in others}
        self.basis = zero_sum_basis(table.n_answers[r])
        parts = [np.ones((len(self.cells), int(intercept)))]
        parts += [self.contrasts(t) for t in others]
        parts += [self.products(*pair) for pair in known]
        self.design = np.hstack(parts)
        self.chances = self._fitted()

    def contrasts(self, t: int) -> Array:
        """What each cell says of one neighbour."""
        return self.bases[t][self.cells[:, self.others.index(t)]]

    def products(self, s: int, t: int) -> Array:
        """What each cell says of two neighbours together, beyond each alone."""
        left, right = self.contrasts(s), self.contrasts(t)
        return (left[:, :, None] * right[:, None, :]).reshape(len(self.cells), -1)

    def _fitted(self) -> Array:
        q = self.basis.shape[1]
        places = np.arange(self.design.shape[1] * q).reshape(-1, q)
        conditional = Conditional(self.design, self.counts / self.rows, places, self.basis)

        def objective(x: Array) -> tuple[float, Array, Array]:
            value, gradient, hessian = conditional.with_hessian(x)
            value += 0.5 * RIDGE * float(x @ x)
            return value, gradient + RIDGE * x, hessian + RIDGE * np.eye(len(x))

        solution = minimise(objective, np.zeros(places.size))
        scores = self.design @ solution.reshape(-1, q) @ self.basis.T
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))

    @property
    def rows(self) -> float:
        return float(self.counts.sum())

    @property
    def expected(self) -> Array:
        """Rows of each cell and state, as the pairwise form has them."""
        return np.asarray(self.counts.sum(axis=1, keepdims=True) * self.chances)

    def gap(self) -> SaturatedGap:
        seen = self.counts > 0
        shares = self.counts / self.counts.sum(axis=1, keepdims=True)
        gained = xlogy(self.counts, shares)[seen] - xlogy(self.counts, self.chances)[seen]
        free = (len(self.cells) - self.design.shape[1]) * self.basis.shape[1]
        return SaturatedGap(
            self.names[self.r], float(gained.sum()) / self.rows, max(free, 0) / (2 * self.rows)
        )

    def interaction(self, s: int, t: int) -> tuple[float, int] | None:
        """The score statistic of the interaction of two neighbours, and its degrees of freedom.

        None where a chi-square would be a poor guide: an expected number of rows below 1 in
        some combination of the three columns' states, or below 5 in a fifth of them (Cochran).
        """
        if not self._enough(s, t):
            return None
        extra = self.products(s, t)
        slope = (extra.T @ ((self.counts - self.expected) @ self.basis)).ravel()
        both = np.hstack([self.design, extra])
        information = self._information(both)
        at = self.design.shape[1] * self.basis.shape[1]
        nuisance, across = information[:at, :at], information[:at, at:]
        free = information[at:, at:] - across.T @ np.linalg.pinv(nuisance, hermitian=True) @ across
        values, vectors = np.linalg.eigh(free)
        kept = values > 1e-8 * max(float(np.trace(information)), 1e-300)
        if not kept.any():
            return None
        along = vectors[:, kept].T @ slope
        return float(np.sum(along**2 / values[kept])), int(kept.sum())

    def _information(self, design: Array) -> Array:
        """Fisher's information of all coefficients of a design."""
        spread = np.einsum("cs,st->cst", self.chances, np.eye(len(self.basis)))
        spread -= np.einsum("cs,ct->cst", self.chances, self.chances)
        rows = self.counts.sum(axis=1)
        weights = np.einsum("sa,cst,tb->cab", self.basis, spread, self.basis) * rows[:, None, None]
        blocks = np.einsum("ck,cab,cl->kalb", design, weights, design, optimize=True)
        size = design.shape[1] * self.basis.shape[1]
        return np.asarray(blocks.reshape(size, size))

    def _enough(self, s: int, t: int) -> bool:
        at_s, at_t = (self.cells[:, self.others.index(v)] for v in (s, t))
        shape = (len(self.bases[s]), len(self.bases[t]), len(self.basis))
        expected = np.zeros(shape)
        np.add.at(expected, (at_s, at_t), self.expected)
        return bool(expected.min() >= 1.0 and np.mean(expected < 5.0) <= 0.2)


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
