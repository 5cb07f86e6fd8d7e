"""Algorithm 2 by the readable solver: the definition, and the fast twin's measure."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.constraints import FREE, Constraints
from isinglass.engine.runs import KeptRuns, Progress
from isinglass.losses.conditional import ConditionalLoss
from isinglass.losses.forms import Always, TableEdge
from isinglass.solvers.blocks import Blocks
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
    edge: TableEdge | None = None,
    adjust: tuple[int, ...] = (),
    scales: NDArray[np.float64] | None = None,
    level: float = math.inf,
) -> KeptRuns:
    """Run Algorithm 1 for every column, in column order.

    `edge` is the form of edges, by default whole tables; columns in `adjust` are in every model,
    and no edge leads to them. `scales`, a (p, p) array, divide the gains and costs of each pair;
    candidates that gain more than `level` come first, by what they gain without scales.
    """
    p = len(table.columns)
    always = Always(intercept, adjust)
    losses = [node_loss(table, r, always=always, edge=edge) for r in range(p)]

    def run(r: int) -> Path:
        loss = losses[r]
        possible = () if r in adjust else loss.candidates
        candidates = constraints.candidates(r, possible)
        plain = {t: loss.null(t) for t in candidates}
        nulls = plain
        if scales is not None:
            nulls = {t: null.times(scales[r, t]) for t, null in plain.items()}
        ranked = None if scales is None else (level, plain)
        members = {t: (t,) for t in candidates}
        blocks = Blocks(loss, members, standardise=True, nulls=nulls, ranked=ranked)
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
    edge: TableEdge | None = None,
) -> ConditionalLoss:
    """The conditional likelihood of column r, as a loss."""
    always = Always(intercept) if always is None else always
    return ConditionalLoss(
        table.codes, table.weights, r, table.n_states, n=table.n, always=always, edge=edge
    )
