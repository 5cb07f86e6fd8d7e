"""From neighbourhoods that some method chose to a graph with numbers on its edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.engine import Joined, NativeRuns, fit_neighbourhoods, join, threads_for
from isinglass.errors import TableError
from isinglass.estimators.base import GraphEstimator
from isinglass.graph import Graph
from isinglass.solvers.cuts import join_neighbourhoods
from isinglass.table import Table

Neighbours = Sequence[Sequence[int]]
"""For each column those it chose."""


class Rival(GraphEstimator):
    """A method that chooses neighbours for every column, or edges of the whole graph.

    The numbers of an edge do not come from the method: every column is refitted without penalty
    on its neighbours, as `GreedyGraph` does, so that they compare across methods.
    """

    intercept: bool
    n_jobs: int | None

    def _read(self, X: Any, sample_weight: ArrayLike | str | None) -> Table:
        return super()._read(X, sample_weight)

    def _refit(self, neighbours: Neighbours) -> NativeRuns:
        return fit_neighbourhoods(
            self.table_, neighbours, intercept=bool(self.intercept), threads=self._threads()
        )

    def _graph(self, neighbours: Neighbours, rule: str) -> Graph:
        runs = self._refit(neighbours)
        return join(Joined(runs, 0.0, rule, self.table_, self._edge_values))

    def _threads(self) -> int:
        return threads_for(self.n_jobs, len(self.table_.columns))


def adjacency(neighbours: Neighbours, rule: str) -> NDArray[np.bool_]:
    """Which columns are linked when neighbourhoods are joined by OR or AND.

    >>> adjacency([[1], [], []], "or").astype(int).tolist()
    [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """
    linked = np.zeros((len(neighbours), len(neighbours)), dtype=bool)
    for a, b in join_neighbourhoods(neighbours, rule):
        linked[a, b] = linked[b, a] = True
    return linked


def neighbours_of(linked: NDArray[np.bool_]) -> list[list[int]]:
    """Rows of a matrix of choices as lists.

    >>> neighbours_of(np.array([[False, True], [True, False]]))
    [[1], [0]]
    """
    return [np.flatnonzero(row).tolist() for row in linked]


def two_states_only(table: Table, method: str) -> None:
    """Refuse a table with a column of more than two states."""
    for column in table.columns:
        if len(column.states) > 2:
            raise TableError(
                f"column {column.name!r} has {len(column.states)} states; {method} is for columns "
                "of two. Use L1Graph or GreedyGraph, or merge its states."
            )
