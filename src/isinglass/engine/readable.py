"""Algorithm 2 by the readable solver: the definition, and the fast twin's measure."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.constraints import FREE, Constraints
from isinglass.engine.runs import KeptRuns, Progress
from isinglass.losses.conditional import ConditionalLoss
from isinglass.losses.forms import Always, Forms
from isinglass.solvers.edges import EdgeBlocks
from isinglass.solvers.path import Path
from isinglass.solvers.search import search
from isinglass.table import Table


def learn_readable(
    table: Table,
    floor: float,
    *,
    nu: float,
    intercept: bool,
    max_degree: int | None,
    threads: int,
    constraints: Constraints = FREE,
    progress: Progress | None = None,
    edges: str = "table",
    adjust: tuple[int, ...] = (),
    scales: NDArray[np.float64] | None = None,
) -> KeptRuns:
    """Run Algorithm 1 for every column, in column order.

    `edges` says which forms an edge may have; columns in `adjust` are in every model, and no edge
    leads to them. `scales`, a (p, p) array, divide the gains and costs of each pair.
    """
    p = len(table.columns)
    always = Always(intercept, adjust)
    forms = Forms(tuple(table.n_states), table.scores, edges)
    losses = [node_loss(table, r, always=always, forms=forms) for r in range(p)]

    def run(r: int) -> Path:
        loss = losses[r]
        possible = () if r in adjust else loss.candidates
        candidates = constraints.candidates(r, possible)
        of_pairs = None if scales is None else {t: float(scales[r, t]) for t in candidates}
        blocks = EdgeBlocks(loss, candidates, of_pairs)
        required = constraints.start(r, candidates)
        return search(blocks, floor, nu, max_size=max_degree, names=table.names, required=required)

    paths: list[Path] = []
    with ThreadPoolExecutor(threads) as pool:
        try:
            for path in pool.map(run, range(p)):
                paths.append(path)
                if progress is not None:
                    progress(len(paths), p)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return KeptRuns(paths)


def node_loss(
    table: Table,
    r: int,
    *,
    intercept: bool = True,
    always: Always | None = None,
    forms: Forms | None = None,
) -> ConditionalLoss:
    """The conditional likelihood of column r, as a loss."""
    always = Always(intercept) if always is None else always
    return ConditionalLoss(
        table.codes, table.weights, r, table.n_states, n=table.n, always=always, forms=forms
    )
