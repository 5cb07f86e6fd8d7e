"""Algorithm 2 by the readable solver: the definition, and the fast twin's measure."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.constraints import FREE, Constraints
from isinglass.engine.native import adjusted_columns, forms_of, wide_scales
from isinglass.engine.runs import KeptRuns, Progress
from isinglass.losses.conditional import ConditionalLoss, NodeFit
from isinglass.losses.forms import Always, Forms
from isinglass.losses.protocol import Fit
from isinglass.solvers.edges import EdgeBlocks
from isinglass.solvers.path import Path, stopped_at_size
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
    scales: NDArray[np.float64] | None = None,
    level: float = math.inf,
) -> KeptRuns:
    """Run Algorithm 1 for every column, in column order.

    `edges` says which forms an edge may have. `scales`, a (p, p) array, divide the gains and costs
    of each pair; candidates that gain more than `level` come first, by what they gain without
    scales.
    """
    p, wide, names = len(table.columns), table.wide, table.names
    constraints, scales = constraints.adjusting(table), wide_scales(scales, table)
    most = None if max_degree is None else max_degree + len(adjusted_columns(table))
    forms = forms_of(table, edges)
    losses = [node_loss(wide, r, always=Always(intercept), forms=forms) for r in range(p)]

    def run(r: int) -> Path:
        loss = losses[r]
        candidates = constraints.candidates(r, loss.candidates)
        of_pairs = None if scales is None else {t: float(scales[r, t]) for t in candidates}
        blocks = EdgeBlocks(loss, candidates, of_pairs, level)
        required = constraints.start(r, candidates)
        path = search(blocks, floor, nu, max_size=most, names=names, required=required)
        return path if wide is table else _adjusting(path, p, most, max_degree)

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


def _adjusting(path: Path, p: int, most: int | None, max_degree: int | None) -> Path:
    """A path in which columns from the p-th on are no neighbours, but adjusted for."""

    def own(columns: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(t for t in columns if t < p)

    def without(fit: Fit) -> NodeFit:
        return cast(NodeFit, fit).adjusting(p)

    steps = (replace(s, support=own(s.support), fit=without(s.fit)) for s in path.steps)
    full = most is not None and path.status == stopped_at_size(most)
    status = stopped_at_size(max_degree or 0) if full else path.status
    start, required = without(path.start), own(path.required)
    return replace(path, steps=tuple(steps), start=start, required=required, status=status)


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
