"""The searches of all columns of a table, and how to run them again on other rows.

The native solver runs; tests ask for the readable one as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import cores
from isinglass.engine.available import learn_available
from isinglass.engine.constraints import FREE, Constraints
from isinglass.engine.native import forms_of, learn_native
from isinglass.engine.readable import learn_readable
from isinglass.engine.runs import Progress, Runs
from isinglass.engine.workers import Workers
from isinglass.losses.forms import Forms
from isinglass.table import Table


def learn_neighbourhoods(
    table: Table,
    floor: float,
    *,
    nu: float = 0.5,
    intercept: bool = True,
    max_degree: int | None = None,
    constraints: Constraints = FREE,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    solver: str = "native",
    scales: NDArray[np.float64] | None = None,
    level: float = math.inf,
    edges: str = "table",
    workers: Workers | None = None,
    **adjusted: Any,
) -> Runs:
    """Run Algorithm 1 for every column down to `floor`.

    `scales`, a symmetric (p, p) array, say how many times larger the gains of each pair are when
    nothing links it than rows drawn one by one would make them: gains and costs are divided by
    them, and by the table's design effects, before they are made those of one parameter. Scales say
    how sure a gain is: of candidates that gain more than `level` the one comes in that gains most
    without them.
    `edges` says which forms an edge may have; `adjust` is for the readable solver, and `workers`,
    who do the work, for the native one.
    """
    solve: Callable[..., Runs] = learn_native if solver == "native" else learn_readable
    learn = learn_available if table.available else solve
    if workers is not None:
        adjusted["workers"] = workers
    return learn(
        table,
        floor,
        nu=nu,
        intercept=intercept,
        max_degree=max_degree,
        constraints=constraints,
        threads=threads_for(n_jobs, len(table.columns)),
        progress=progress,
        scales=table.pair_scales(scales),
        level=level,
        edges=edges,
        **adjusted,
    )


def threads_for(n_jobs: int | None, columns: int) -> int:
    """Threads to use: None means all cores; -1 all, -2 all but one, as in scikit-learn."""
    if n_jobs is not None and n_jobs > 0:
        return max(1, min(n_jobs, columns))
    wanted = cores() + (0 if n_jobs is None else 1 + n_jobs)
    return max(1, min(wanted, columns))


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
    came : Table, optional
        The table as it came, with missing values, where those of `table` are filled.
    edges : "auto", "table" or "scores"
        Which forms edges may have.

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
    came: Table | None = None
    edges: str = "table"

    @property
    def forms(self) -> Forms:
        """Which forms the edge between two columns may have, and the design of each."""
        return forms_of(self.table, self.edges)

    @property
    def rows(self) -> Table:
        """The table as it came: what other rows are drawn from."""
        return self.table if self.came is None else self.came

    @property
    def required(self) -> frozenset[tuple[int, int]]:
        """Pairs of columns that are in every graph, whatever the rows say."""
        return self.constraints.pairs
