"""Drawn rows that depend on each other as those of a table in clusters do.

A drawn table has the clusters of the table. Each has a row of its own, drawn from the model, and
every row of the cluster is that one with a certain probability, else a new one. So each row for
itself is drawn from the model, whose links stay as they are, and what two rows of a cluster say
about any pair of columns is correlated with the square of that probability: the mean over pairs of
columns of what is seen in the table, one number for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from isinglass.experiments.plan import Codes
from isinglass.model import MarkovField
from isinglass.table import Table
from isinglass.uncertainty.simulation.denser import DenserModel, Pair

Array = NDArray[np.float64]

#: Pairs of columns that the correlation is averaged over, at most.
PAIRS = 300


@dataclass(frozen=True, eq=False)
class ClusteredModel:
    """A model whose tables have clusters; `repeated` is the probability of the cluster's own row.

    >>> import isinglass as ig
    >>> model = DenserModel(ig.simulate.ising(ig.simulate.chain(3)), {})
    >>> codes, _ = ClusteredModel(model, np.array([0, 0, 1, 1]), 1.0).sample(4, seed=0)
    >>> bool((codes[0] == codes[1]).all() and (codes[2] == codes[3]).all())
    True
    """

    model: DenserModel
    clusters: NDArray[np.intp]
    repeated: float

    def sample(self, rows: int, seed: int) -> tuple[Codes, list[Pair]]:
        """Draw a table of codes, and the links it was drawn with."""
        own = int(self.clusters.max()) + 1
        codes, links = self.model.sample(rows + own, seed)
        rng = np.random.default_rng(np.random.SeedSequence(seed).generate_state(3)[2])
        repeats = rng.random(rows) < self.repeated
        return codes[np.where(repeats, rows + self.clusters, np.arange(rows))], links


def clustered_model(model: DenserModel, table: Table, copies: NDArray[np.intp]) -> ClusteredModel:
    """The model with the clusters of a table, each row of which is drawn as often as `copies` say.

    Weights that are not copies are sampling weights.
    """
    assert table.clusters is not None
    correlation = within_clusters(table, model.field, sampling=bool((copies == 1).all()))
    clusters = np.repeat(table.clusters, copies)
    return ClusteredModel(model, clusters, float(np.sqrt(np.clip(correlation, 0.0, 1.0))))


def within_clusters(table: Table, field: MarkovField, *, sampling: bool = False) -> float:
    """How what two rows of a cluster say about pairs of columns is correlated: a mean over pairs.

    What a row says about a pair is the product of the two residuals. Rows of weight w are w rows of
    their cluster, unless weights are `sampling` weights.
    """
    assert table.clusters is not None
    weights, residuals = table.weights, residuals_of(table, field)
    every = list(combinations([r for r, m in enumerate(table.n_answers) if m > 1], 2))
    if len(every) > PAIRS:
        chosen = np.random.default_rng(0).choice(len(every), PAIRS, replace=False)
        every = [every[at] for at in chosen]
    alone = np.square(weights) if sampling else weights
    between = np.square(np.bincount(table.clusters, weights)).sum() - alone.sum()
    found = []
    for r, t in every:
        said = np.einsum("ia,ib->iab", residuals[r], residuals[t]).reshape(len(weights), -1)
        size = np.square(said).sum(axis=1)
        if not weights @ size > 0:
            continue
        sums = (np.bincount(table.clusters, weights * column) for column in said.T)
        together = sum(float(np.square(each).sum()) for each in sums) - alone @ size
        found.append(together / (weights @ size / weights.sum()))
    return float(np.mean(found) / between) if found and between > 0 else 0.0


def residuals_of(table: Table, field: MarkovField) -> list[Array]:
    """What each column is, less its probabilities given its neighbours: rows by states.

    Zero where the column or a neighbour is missing.
    """
    last = np.array(table.n_answers) - 1
    seen, codes = table.codes <= last, np.minimum(table.codes, last).astype(np.intp)
    residuals = []
    for r, intercepts in enumerate(field.intercepts):
        scores, counts = np.tile(intercepts, (len(codes), 1)), seen[:, r].copy()
        for (i, j), effects in field.couplings.items():
            if r in (i, j):
                other = j if r == i else i
                scores += (effects if r == i else effects.T)[:, codes[:, other]].T
                counts &= seen[:, other]
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        own = np.eye(scores.shape[1])[codes[:, r]] - scores / scores.sum(axis=1, keepdims=True)
        residuals.append(own * counts[:, None])
    return residuals
