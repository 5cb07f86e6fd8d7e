"""Standard errors of the jointly fitted couplings, by the sandwich.

Pseudo-likelihood is not the likelihood, so its second derivatives alone do not give the variance of
its estimates. The sandwich does: A^-1 B A^-1, with A the second derivatives and B the covariance of
the scores of single rows (Huber, "The behavior of maximum likelihood estimates under nonstandard
conditions", 1967; White, "Maximum likelihood estimation of misspecified models", Econometrica 50,
1982). The score of a row is summed over all columns before it is squared: the same cells enter the
conditionals of several columns, and adding those up as if they were independent gives errors that
are too small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import OutOfMemory, Setting, SettingError
from isinglass.estimators.base import GraphEstimator
from isinglass.estimators.settling import fill_on
from isinglass.graph import Graph
from isinglass.losses.linear import RIDGE
from isinglass.model.adjustment import reference_of
from isinglass.model.field import MarkovField
from isinglass.model.fit.joint import model_of, pseudo_likelihood
from isinglass.model.fit.layout import Layout
from isinglass.model.fit.parameter_errors import ParameterErrors
from isinglass.model.fit.pseudolikelihood import PseudoLikelihood
from isinglass.model.inference.methods import MEMORY
from isinglass.parameters import checked
from isinglass.table import Table
from isinglass.table.clusters import labels_of_rows
from isinglass.uncertainty.sandwich import Sandwich, bread_at
from isinglass.uncertainty.scores import ScoredRows

Array = NDArray[np.float64]

#: Matrices of all parameters by all that exist at the same time, those inside LAPACK counted.
SQUARES = 7


@checked
def with_errors(
    estimator: GraphEstimator,
    X: Any = None,
    sample_weight: ArrayLike | str | None = None,
    *,
    clusters: ArrayLike | str | None = None,
    memory: float = MEMORY,
) -> MarkovField:
    """The model of a fitted estimator, with standard errors of its couplings.

    All errors hold given this graph. Weights that are counts (``n_eff="sum"``, or a number) are
    copies of rows; with ``n_eff="design"`` or ``"kish"`` they are sampling weights, and a row of
    large weight makes errors larger. Unbounded edges have no error.

    Parameters
    ----------
    estimator : GreedyGraph or another, fitted
    X : array or data frame, optional
        Rows that did not choose the graph: its parameters are then fitted to these, and Wald
        tests of edges have p-values. By default, the rows of the fit; no p-values then.
    sample_weight : array, or the name of a column of `X`, optional
        For `X`.
    clusters : array, or the name of a column of `X`, optional
        One label per row that came in, whichever of them were dropped: rows of one cluster (a
        person asked twice, a school) may depend on each other. By default, without `X`, those of
        the fit.
    memory : float
        Bytes that the covariance may take.

    Returns
    -------
    MarkovField
        With ``errors``: its `edge` has errors, and `intervals` lists them all.

    Examples
    --------
    >>> import isinglass as ig
    >>> true = ig.simulate.ising(ig.simulate.chain(4), coupling=0.4, signs="positive")
    >>> est = ig.GreedyGraph().fit(true.sample(2000, seed=0))
    >>> model = ig.with_errors(est)
    >>> edge = model.edge("x0", "x1")
    >>> bool(abs(edge[1, 1] - 1.6) < 3 * edge.error[1, 1])
    True
    >>> fresh = ig.with_errors(est, true.sample(2000, seed=1))
    >>> fresh.wald("x0", "x1").p_value < 1e-6
    True
    """
    graph = estimator.graph_  # scikit-learn's own error if it is not fitted
    table = estimator.table_
    filled = getattr(estimator, "filled_", None)
    draws = 1 if filled is None else filled.draws
    if X is not None:
        table, clusters = table.encode_like(X, sample_weight, estimator.missing, clusters), None
        draws = 1
    options = {"clusters": clusters, "memory": memory, "chose_graph": X is None, "draws": draws}
    # A table that the model fills is filled anew; a model lacks the parameters of adjusted columns.
    if X is None and not table.by_model and table.adjusted is None:
        options["fitted"] = estimator.fit_model
    return errors_like(estimator, table, graph, **options)


def errors_like(
    estimator: GraphEstimator, table: Table, graph: Graph, **options: Any
) -> MarkovField:
    """`fit_with_errors`, with weights and intercepts as an estimator takes them."""
    intercept = bool(getattr(estimator, "intercept", True))
    sampling = estimator.n_eff in ("kish", "design")
    if table.by_model:
        table, options["draws"] = fill_on(table, graph, estimator)
    return fit_with_errors(table, graph, sampling=sampling, intercept=intercept, **options)


def fit_with_errors(
    table: Table,
    graph: Graph,
    *,
    clusters: ArrayLike | str | None = None,
    sampling: bool = False,
    intercept: bool = True,
    ridge: float = RIDGE,
    chose_graph: bool = False,
    memory: float = MEMORY,
    draws: int = 1,
    fitted: Callable[[], MarkovField] | None = None,
) -> MarkovField:
    """Fit all parameters of a graph together, and attach their standard errors.

    Weights are counts unless `sampling` says that they are sampling weights; `chose_graph` says
    whether the rows chose the graph, so that there are no p-values. Clusters are those of the table
    unless others are given; memory is as in `with_errors`, intercept and ridge as in
    ``isinglass.model.fit_model``. Of `draws` copies of the rows, one after the other, only cells
    that were missing differ: by draws from the model. `fitted`, if given, returns the model that
    has already been fitted to this table and graph.
    """
    if graph.names != table.names:
        raise SettingError("the graph and the table have different columns.")
    loss = partial(pseudo_likelihood, table, graph, ridge=ridge, intercept=intercept, memory=memory)
    joint = loss()
    _check_memory(joint.layout.size, memory)
    groups = group_numbers(table, clusters, draws)
    if fitted is None:
        parameters = joint.minimum()
        model = model_of(joint, parameters)
    else:
        model = fitted()
        parameters = joint.layout.parameters(model)

    def sandwich(of: PseudoLikelihood) -> Sandwich:
        return Sandwich(of, parameters, groups, sampling=sampling, draws=draws)

    def later() -> Array:  # until then, the loss takes no memory
        return _covariance_of_model(sandwich(loss()))

    now, unbounded, layout = sandwich(joint), model.unbounded, _layout_of_model(joint)
    spread: Array | Callable[[], Array] = later
    if not unbounded >= layout.edges.keys():  # else no edge has an error, and it can wait
        spread, unbounded = _covariance_of_model(now), unbounded | now.left_open()
    clustered = groups is not None
    errors = ParameterErrors(layout, spread, unbounded, now.units, clustered, chose_graph)
    return replace(model, errors=errors)


def _covariance_of_model(all_parameters: Sandwich) -> Array:
    """The covariance of the parameters of the model alone, its intercepts at the reference."""
    moves = _moves_to_model(all_parameters.joint)
    found = all_parameters.covariance()
    return found if moves is None else moves @ found @ moves.T


def _layout_of_model(joint: PseudoLikelihood) -> Layout:
    """What is adjusted for has parameters of its own; these are the others."""
    whole, own = joint.layout, joint.layout.own
    if own == len(whole.n_states):
        return whole
    pairs = [(i, j) for i, j in whole.edges if j < own]
    return Layout(whole.n_states[:own], pairs, whole.intercept, whole.designs)


def _moves_to_model(joint: PseudoLikelihood) -> Array | None:
    """What makes the parameters of the model of all, at the reference; None if they are all.

    What is adjusted for moves the intercepts.
    """
    whole, layout = joint.layout, _layout_of_model(joint)
    if layout is whole:
        return None
    moves = np.zeros((layout.size, whole.size))
    for r, positions in enumerate(layout.fields):
        moves[positions, whole.fields[r]] = 1.0
        for k, code in enumerate(reference_of(joint.table)):
            at = whole.edges[r, whole.own + k][: len(positions)]
            moves[positions[:, None], at] = whole.bases[whole.own + k][code]
    for pair, positions in layout.edges.items():
        moves[positions.ravel(), whole.edges[pair].ravel()] = 1.0
    return moves


def cluster_influences(
    table: Table, graph: Graph, clusters: NDArray[np.intp], *, intercept: bool = True
) -> Array:
    """How each cluster of rows moves the parameters that a graph has: clusters by parameters.

    The covariance is the sum of the squares of these, so that parameters of different tables that
    share clusters have one as well. Parameters are those of `fit_with_errors`.
    """
    joint = pseudo_likelihood(table, graph, intercept=intercept)
    parameters = joint.minimum()
    bread = bread_at(joint, parameters).matrix()
    sums = np.zeros((int(clusters.max()) + 1, joint.layout.size))
    for at, scores in ScoredRows(joint, parameters).scores(None):
        np.add.at(sums, clusters[at], scores * table.weights[at, None])
    moved = sums @ bread / table.n
    moves = _moves_to_model(joint)
    return np.asarray(moved if moves is None else moved @ moves.T)


def group_numbers(
    table: Table, clusters: ArrayLike | str | None, draws: int = 1
) -> NDArray[np.intp] | None:
    """The cluster of each row, numbered from 0: as given, or the table's; None if there are none.

    Labels are given for the rows of the table that came in, of which there may be `draws` copies.
    """
    rows = len(table.weights) // draws
    numbers = None if table.clusters is None else table.clusters[:rows]
    if isinstance(clusters, str):
        raise SettingError("clusters names a column of X; without X, give one label for each row.")
    if clusters is not None:
        numbers = labels_of_rows(clusters, rows, table.kept)
    if numbers is not None and numbers.max() == 0:
        raise SettingError("all rows are in one cluster; errors need at least two.")
    return numbers


def _check_memory(size: int, memory: float) -> None:
    needed = SQUARES * 8 * size**2
    if needed > memory:
        raise OutOfMemory(
            f"the covariance of {size:,} parameters needs about {needed:,} bytes; at most "
            f"{int(memory):,} are allowed. Raise ",
            Setting("memory"),
            ", or ask about a smaller graph.",
            needed=needed,
            allowed=memory,
        )
