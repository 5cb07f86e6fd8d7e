"""Parameters of a pairwise model on a known graph: one table per edge, shared by both its ends.

The search refits each column on its own, so an edge has two tables, one from either end. Here all
columns are fitted together, by pseudo-likelihood, or by likelihood where memory allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.graph import Graph
from isinglass.losses.linear import RIDGE
from isinglass.model.adjustment import Adjustment, reference_of
from isinglass.model.field import MarkovField
from isinglass.model.fit.layout import Layout, Pair
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


def fit_near(table: Table, start: MarkovField, *, intercept: bool = True) -> MarkovField:
    """Fit a model by pseudo-likelihood to other rows, starting where it is.

    Which edges the rows leave open is taken over, and not found again. A model that is adjusted
    for something starts anew.
    """
    if table.adjusted is not None:
        return fit_model(table, start.graph, intercept=intercept)
    designs = designs_of(table.n_answers, table.scores, start.forms)
    layout = Layout(table.n_answers, list(start.couplings), intercept, designs)
    joint = PseudoLikelihood(layout, table, RIDGE, forms=start.forms)
    parameters = joint.minimum(near=layout.parameters(start))
    return replace(
        start, intercepts=layout.intercepts(parameters), couplings=layout.couplings(parameters)
    )


def pseudo_likelihood(
    table: Table,
    graph: Graph,
    *,
    ridge: float = RIDGE,
    intercept: bool = True,
    memory: float = MEMORY,
) -> PseudoLikelihood:
    """What `fit_model` minimises, for other uses of its derivatives."""
    p, states = len(table.columns), table.wide.n_states
    beside = [(r, t) for r in range(p) for t in range(p, len(states))]
    designs = designs_of(table.n_answers, table.scores, graph.forms)
    layout = Layout(
        (*table.n_answers, *states[p:]),
        [*graph.pairs, *beside],
        intercept,
        designs,
        adjusted=len(states) - p,
    )
    return PseudoLikelihood(layout, table, ridge, memory, graph.forms)


def model_of(joint: PseudoLikelihood, parameters: Array) -> MarkovField:
    """The model of some parameters."""
    table, layout, reference = joint.table, joint.layout, reference_of(joint.table)
    own, couplings = layout.own, layout.couplings(parameters)
    n_states = layout.n_states[:own]
    return MarkovField(
        table.names,
        tuple(column.states[:m] for column, m in zip(table.columns, n_states, strict=True)),
        intercepts_at(layout, parameters, reference),
        {(i, j): coupling for (i, j), coupling in couplings.items() if j < own},
        table.library,
        frozenset((i, j) for i, j in joint.unbounded(parameters) if j < own),
        {v: column.cuts for v, column in enumerate(table.columns) if column.cuts is not None},
        forms={pair: joint.forms[pair] for pair in layout.designs},
        scores=answered_scores(table.scores, n_states),
        adjusted=_adjustment(table, couplings, reference),
    )


def intercepts_at(
    layout: Layout, parameters: Array, reference: tuple[int, ...]
) -> tuple[Array, ...]:
    """The intercepts of the columns that are explained, at some states of the others."""
    couplings, own = layout.couplings(parameters), layout.own
    return tuple(
        intercept
        + sum((couplings[r, own + k][:, code] for k, code in enumerate(reference)), np.zeros(1))
        for r, intercept in enumerate(layout.intercepts(parameters)[:own])
    )


def _adjustment(
    table: Table, couplings: Mapping[Pair, Array], reference: tuple[int, ...]
) -> Adjustment | None:
    """What the model is conditional on."""
    if table.adjusted is None:
        return None
    p, beside = len(table.columns), table.adjusted.columns
    tables = [[couplings[r, p + k] for k in range(len(beside))] for r in range(p)]
    shifts = (
        tuple(table - table[:, [code]] for table, code in zip(of, reference, strict=True))
        for of in tables
    )
    return Adjustment(
        table.adjusted.names,
        tuple(column.states for column in beside),
        reference,
        tuple(shifts),
        {k: column.cuts for k, column in enumerate(beside) if column.cuts is not None},
    )
