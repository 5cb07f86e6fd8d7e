"""How much the rows say of each pair where cells are filled by draws: information, not copies.

Let u be what a row says of a link (its score in the conditional of one end), I the information that the
filled tables would have, were they seen. Only the mean of u over the draws of a row is known from
what is seen; with B the sum of its squares,

- the gain of a pair that the drawing model does not link is about B / I times a chi-square: draws
  without the link dilute it;
- the cost of a link of the drawing model is about I B / A^2 times a chi-square, A = I - C, C being the
  covariance of u with what the model draws by, over the draws of a row (Louis, "Finding the observed
  information matrix when using the EM algorithm", 1982): draws with the link repeat it.

B has the noise of finitely many draws in it, since it is found from their means. See docs/missing.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.forms import zero_sum_basis
from isinglass.model import MarkovField
from isinglass.table import Table

Array = NDArray[np.float64]

#: The least share of the information that an estimate may leave: less is noise.
LEAST = 0.02


@dataclass(frozen=True, eq=False)
class Information:
    """What the gains of pairs on a stack have to be divided by, and what was lost.

    Attributes
    ----------
    scales : (p, p) array
        How many times a chi-square the gain of a pair without effect is, the mean of both ends.
    lost : (p, p) array
        The share of information about each pair that is missing with the values, the mean of both
        ends.
    """

    scales: Array
    lost: Array


def information_of(filled: Table, draws: int, field: MarkovField) -> Information:
    """Find the information about every pair, given the model that filled the table."""
    stack = Stack(filled, draws, field)
    scales = stack.unlinked()
    lost = 1.0 - scales
    for r in range(len(filled.columns)):
        if field.n_states[r] > 1:
            for t, scale in stack.linked(r).items():
                scales[r, t] = scale
                lost[r, t] = 1.0 - 1.0 / max(scale, 1.0)
    return Information((scales + scales.T) / 2.0, np.clip((lost + lost.T) / 2.0, 0.0, 1.0))


class Stack:
    """A stack of filled tables, row by row and draw by draw."""

    def __init__(self, filled: Table, draws: int, field: MarkovField) -> None:
        self.draws, self.field, self.states = draws, field, filled.n_states
        self.rows = len(filled.codes) // draws
        self.weights = filled.weights[: self.rows] * draws
        # (draws, rows) of each column.
        self.codes = [column.reshape(draws, self.rows) for column in filled.codes.T]
        self.bases = [zero_sum_basis(m) for m in self.states]
        self.shares = [
            np.bincount(column.ravel(), filled.weights, m) / filled.n
            for column, m in zip(self.codes, self.states, strict=True)
        ]

    def residual(self, r: int) -> tuple[Array, Array]:
        """What a column is, less its probabilities given its neighbours; and these: (d, n, m)."""
        scores = np.broadcast_to(self.field.intercepts[r], (*self.codes[r].shape, self.states[r]))
        scores = scores.copy()
        for t, table in self.field.tables_of(r).items():
            scores += table[self.codes[t]]
        scores -= scores.max(axis=2, keepdims=True)
        probability = np.exp(scores, out=scores)
        probability /= probability.sum(axis=2, keepdims=True)
        return np.eye(self.states[r])[self.codes[r]] - probability, probability

    def unlinked(self) -> Array:
        """B / I of all pairs, as if the two columns of a row were drawn independently."""
        p = len(self.states)
        known, whole = np.zeros((2, 2, p, self.rows))  # the residual's, then the column's own
        for r, m in enumerate(self.states):
            if m == 1:
                continue
            own = np.eye(m)[self.codes[r]] - self.shares[r]
            for at, vectors in enumerate((self.residual(r)[0], own)):
                known[at, r] = (vectors.mean(axis=0) ** 2 / self.shares[r]).sum(axis=1)
                whole[at, r] = ((vectors**2).mean(axis=0) / self.shares[r]).sum(axis=1)
        both = (known[0] * self.weights) @ known[1].T
        all_ = (whole[0] * self.weights) @ whole[1].T
        scales = np.ones((p, p))
        np.divide(both, all_, out=scales, where=all_ > 0)
        return np.clip(scales, LEAST, 1.0)

    def linked(self, r: int) -> dict[int, float]:
        """I B / A^2 of the neighbours of a column in the drawing model."""
        neighbours = [t for t in self.field.tables_of(r) if self.states[t] > 1]
        if not neighbours:
            return {}
        residual, probability = self.residual(r)
        features = self._features(neighbours)
        own = self.bases[r]
        score = _by_feature(residual @ own, features)
        drawn = _by_feature(own[self.codes[r]], features)
        weights, k = self.weights[:, None], score.shape[2]
        mean, of_drawn = score.mean(axis=0), drawn.mean(axis=0)
        squares = (mean * weights).T @ mean
        flat = (score * weights).reshape(-1, k)
        moved = flat.T @ drawn.reshape(-1, k) - self.draws * (mean * weights).T @ of_drawn
        moved /= max(self.draws - 1, 1)
        whole = self._curvature(probability @ own, probability, own, features)
        return _scales(whole, squares, moved, self._blocks(r, neighbours))

    def _features(self, neighbours: Sequence[int]) -> Array:
        """One, and the contrasts of the neighbours: (d, n, k)."""
        parts = [self.bases[t][self.codes[t]] for t in neighbours]
        return np.concatenate([np.ones((*self.codes[0].shape, 1)), *parts], axis=2)

    def _curvature(self, mean: Array, probability: Array, own: Array, features: Array) -> Array:
        """The information of the stack, parameters by parameters."""
        q, k = own.shape[1], features.shape[2]
        weights = self.weights / self.draws
        whole = np.empty((k, q, k, q))
        for a in range(q):
            for b in range(q):
                spread = probability @ (own[:, a] * own[:, b]) - mean[..., a] * mean[..., b]
                flat = (features * (spread * weights)[..., None]).reshape(-1, k)
                whole[:, a, :, b] = flat.T @ features.reshape(-1, k)
        return whole.reshape(k * q, k * q)

    def _blocks(self, r: int, neighbours: Sequence[int]) -> dict[int, slice]:
        """Where the parameters of each neighbour stand."""
        q, begin = self.states[r] - 1, self.states[r] - 1
        blocks = {}
        for t in neighbours:
            length = (self.states[t] - 1) * q
            blocks[t] = slice(begin, begin + length)
            begin += length
        return blocks


def _by_feature(own: Array, features: Array) -> Array:
    """Products of a column's contrasts with features: (d, n, features x contrasts)."""
    products = features[..., :, None] * own[..., None, :]
    return products.reshape(*products.shape[:2], -1)


def _scales(
    whole: Array, squares: Array, moved: Array, blocks: dict[int, slice]
) -> dict[int, float]:
    """The mean of what each block's squared estimates are on the scale of the stack."""
    values, vectors = np.linalg.eigh(whole)
    kept = values > 1e-9 * values.max(initial=1e-300)
    root = vectors[:, kept] / np.sqrt(values[kept])  # whitens the stack's information
    left = np.eye(kept.sum()) - root.T @ moved @ root
    values, vectors = np.linalg.eigh((left + left.T) / 2.0)
    inverse = (vectors / np.maximum(values, LEAST)) @ vectors.T
    spread = inverse @ (root.T @ squares @ root) @ inverse
    scales = {}
    for t, block in blocks.items():
        part = root[block]  # estimates of the block from whitened ones
        as_seen, as_drawn = part @ spread @ part.T, part @ part.T
        ratio = np.linalg.pinv(as_drawn, hermitian=True) @ as_seen
        scales[t] = float(np.trace(ratio)) / max(np.linalg.matrix_rank(as_drawn, hermitian=True), 1)
    return scales
