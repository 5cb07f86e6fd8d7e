"""How well a graph predicts: the same pseudo-log-likelihood for every estimator.

Whatever method found the graph, each column's conditional is refitted on the training rows
from its neighbours alone, so that scores compare graphs and not ways of shrinking.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.engine import fit_neighbourhoods
from isinglass.engine.available import parts_of, seen_rows, widen
from isinglass.engine.native import adjusted_columns
from isinglass.engine.readable import node_loss
from isinglass.graph import Graph
from isinglass.losses.conditional import NodeFit
from isinglass.table import Table


def refit_conditionals(graph: Graph, training: Table) -> list[NodeFit]:
    """Each column's conditional given its neighbours in the graph."""
    neighbours = graph.neighbourhoods
    if not training.available:
        runs = fit_neighbourhoods(training, neighbours, intercept=True, threads=1)
        return [runs.fit(r, 0) for r in range(len(neighbours))]
    fits: dict[int, NodeFit] = {}
    for part in parts_of(training):
        for r in part.targets:
            beside = adjusted_columns(part.table)
            fit = node_loss(part.table.wide, r).fit([*neighbours[r], *beside])
            fits[r] = widen(fit.adjusting(len(neighbours)), part.kept, training)
    return [fits[r] for r in range(len(neighbours))]


def row_scores(fits: Sequence[NodeFit], rows: Table) -> NDArray[np.float64]:
    """Sum over the columns that are seen of log P(x_r given its neighbours), for each row."""
    total = np.zeros(len(rows.codes))
    for r, fit in enumerate(fits):
        seen = seen_rows(rows, r)
        total[seen] += fit.log_likelihood(rows.wide.codes[seen], r)
    return total
