"""One graph fitted in each group: its parameters, and how they vary together.

Rows of different groups are independent, unless a cluster has rows in several groups: then the
estimates of these groups are correlated, and the covariance has blocks between groups.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.graph import Graph
from isinglass.losses.forms import zero_sum_basis
from isinglass.model import MarkovField
from isinglass.model.fit.layout import Pair
from isinglass.table import Table
from isinglass.table.column import as_text
from isinglass.uncertainty.standard_errors import cluster_influences, errors_like

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupFit:
    """The rows of one group, and the model of the graph fitted to them.

    Attributes
    ----------
    label : the group
    table : Table
        Its rows, with the states seen there.
    kept : sequence of arrays
        For each column, which states of the whole table those are.
    rows : indices of its rows in the whole table.
    model : MarkovField
        With errors.
    """

    label: Hashable
    table: Table
    kept: Sequence[NDArray[np.intp]]
    rows: NDArray[np.intp]
    model: MarkovField

    @cached_property
    def parameters(self) -> Array:
        """All parameters of the model, as its errors have them."""
        assert self.model.errors is not None
        return self.model.errors.layout.parameters(self.model)

    @property
    def units(self) -> float:
        """Rows, or clusters, that the covariance comes from."""
        assert self.model.errors is not None
        return self.model.errors.units

    @property
    def covariance(self) -> Array:
        """The covariance of the parameters."""
        assert self.model.errors is not None
        return self.model.errors.covariance

    def numbers(self, pair: Pair, states: tuple[Sequence[int], Sequence[int]]) -> Array:
        """What an edge is between some states, in zero-sum contrasts, of the model's parameters.

        A row for each pair of contrasts, a column for each parameter of the model.
        """
        assert self.model.errors is not None
        layout = self.model.errors.layout
        left, right = (zero_sum_basis(len(own)) for own in states)
        found = np.zeros((left.shape[1] * right.shape[1], layout.size))
        positions = layout.edges[pair].ravel()
        if found.size and positions.size:
            one, other = (
                np.searchsorted(self.kept[v], own) for v, own in zip(pair, states, strict=True)
            )
            tables = layout.tables(pair)[:, one[:, None], other]
            found[:, positions] = (left.T @ tables @ right).reshape(len(tables), -1).T
        return found

    def why_open(self, pair: Pair) -> str:
        """Why the rows of the group do not say how strong an edge is; empty if they do."""
        assert self.model.errors is not None
        constant = [v for v in pair if self.table.n_answers[v] < 2]
        if constant:
            return f"{self.model.names[constant[0]]} is constant in {as_text(self.label)}"
        return f"unbounded in {as_text(self.label)}" if pair in self.model.errors.unbounded else ""


def fit_group(
    estimator: GreedyGraph, table: Table, mine: NDArray[np.bool_], label: Hashable
) -> GroupFit:
    """Fit the graph of an estimator to some rows of a table."""
    rows = np.flatnonzero(mine)
    part, kept = table.with_rows(
        table.codes[rows], table.weights[rows], table.clusters_of(rows), table.adjusted_of(rows)
    )
    if part.clusters is not None and part.clusters.max() == 0:
        raise SettingError(
            f"all rows of the group {as_text(label)} are in one cluster; errors need at least two."
        )
    model = errors_like(estimator, part, estimator.graph_, chose_graph=True)
    return GroupFit(label, part, kept, rows, model)


def joint_covariance(
    fits: Sequence[GroupFit], graph: Graph, table: Table, intercept: bool
) -> list[list[Array]]:
    """The covariance of the parameters of each two groups."""
    blocks = [[np.zeros((len(a.parameters), len(b.parameters))) for b in fits] for a in fits]
    for at, fit in enumerate(fits):
        blocks[at][at] = fit.covariance
    if table.clusters is None or not _share_clusters(fits, table.clusters):
        return blocks
    if table.available:
        raise SettingError(
            "some clusters have rows in several groups, and values are missing; drop the "
            "incomplete rows, or leave the clusters out."
        )
    moved = [
        cluster_influences(fit.table, graph, table.clusters[fit.rows], intercept=intercept)
        for fit in fits
    ]
    count = int(table.clusters.max()) + 1
    moved = [np.pad(of, ((0, count - len(of)), (0, 0))) for of in moved]
    for a in range(len(fits)):
        for b in range(a):
            blocks[a][b] = count / (count - 1) * moved[a].T @ moved[b]
            blocks[b][a] = blocks[a][b].T
    return blocks


def _share_clusters(fits: Sequence[GroupFit], clusters: NDArray[np.intp]) -> bool:
    """Whether some cluster has rows in several groups."""
    known = [np.unique(clusters[fit.rows]) for fit in fits]
    return sum(map(len, known)) > len(np.unique(np.concatenate(known)))
