"""The searches of all columns of a table, and how to run them again on other rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from isinglass.engine.constraints import Constraints
from isinglass.engine.runs import Runs
from isinglass.table import Table


@dataclass(frozen=True, eq=False)
class Search:
    """What a fit of Algorithm 2 leaves behind: ``GreedyGraph.search_``.

    Attributes
    ----------
    table : Table
        The encoded table.
    runs : Runs
        What the search did at each column, down to `floor`.
    floor : float
        The smallest threshold the search ran to.
    rule : "or" or "and"
        How neighbourhoods are joined to a graph.
    constraints : Constraints
        Edges that are required and edges that are forbidden.
    learn : function of (table, floor, *, n_jobs, progress)
        Runs of other rows with the same settings.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> search = ig.GreedyGraph().fit(field.sample(1000, seed=0)).search_
    >>> search.table.n, len(search.runs), search.rule
    (1000.0, 3, 'or')
    >>> again = search.learn(search.table, search.floor)
    >>> [again.path(r).support for r in range(3)] == [search.runs.path(r).support for r in range(3)]
    True
    """

    table: Table
    runs: Runs
    floor: float
    rule: str
    constraints: Constraints
    learn: Callable[..., Runs]

    @property
    def required(self) -> frozenset[tuple[int, int]]:
        """Pairs of columns that are in every graph, whatever the rows say."""
        return self.constraints.pairs
