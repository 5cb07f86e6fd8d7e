"""Does the pairwise form hold, or does a third column change the association of two others?

A pairwise model says that the log odds between two columns are the same whatever a third one is.
The conditional probabilities of each column, fitted by the sum of its neighbours' tables, are
compared with the saturated table over its neighbours: as a whole (how much log-likelihood is left
there), and pair by pair of neighbours, by Rao's score test of the one interaction left out (Rao,
"Large sample tests of statistical hypotheses concerning several parameters", 1948), which needs
no further fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, softmax, xlogy

from isinglass.estimators.adjusting import refuse_adjusted
from isinglass.estimators.base import GraphEstimator
from isinglass.estimators.filled import refuse_filled
from isinglass.frames import by_column, frame
from isinglass.losses.families import softmax_terms
from isinglass.losses.forms import zero_sum_basis
from isinglass.losses.linear import RIDGE, predictor_objective
from isinglass.losses.newton import minimise
from isinglass.model.fit.conditionals import cells_of
from isinglass.model.fit.layout import Pair
from isinglass.parameters import checked
from isinglass.table import Table
from isinglass.wording import counted

Array = NDArray[np.float64]
Result = tuple[float, int]
"""A statistic and its degrees of freedom."""


@dataclass(frozen=True)
class Interaction:
    """One test: does the effect of one neighbour on a column depend on another neighbour?"""

    column: str  #: the column whose conditional probabilities were examined
    neighbours: tuple[str, str]
    statistic: float  #: a chi-square under the pairwise form
    df: int
    p_value: float  #: of this test alone
    adjusted: float  #: for all tests together, by Holm's rule

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
    """What a column's saturated table over its neighbours gains on the pairwise one."""

    column: str
    gain: float  #: log-likelihood per row
    by_chance: float  #: what it would gain on average if the pairwise form held and rows were many


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
        """The interactions that are significant at the level, each three columns once."""
        found: dict[frozenset[str], Interaction] = {}
        for each in self.interactions:
            if each.adjusted <= self.level:
                found.setdefault(frozenset({each.column, *each.neighbours}), each)
        return list(found.values())

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """One row per test."""
        names = ("column", "first", "second", "statistic", "df", "p_value", "adjusted")
        rows = (
            (each.column, *each.neighbours, each.statistic, each.df, each.p_value, each.adjusted)
            for each in self.interactions
        )
        return frame(by_column(names, rows), library or self.library)

    def __repr__(self) -> str:
        return (
            f"PairwiseCheck({len(self.interactions)} tests, "
            f"{counted(len(self.missed), 'interaction')} missed at level {self.level:g})"
        )


@checked
def check_pairwise(
    estimator: GraphEstimator, *, level: float = 0.05, beyond: bool = False
) -> PairwiseCheck:
    """Test whether a third column changes the association of two others.

    Parameters
    ----------
    estimator : GreedyGraph or another, fitted
    level : float
        The probability, for all tests together, of naming an interaction although the pairwise form
        holds; as far as the chi-square approximation is right, see ``docs/errors.md``.
    beyond : bool
        Also look at pairs of columns outside a column's neighbours: about p^3 / 2 fits. An
        interaction that leaves no trace in any pair (a pure XOR) shows only here.

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
    refuse_filled(estimator, "check_pairwise")
    refuse_adjusted(estimator, "check_pairwise")
    table, names = estimator.table_, estimator.table_.names
    varying = [r for r, m in enumerate(table.n_answers) if m > 1]
    linked = estimator.graph_.neighbourhoods
    near = {r: [t for t in linked[r] if t in varying] for r in varying}
    pairs = {
        r: list(combinations([v for v in varying if v != r] if beyond else near[r], 2))
        for r in varying
    }
    clear = level / max(sum(map(len, pairs.values())), 1)
    explained = partial(Explained, table, intercept=bool(getattr(estimator, "intercept", True)))
    tests = {
        (r, *pair): result
        for r in varying
        for pair, result in _tests(partial(explained, r), near[r], pairs[r], clear).items()
    }
    return PairwiseCheck(
        _adjusted(names, {three: result for three, result in tests.items() if result is not None}),
        tuple(
            SaturatedGap(names[r], *explained(r, others).saturated_gain())
            for r, others in near.items()
            if len(others) > 1
        ),
        tuple(
            (names[r], names[s], names[t]) for (r, s, t), result in tests.items() if result is None
        ),
        float(level),
        table.library,
    )


def _tests(
    explained: Callable[..., Explained], near: Sequence[int], pairs: Sequence[Pair], clear: float
) -> dict[Pair, Result | None]:
    """The test of each pair of columns at one column; None where rows are too few for it.

    A clearly significant interaction is added before the others are tested. Otherwise it would
    be named several times: without it, a column that is linked to one of the three seems to
    have a part in it.
    """
    others, known = list(near), list[Pair]()
    done: dict[Pair, Result | None] = {}
    while len(done) < len(pairs):
        looks: dict[tuple[int, ...], Explained] = {}
        results = {}
        for pair in pairs:
            if pair not in done:
                extra = tuple(v for v in pair if v not in others)  # put in for this test
                if extra not in looks:
                    looks[extra] = explained([*others, *extra], known=known)
                results[pair] = looks[extra].interaction(*pair)
        p_values = {pair: _p_value(*result) for pair, result in results.items() if result}
        strongest = min(p_values, key=lambda pair: p_values[pair], default=None)
        if strongest is None or p_values[strongest] > clear:
            return done | results
        done[strongest] = results[strongest]
        others += [v for v in strongest if v not in others]
        known.append(strongest)
    return done


def _p_value(statistic: float, df: int) -> float:
    return float(chdtrc(df, statistic))


def _adjusted(
    names: Sequence[str], found: Mapping[tuple[int, int, int], Result]
) -> tuple[Interaction, ...]:
    """All tests with Holm's adjusted p-values, the smallest first."""
    p_values = {three: _p_value(*result) for three, result in found.items()}
    worst, tests = 0.0, []
    for rank, (r, s, t) in enumerate(sorted(found, key=lambda three: p_values[three])):
        p_value = p_values[r, s, t]
        worst = max(worst, min(1.0, (len(found) - rank) * p_value))
        neighbours = names[s], names[t]
        tests.append(Interaction(names[r], neighbours, *found[r, s, t], p_value, worst))
    return tuple(tests)


