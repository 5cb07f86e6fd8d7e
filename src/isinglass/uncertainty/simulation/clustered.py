"""Drawn rows that depend on each other as those of a table in clusters do.

Rows are drawn from the model one by one. Then every column is drawn once more given the others, by
the inverse of its distribution function: a share of the rows use one random number for their whole
cluster, all others use their own. Each single row is still a draw from the model, with the same
links; but within clusters the rows are as similar in a column as those of the table, and in two
columns by the product of both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.experiments.plan import Codes
from isinglass.model import MarkovField
from isinglass.table import Table
from isinglass.uncertainty.simulation.denser import METHOD, DenserModel, Pair

Array = NDArray[np.float64]

#: Rows, about, and rounds, with which the shares of rows that follow their cluster are found.
TRIAL, ROUNDS = 20_000, 6


@dataclass(frozen=True, eq=False)
class ClusteredModel:
    """A model whose tables have clusters, and the share of rows that follow theirs, by column.

    >>> import isinglass as ig
    >>> model = DenserModel(ig.simulate.ising(ig.simulate.chain(3)), {})
    >>> codes, _ = ClusteredModel(model, np.array([0, 0, 1, 1]), np.ones(3)).sample(4, seed=0)
    >>> bool((codes[0] == codes[1]).all() and (codes[2] == codes[3]).all())
    True
    """

    model: DenserModel
    clusters: NDArray[np.intp]
    shares: Array

    def sample(self, rows: int, seed: int) -> tuple[Codes, list[Pair]]:
        """Draw a table of codes, and the links it was drawn with."""
        codes, links = self.model.sample(rows, seed)
        rng = np.random.default_rng(np.random.SeedSequence(seed).generate_state(3)[2])
        full = self.model.field
        tables = {pair: full.couplings[pair] for pair in links}
        field = MarkovField(full.names, full.states, full.intercepts, tables)
        return drawn_again(field, codes, self.clusters, self.shares, rng), links


def clustered_model(model: DenserModel, table: Table, copies: NDArray[np.intp]) -> ClusteredModel:
    """The model with the clusters of a table, each row of which is drawn as often as `copies` say.

    Weights that are not copies are sampling weights.
    """
    assert table.clusters is not None
    alike = within_clusters(table, model.field, sampling=bool((copies == 1).all()))
    clusters = np.repeat(table.clusters, copies)
    return ClusteredModel(model, clusters, shares_for(alike, model.field, clusters))


def shares_for(alike: Array, field: MarkovField, clusters: NDArray[np.intp]) -> Array:
    """The shares of rows that follow their cluster, with which drawn rows are so alike.

    Without links, its root: both rows must follow. A link takes some of that away, since the other
    column is drawn again too; so shares are raised until drawn rows are as alike as asked, or all
    of them follow.
    """
    wanted = np.clip(alike, 0.0, 1.0)
    count = int(clusters.max()) + 1
    times = max(TRIAL // len(clusters), 1)
    many = np.concatenate([clusters + k * count for k in range(times)])
    codes, rng = field.sample_codes(len(many), seed=0, method=METHOD), np.random.default_rng(0)
    squares, weights = wanted.copy(), np.ones(len(many))
    seen = np.ones(codes.shape, dtype=bool)
    for _ in range(ROUNDS if field.couplings else 0):
        drawn = drawn_again(field, codes, many, np.sqrt(squares), rng)
        for r, share in enumerate(squares):
            found = _likeness(_residuals(field, drawn, seen, r), weights, weights, many)
            squares[r] = min(share * np.clip(wanted[r] / max(found, 1e-3), 0.5, 2.0), 1.0)
    return np.asarray(np.sqrt(squares))


def drawn_again(
    field: MarkovField,
    codes: Codes,
    clusters: NDArray[np.intp],
    shares: Array,
    rng: np.random.Generator,
) -> Codes:
    """Every column drawn once more given the others, some rows as their cluster says."""
    codes = codes.copy()
    for r, share in enumerate(shares):
        own, common = rng.random(len(codes)), rng.random(int(clusters.max()) + 1)
        at = np.where(rng.random(len(codes)) < share, common[clusters], own)
        below = np.cumsum(conditional(field, codes, r), axis=1)[:, :-1]
        codes[:, r] = (at[:, None] >= below).sum(axis=1)
    return codes


def within_clusters(table: Table, field: MarkovField, *, sampling: bool = False) -> Array:
    """How alike two rows of a cluster are in each column: the correlation of their residuals.

    Rows of weight w are w rows of their cluster, unless weights are `sampling` weights. Columns and
    neighbours that are missing say nothing.
    """
    assert table.clusters is not None
    weights, last = table.weights, np.array(table.n_answers) - 1
    alone = np.square(weights) if sampling else weights
    seen = np.asarray(table.codes <= last, dtype=bool)
    codes: Codes = np.minimum(table.codes, last)
    return np.array(
        [
            _likeness(_residuals(field, codes, seen, r), weights, alone, table.clusters)
            for r in range(len(last))
        ]
    )


def _residuals(field: MarkovField, codes: Codes, seen: NDArray[np.bool_], r: int) -> Array:
    """What a column is, less its probabilities; NaN where it or a neighbour is missing."""
    expected = conditional(field, codes, r)
    residuals = np.eye(expected.shape[1])[codes[:, r].astype(np.intp)] - expected
    known = seen[:, [r, *_neighbours(field, r)]].all(axis=1, keepdims=True)
    return np.where(known, residuals, np.nan)


def _likeness(residuals: Array, weights: Array, alone: Array, clusters: NDArray[np.intp]) -> float:
    known = np.asarray(np.isfinite(residuals[:, 0]), dtype=bool)
    residuals, clusters = residuals[known], clusters[known]
    weights, alone = weights[known], alone[known]
    size = np.square(residuals).sum(axis=1)
    between = np.square(np.bincount(clusters, weights)).sum() - alone.sum()
    if not (between > 0 and weights @ size > 0):
        return 0.0
    sums = [np.bincount(clusters, weights * each) for each in residuals.T]
    together = float(np.square(sums).sum()) - alone @ size
    return float(together / between / (weights @ size / weights.sum()))


def conditional(field: MarkovField, codes: Codes, r: int) -> Array:
    """The probability of each state of a column given the others: rows by states."""
    scores = np.tile(field.intercepts[r], (len(codes), 1))
    for t in _neighbours(field, r):
        effects = field.couplings[r, t] if r < t else field.couplings[t, r].T
        scores += effects.T[codes[:, t].astype(np.intp)]
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def _neighbours(field: MarkovField, r: int) -> list[int]:
    return [j if i == r else i for i, j in field.couplings if r in (i, j)]
