"""Parameters of a pairwise model on a known graph: one table per edge, shared by both its ends.

The search refits each column on its own, so an edge has two tables, one from either end. Here all
columns are fitted together, by pseudo-likelihood, or by likelihood where memory allows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.graph import Graph
from isinglass.losses.linear import RIDGE
from isinglass.model.field import MarkovField
from isinglass.model.fit.layout import Layout
from isinglass.model.fit.likelihood import Likelihood
from isinglass.model.fit.pseudolikelihood import PseudoLikelihood
from isinglass.model.inference.methods import MEMORY
from isinglass.model.steps import answered_scores, designs_of
from isinglass.parameters import checked
from isinglass.table import Table

Array = NDArray[np.float64]


@checked
def fit_model(
    table: Table,
    graph: Graph,
    refit: str = "pseudolikelihood",
    *,
    ridge: float = RIDGE,
    intercept: bool = True,
    memory: float = MEMORY,
    progress: Callable[[str], None] | None = None,
) -> MarkovField:
    """Fit all parameters of a graph together.

    Minimised is the mean over rows of minus the log-likelihood (or the pseudo-log-likelihood),
    plus ridge/2 times the squared entries of each edge's table in the zero-sum gauge. Fields are
    free, except that of a column with a state in no row that counts. Weights are counts.

    Parameters
    ----------
    table : Table
        As ``isinglass.table.encode`` gives it. Where missing values are skipped (``available``), a
        column is explained by the rows where it and its neighbours are seen.
    graph : Graph
        Over the columns of the table. Its edges are fitted in their forms, with the scores of the
        table; its numbers are not looked at.
    refit : "pseudolikelihood" or "likelihood"
    ridge : float
        Keeps edges finite that the rows leave unbounded (a zero cell, a repeated column). Too
        small to be seen in others; larger values shrink all edges.
    intercept : bool
        Without it there are no fields: the model is symmetric in its states.
    memory : float
        Bytes that may be kept from step to step. The pseudo-likelihood computes again what does
        not fit; the likelihood refuses an elimination that needs more, with the number.
    progress : function of a few words, optional
        Called with the step of the fit and its largest slope; ``progress=print`` prints them.

    Returns
    -------
    MarkovField

    Examples
    --------
    >>> import isinglass as ig
    >>> from isinglass.table import encode
    >>> true = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> model = fit_model(encode(true.sample(20_000, seed=0)), true.graph)
    >>> model.couplings[0, 1].round(1).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    if graph.names != table.names:
        raise SettingError("the graph and the table have different columns.")
    joint = pseudo_likelihood(
        table, graph, ridge=float(ridge), intercept=bool(intercept), memory=memory
    )
    if refit == "pseudolikelihood":
        return model_of(joint, joint.minimum(progress))
    return model_of(joint, Likelihood(joint, table, memory).minimum(progress))


def pseudo_likelihood(
    table: Table,
    graph: Graph,
    *,
    ridge: float = RIDGE,
    intercept: bool = True,
    memory: float = MEMORY,
) -> PseudoLikelihood:
    """What `fit_model` minimises, for other uses of its derivatives."""
    designs = designs_of(table.n_answers, table.scores, graph.forms)
    layout = Layout(table.n_answers, list(graph.pairs), intercept, designs)
    return PseudoLikelihood(layout, table, ridge, memory, graph.forms)


def model_of(joint: PseudoLikelihood, parameters: Array) -> MarkovField:
    """The model of some parameters."""
    table, layout = joint.table, joint.layout
    return MarkovField(
        table.names,
        tuple(column.states[:m] for column, m in zip(table.columns, layout.n_states, strict=True)),
        layout.intercepts(parameters),
        layout.couplings(parameters),
        table.library,
        joint.unbounded(parameters),
        {v: column.cuts for v, column in enumerate(table.columns) if column.cuts is not None},
        forms={pair: joint.forms[pair] for pair in layout.designs},
        scores=answered_scores(table.scores, layout.n_states),
    )