class Explained:
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
        self.others = list(others)
        n_states = np.array([table.n_answers[v] for v in (r, *others)])
        codes = table.codes[:, [r, *others]]
        seen = np.all(codes < n_states, axis=1)
        codes, m = codes[seen], int(n_states[0])
        cell, self.cells = cells_of(codes[:, 1:], n_states[1:].tolist())
        counts = np.bincount(cell * m + codes[:, 0], table.weights[seen], len(self.cells) * m)
        self.counts = np.asarray(counts.reshape(-1, m), dtype=np.float64)
        self.bases = {t: zero_sum_basis(table.n_answers[t]) for t in others}
        self.basis = zero_sum_basis(table.n_answers[r])
        parts = [np.ones((len(self.cells), int(intercept)))]
        parts += [self.contrasts(t) for t in others]
        parts += [self.products(*pair) for pair in known]
        self.design = np.hstack(parts)
        self.scores = self._fitted()
        self.probabilities = softmax(self.scores, axis=1)

    def contrasts(self, t: int) -> Array:
        """What each cell says of one neighbour."""
        return np.asarray(self.bases[t][self.cells[:, self.others.index(t)]])

    def products(self, s: int, t: int) -> Array:
        """What each cell says of two neighbours together, beyond each alone."""
        left, right = self.contrasts(s), self.contrasts(t)
        return (left[:, :, None] * right[:, None, :]).reshape(len(self.cells), -1)

    def _fitted(self) -> Array:
        (n, k), q, basis = self.design.shape, self.basis.shape[1], self.basis

        def terms(eta: Array) -> tuple[float, Array, Array]:
            value, slope, curvature = softmax_terms(eta @ basis.T, self.counts / self.counts.sum())
            return float(value.sum()), slope @ basis, basis.T @ curvature @ basis

        objective = predictor_objective(self.design, np.zeros((n, q)), terms, np.full(k, RIDGE))
        solution = minimise(objective, np.zeros(k * q))
        return np.asarray(self.design @ solution.reshape(-1, q) @ basis.T)

    @property
    def expected(self) -> Array:
        """Rows of each cell and state, as the pairwise form has them."""
        return np.asarray(self.counts.sum(axis=1, keepdims=True) * self.probabilities)

    def saturated_gain(self) -> tuple[float, float]:
        """What the saturated table gains per row, and what it would gain by chance."""
        seen = self.counts > 0
        shares = self.counts / self.counts.sum(axis=1, keepdims=True)
        gained = xlogy(self.counts, shares)[seen] - xlogy(self.counts, self.probabilities)[seen]
        free = (len(self.cells) - self.design.shape[1]) * self.basis.shape[1]
        rows = float(self.counts.sum())
        return float(gained.sum()) / rows, max(free, 0) / (2 * rows)

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
        weights = self.basis.T @ softmax_terms(self.scores, self.counts)[2] @ self.basis
        blocks = np.einsum("ck,cab,cl->kalb", design, weights, design, optimize=True)
        size = design.shape[1] * self.basis.shape[1]
        return np.asarray(blocks.reshape(size, size))

    def _enough(self, s: int, t: int) -> bool:
        at = tuple(self.cells[:, self.others.index(v)] for v in (s, t))
        expected = np.zeros((len(self.bases[s]), len(self.bases[t]), len(self.basis)))
        np.add.at(expected, at, self.expected)
        return bool(expected.min() >= 1.0 and np.mean(expected < 5.0) <= 0.2)
