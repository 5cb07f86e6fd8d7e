"""From neighbourhoods that some method chose to a graph with numbers on its edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.engine import Joined, NativeRuns, Progress, fit_neighbourhoods, join, threads_for
from isinglass.errors import TableError
from isinglass.estimators.base import GraphEstimator, fitting
from isinglass.graph import Graph, Link, Unvalued
from isinglass.solvers.cuts import join_neighbourhoods
from isinglass.table import Table

Neighbours = Sequence[Sequence[int]]
"""For each column those it chose."""


@dataclass(repr=False, eq=False, kw_only=True)
class Rival(GraphEstimator):
    """A method that chooses neighbours for every column, or edges of the whole graph.

    The numbers of an edge do not come from the method: every column is refitted without penalty
    on its neighbours, as `GreedyGraph` does, so that they compare across methods. That is done
    when they are first asked for. A subclass has its settings as fields, and `_find_graph`.
    """

    n_jobs: int | None = None

    @fitting
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | str | None = None,
        clusters: ArrayLike | str | None = None,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Learn the graph of a table; parameters as in `GreedyGraph.fit`."""
        self.graph_ = self._find_graph(self._read(X, sample_weight, clusters), progress)
        return self

    def _find_graph(self, table: Table, progress: Progress | None) -> Graph:
        """Choose the neighbours of every column, and hand them to `_graph`."""
        raise NotImplementedError

    def _refits(self, neighbours: Neighbours) -> Callable[[], NativeRuns]:
        """How to refit every column of this table, whatever is fitted later."""
        return partial(
            fit_neighbourhoods,
            self.table_,
            neighbours,
            intercept=bool(getattr(self, "intercept", True)),
            threads=self._threads(),
        )

    def _graph(self, neighbours: Neighbours, rule: str) -> Graph:
        table, valuer, refits = self.table_, self._edge_values, self._refits(neighbours)

        def links() -> tuple[Link, ...]:
            return join(Joined(refits(), 0.0, rule, table, valuer)).links

        pairs = join_neighbourhoods(neighbours, rule)
        return Graph(table.names, Unvalued(pairs, links), table.library)

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
