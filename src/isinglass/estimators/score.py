"""How well a graph predicts: the same pseudo-log-likelihood for every estimator.

Whatever method found the graph, each column's conditional is refitted on the training rows
from its neighbours alone, every edge in its form, so that scores compare graphs and not ways of
shrinking.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.engine import fit_conditionals
from isinglass.engine.available import parts_of, seen_rows, widen
from isinglass.engine.native import adjusted_columns, forms_of
from isinglass.engine.readable import node_loss
from isinglass.engine.refits import form_of
from isinglass.graph import Graph
from isinglass.losses.conditional import NodeFit
from isinglass.losses.forms import TABLE
from isinglass.table import Table


def refit_conditionals(graph: Graph, training: Table) -> list[NodeFit]:
    """Each column's conditional given its neighbours in the graph, every edge in its form."""
    neighbours, forms = graph.neighbourhoods, graph.forms
    if not training.available:
        return fit_conditionals(training, neighbours, forms)
    fits: dict[int, NodeFit] = {}
    for part in parts_of(training):
        wide, known = part.table.wide, forms_of(part.table, "auto")
        for r in part.targets:
            beside = dict.fromkeys(adjusted_columns(part.table), TABLE)
            edges = {t: form_of(forms, r, t) for t in neighbours[r]}
            fit = node_loss(wide, r, forms=known).fit({**edges, **beside})
            fits[r] = widen(fit.adjusting(len(neighbours)), part.kept, training)
    return [fits[r] for r in range(len(neighbours))]


def row_scores(fits: Sequence[NodeFit], rows: Table) -> NDArray[np.float64]:
    """Sum over the columns that are seen of log P(x_r given its neighbours), for each row."""
    total = np.zeros(len(rows.codes))
    for r, fit in enumerate(fits):
        seen = seen_rows(rows, r)
        total[seen] += fit.log_likelihood(rows.wide.codes[seen], r)
    return total
