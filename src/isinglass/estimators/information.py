"""How much rows say of each pair where cells are filled by draws: information, not copies.

Let u be the score of a row for a link, in the conditional of one end, and I the information that
the filled tables would have if they were observed. The observed cells determine only the mean of u
over the draws of a row. With B the sum of the squares of these means,

- the gain of a pair that the drawing model does not link is about B / I times a chi-square: draws
  without the link dilute it;
- the cost of a link of the drawing model is about I B / A^2 times a chi-square: draws with the link
  repeat it. A = I - C, where C is the covariance, over the draws of a row, of u and the sufficient
  statistics of the drawing model (Louis, "Finding the observed information matrix when using the EM
  algorithm", 1982).

B includes the noise of finitely many draws, since it is computed from their means. See
docs/missing.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtri
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from isinglass.losses.forms import zero_sum_basis
from isinglass.model import MarkovField
from isinglass.model.adjustment import with_columns
from isinglass.model.fit.conditionals import cells_of
from isinglass.model.inference.filling import MissingCells
from isinglass.table import Table

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

#: The least share of the information that is believed to be left: less is noise.
LEAST = 0.02
#: The least share of the threshold down to which the search runs for pairs whose gain is diluted.
LEAST_KEPT = 0.1
#: Parameters of a column up to which all of them are looked at together.
MOST_PARAMETERS = 200


@dataclass(frozen=True, eq=False)
class Information:
    """What the gains of pairs on a stack have to be divided by, and what was lost.

    Attributes
    ----------
    scales : (p, p) array
        How many times a chi-square the cost of a link without effect is, if the drawing model has
        it; the mean of both ends. For other pairs, about what it would be.
    lost : (p, p) array
        The share of information about each pair that the missing values cost, likewise.
    """

    scales: Array
    lost: Array

    def kept(self, pair: tuple[int, int]) -> float:
        """What a pair that the drawing model lacks keeps of its chi-square when it is divided."""
        return float((1.0 - self.lost[pair]) / self.scales[pair])

    @property
    def least_kept(self) -> float:
        """The least that any pair keeps, within reason."""
        upper = np.triu_indices(len(self.lost), 1)
        return max(float(np.min(((1.0 - self.lost) / self.scales)[upper], initial=1.0)), LEAST_KEPT)


def information_of(
    cells: MissingCells, filled: Table, draws: int, field: MarkovField
) -> Information:
    """Find the information about every pair in a table that a model filled."""
    p, field = len(filled.columns), with_columns(field)
    conditionals = [Conditional(cells, filled, draws, field, r) for r in range(p)]
    with threadpool_limits(1, "blas"):  # to wake other threads takes longer
        left = _unlinked(conditionals)
        scales = 1.0 / left
        for r, conditional in enumerate(conditionals):
            for t, scale in conditional.linked(left[r]).items():
                if t < p:  # else it is adjusted for
                    scales[r, t] = scale
                    left[r, t] = 1.0 / max(scale, 1.0)
    left = np.clip((left + left.T) / 2.0, LEAST, 1.0)
    return Information((scales + scales.T) / 2.0, 1.0 - left)


def rough_information(cells: MissingCells) -> Information:
    """As if a pair were known in the rows in which both columns are seen, and in no other."""
    weights = cells.table.weights
    seen = weights @ ~cells.missing / weights.sum()
    left = np.maximum(np.outer(seen, seen), LEAST)
    return Information(1.0 / left, 1.0 - left)


def _unlinked(conditionals: Sequence[Conditional]) -> Array:
    """B / I of all pairs, as if the two columns of a row were drawn independently."""
    weights = conditionals[0].weights
    (known, own_known), (whole, own_whole) = (
        [np.array(rows) for rows in zip(*squares, strict=True)]
        for squares in zip(*(one.squares() for one in conditionals), strict=True)
    )
    seen, all_ = (known * weights) @ own_known.T, (whole * weights) @ own_whole.T
    scales = np.ones_like(all_)
    np.divide(seen, all_, out=scales, where=all_ > 0)
    return np.asarray(np.clip(scales, LEAST, 1.0))


class Conditional:
    """A column given its neighbours in the drawing model, by the cells that rows fall into.

    Rows in which all these columns are seen are in one cell, others in one for each draw.
    """

    def __init__(
        self, cells: MissingCells, filled: Table, draws: int, field: MarkovField, r: int
    ) -> None:
        self.r, self.draws, self.weights = r, draws, cells.table.weights
        self.states, n = filled.wide.n_states, len(cells.table.codes)
        self.tables = {t: table for t, table in field.tables_of(r).items() if self.states[t] > 1}
        self.intercept, self.n = field.intercepts[r], filled.n
        columns = [r, *self.tables]
        own = [v for v in columns if v < cells.missing.shape[1]]  # others are seen
        drawn = cells.missing[:, own].any(axis=1)
        self.seen, self.drawn = np.flatnonzero(~drawn), np.flatnonzero(drawn)
        rows = np.concatenate([self.seen, *(copy * n + self.drawn for copy in range(draws))])
        codes = np.stack([filled.wide.codes[:, v].take(rows) for v in columns], axis=1)
        self.cell, self.codes = cells_of(codes, [self.states[v] for v in columns])
        count = len(self.drawn)
        of_row = self.cell[len(self.seen) :].reshape(draws, count).T.ravel()
        parts = np.full(count * draws, 1.0 / draws), of_row, np.arange(count + 1) * draws
        self.shares = csr_array(parts, shape=(count, len(self.codes)))  # of a row's draws

    @cached_property
    def of_seen(self) -> Array:
        """The weight of each cell, of the rows that are seen."""
        cell, weights = self.cell[: len(self.seen)], self.weights[self.seen]
        return np.bincount(cell, weights, minlength=len(self.codes)).astype(np.float64)

    @cached_property
    def of_drawn(self) -> Array:
        """The weight of each cell, of the draws of the others."""
        weights = np.tile(self.weights[self.drawn] / self.draws, self.draws)
        cell = self.cell[len(self.seen) :]
        return np.bincount(cell, weights, minlength=len(self.codes)).astype(np.float64)

    @cached_property
    def counts(self) -> Array:
        """The weight of each cell."""
        return self.of_seen + self.of_drawn

    @cached_property
    def probability(self) -> Array:
        """Of the column's states, in each cell."""
        scores = np.tile(self.intercept, (len(self.codes), 1))
        for at, table in enumerate(self.tables.values()):
            scores += table[self.codes[:, at + 1]]
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    @cached_property
    def residual(self) -> Array:
        """What the column is, less its probabilities."""
        return np.asarray(np.eye(self.states[self.r])[self.codes[:, 0]] - self.probability)

    def squares(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Squared lengths, row by row: of mean residuals and of the mean column; of all of them."""
        m = self.states[self.r]
        share = np.bincount(self.codes[:, 0], self.counts, minlength=m) / self.n
        share = np.maximum(share, 1e-300)
        both = np.hstack([self.residual, np.eye(m)[self.codes[:, 0]] - share])
        lengths = _lengths(both, share)
        means = self.shares @ np.hstack([both, lengths])
        of_seen = lengths[self.cell[: len(self.seen)]]
        known, whole = (np.empty((len(self.weights), 2)) for _ in range(2))
        known[self.seen] = whole[self.seen] = of_seen
        known[self.drawn], whole[self.drawn] = _lengths(means[:, : 2 * m], share), means[:, 2 * m :]
        return (known[:, 0], known[:, 1]), (whole[:, 0], whole[:, 1])

    def linked(self, unlinked: Array) -> dict[int, float]:
        """I B / A^2 of the neighbours, all parameters of the column looked at together.

        Where these are many: the inverse of what it would be if the model lacked the link.
        """
        q = self.states[self.r] - 1
        size = q * (1 + sum(self.states[t] - 1 for t in self.tables))
        if size > MOST_PARAMETERS:
            return {t: 1.0 / unlinked[t] for t in self.tables if t < len(unlinked)}
        if not q or not self.tables:
            return {}
        own, features = zero_sum_basis(q + 1), self._features()
        score = _products(features, self.residual @ own)
        drawn = _products(features, own[self.codes[:, 0]])
        means = self.shares @ np.hstack([score, drawn])
        mean = means[:, :size]
        of_means = (mean * self.weights[self.drawn][:, None]).T @ means
        squares = (score * self.of_seen[:, None]).T @ score + of_means[:, :size]
        moved = (score * self.of_drawn[:, None]).T @ drawn - of_means[:, size:]
        moved *= self.draws / max(self.draws - 1, 1)
        return _scales(self._curvature(own, features), squares, moved, self._blocks(q))

    def _features(self) -> Array:
        """One, and the contrasts of the neighbours, cell by cell."""
        contrasts = [
            zero_sum_basis(self.states[t])[self.codes[:, at + 1]]
            for at, t in enumerate(self.tables)
        ]
        return np.column_stack([np.ones(len(self.codes)), *contrasts])

    def _curvature(self, own: Array, features: Array) -> Array:
        """The information of the stack, parameters by parameters."""
        q, k = own.shape[1], features.shape[1]
        mean = self.probability @ own
        whole = np.empty((k, q, k, q))
        for a in range(q):
            for b in range(a + 1):
                spread = self.probability @ (own[:, a] * own[:, b]) - mean[:, a] * mean[:, b]
                part = (features * (spread * self.counts)[:, None]).T @ features
                whole[:, a, :, b] = whole[:, b, :, a] = part
        return whole.reshape(k * q, k * q)

    def _blocks(self, q: int) -> dict[int, slice]:
        """Where the parameters of each neighbour stand."""
        ends = np.cumsum([q, *((self.states[t] - 1) * q for t in self.tables)]).tolist()
        return dict(zip(self.tables, map(slice, ends[:-1], ends[1:]), strict=True))


def _lengths(both: Array, share: Array) -> Array:
    """Squared lengths of two vectors side by side, in units of what shares would give."""
    lengths: Array = both**2 @ np.kron(np.eye(2), 1.0 / share[:, None])
    return lengths


def _products(features: Array, own: Array) -> Array:
    """Products of features and of a column's contrasts, cell by cell."""
    return np.asarray((features[:, :, None] * own[:, None, :]).reshape(len(own), -1))


def _scales(
    whole: Array, squares: Array, moved: Array, blocks: dict[int, slice]
) -> dict[int, float]:
    """The mean of what each block's squared estimates are on the scale of the stack."""
    root = _whitening(whole)
    left = np.eye(root.shape[1]) - root.T @ moved @ root
    inverse = _inverse((left + left.T) / 2.0)
    spread = inverse @ (root.T @ squares @ root) @ inverse
    scales = {}
    for t, block in blocks.items():
        part = root[block]  # estimates of the block from whitened ones
        own = _whitening(part @ part.T)
        scales[t] = float(np.sum(own * (part @ spread @ part.T @ own))) / max(own.shape[1], 1)
    return scales


def _inverse(form: Array) -> Array:
    """The inverse, as if no direction had less than the least share."""
    if not dpotrf(form - LEAST * np.eye(len(form)))[1]:  # none has
        return np.asarray(np.linalg.inv(form), dtype=np.float64)
    values, vectors = np.linalg.eigh(form)
    inverse: Array = (vectors / np.maximum(values, LEAST)) @ vectors.T
    return inverse


def _whitening(form: Array) -> Array:
    """R with R' form R = 1, in the directions that have a form."""
    inverse, failed = dtrtri(dpotrf(form, lower=True, clean=True)[0], lower=True)
    lengths = np.abs(np.diagonal(inverse))
    if not failed and lengths.max(initial=0.0) < 1e3 * lengths.min(initial=1e300):
        return np.asarray(inverse.T)
    values, vectors = np.linalg.eigh(form)
    kept = values > 1e-9 * values.max(initial=1e-300)
    root: Array = vectors[:, kept] / np.sqrt(values[kept])
    return root
