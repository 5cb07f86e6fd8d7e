"""How well a graph predicts: the same pseudo-log-likelihood for every estimator.

Whatever method found the graph, each column's conditional is refitted on the training rows
from its neighbours alone, so that scores compare graphs and not ways of shrinking.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.readable import node_loss
from isinglass.graph import Graph
from isinglass.losses.conditional import NodeFit
from isinglass.table import Table


def refit_conditionals(graph: Graph, training: Table) -> list[NodeFit]:
    """Each column's conditional given its neighbours in the graph."""
    adjacency = graph.adjacency
    return [
        node_loss(training, r).fit([int(t) for t in sorted(adjacency[[r]].indices)])
        for r in range(len(graph.names))
    ]


def row_scores(fits: Sequence[NodeFit], training: Table, rows: Table) -> NDArray[np.float64]:
    """Sum over columns of log P(x_r given its neighbours), for each row."""
    total = np.zeros(len(rows.codes))
    for r, fit in enumerate(fits):
        total -= node_loss(training, r).row_losses(fit, rows.codes)
    return total
