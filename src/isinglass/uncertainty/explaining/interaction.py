"""One column explained by others, and what two of them say together beyond each alone.

The test is Rao's score test of the one interaction that is left out ("Large sample tests of
statistical hypotheses concerning several parameters", 1948): it needs no further fit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from isinglass.losses.contrasts import zero_sum_basis
from isinglass.losses.families import softmax_terms
from isinglass.losses.linear import RIDGE, predictor_objective
from isinglass.losses.newton import minimise
from isinglass.model.fit.conditionals import cells_of
from isinglass.model.fit.layout import Pair
from isinglass.table import Table

Array = NDArray[np.float64]


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
        self.counts = counts.reshape(-1, m)
        self.bases = {t: zero_sum_basis(table.n_answers[t]) for t in others}
        self.basis = zero_sum_basis(table.n_answers[r])
        parts = [np.ones((len(self.cells), int(intercept)))]
        parts += [self.contrasts(t) for t in others]
        parts += [self.products(*pair) for pair in known]
        self.design = np.hstack(parts)
        self.probabilities = self._fitted()

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
            value, slope, curvature = softmax_terms(eta @ basis.T, self.counts / self.rows)
            return float(value.sum()), slope @ basis, basis.T @ curvature @ basis

        objective = predictor_objective(self.design, np.zeros((n, q)), terms, np.full(k, RIDGE))
        solution = minimise(objective, np.zeros(k * q))
        scores = self.design @ solution.reshape(-1, q) @ self.basis.T
        probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True))

    @property
    def rows(self) -> float:
        return float(self.counts.sum())

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
        return float(gained.sum()) / self.rows, max(free, 0) / (2 * self.rows)

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
        spread = np.einsum("cs,st->cst", self.probabilities, np.eye(len(self.basis)))
        spread -= np.einsum("cs,ct->cst", self.probabilities, self.probabilities)
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
