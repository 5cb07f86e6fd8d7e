"""Standard errors of the jointly fitted couplings, by the sandwich.

Pseudo-likelihood is not the likelihood, so its second derivatives alone do not say how far its
estimates spread. The sandwich does: A^-1 B A^-1, A the second derivatives, B the covariance of
what single rows say (Huber, "The behavior of maximum likelihood estimates under nonstandard
conditions", 1967; White, "Maximum likelihood estimation of misspecified models", Econometrica 50,
1982). What a row says is summed over all columns before it is squared: the same cells speak in
the conditionals of several columns, and adding those up as if they were independent gives errors
that are too small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from threadpoolctl import threadpool_limits

from isinglass.errors import OutOfMemory, Setting, SettingError
from isinglass.estimators.base import GraphEstimator
from isinglass.estimators.settling import fill_on
from isinglass.graph import Graph
from isinglass.losses.linear import RIDGE
from isinglass.model.adjustment import reference_of
from isinglass.model.field import MarkovField
from isinglass.model.fit.joint import model_of, pseudo_likelihood
from isinglass.model.fit.layout import Layout, Pair
from isinglass.model.fit.parameter_errors import ParameterErrors
from isinglass.model.fit.pseudolikelihood import PseudoLikelihood, open_below
from isinglass.model.inference.methods import MEMORY
from isinglass.parameters import checked
from isinglass.table import Table
from isinglass.table.clusters import labels_of_rows

Array = NDArray[np.float64]

#: Numbers in one block of rows' scores.
BLOCK = 4_000_000
#: Parameters up to which one thread is enough.
SMALL = 1000
#: Flat directions that are looked for at first, rounds of inverse iteration, and how far above the
#: limit the steepest of them must be: each round leaves at most the inverse of that.
FLAT, ROUNDS, FAR_ABOVE = 16, 3, 100.0
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
) -> MarkovField:
    """Fit all parameters of a graph together, and attach their standard errors.

    Weights are counts unless `sampling` says that they are sampling weights; `chose_graph` says
    whether the rows chose the graph, so that there are no p-values. Clusters are those of the table
    unless others are given; memory is as in `with_errors`, intercept and ridge as in
    ``isinglass.model.fit_model``. Of `draws` copies of the rows, one after the other, only cells
    that were missing differ: by draws from the model.
    """
    if graph.names != table.names:
        raise SettingError("the graph and the table have different columns.")
    joint = pseudo_likelihood(table, graph, ridge=ridge, intercept=intercept, memory=memory)
    _check_memory(joint.layout.size, memory)
    groups = group_numbers(table, clusters, draws)
    parameters = joint.minimum()
    model = model_of(joint, parameters)
    covariance, units, left_open = sandwich(
        joint, parameters, groups, sampling=sampling, draws=draws
    )
    unbounded, clustered = model.unbounded | left_open, groups is not None
    layout, covariance = at_reference(joint, covariance)
    errors = ParameterErrors(layout, covariance, unbounded, units, clustered, chose_graph)
    return replace(model, errors=errors)


def at_reference(joint: PseudoLikelihood, covariance: Array) -> tuple[Layout, Array]:
    """The parameters of the model alone, its intercepts at the reference; and their covariance.

    What is adjusted for has parameters of its own, which move the intercepts.
    """
    layout, moves = _at_reference(joint)
    return layout, covariance if layout is joint.layout else moves @ covariance @ moves.T


def _at_reference(joint: PseudoLikelihood) -> tuple[Layout, Array]:
    """The parameters of the model alone, and what makes them of all."""
    whole, own = joint.layout, joint.layout.own
    if own == len(whole.n_states):
        return whole, np.eye(whole.size)
    pairs = [(i, j) for i, j in whole.edges if j < own]
    layout = Layout(whole.n_states[:own], pairs, whole.intercept, whole.designs)
    moves = np.zeros((layout.size, whole.size))
    for r, positions in enumerate(layout.fields):
        moves[positions, whole.fields[r]] = 1.0
        for k, code in enumerate(reference_of(joint.table)):
            at = whole.edges[r, own + k][: len(positions)]
            moves[positions[:, None], at] = whole.bases[own + k][code]
    for pair in pairs:
        moves[layout.edges[pair].ravel(), whole.edges[pair].ravel()] = 1.0
    return layout, moves


def cluster_influences(
    table: Table, graph: Graph, clusters: NDArray[np.intp], *, intercept: bool = True
) -> Array:
    """How each cluster of rows moves the parameters that a graph has: clusters by parameters.

    The covariance is the sum of the squares of these, so that parameters of different tables that
    share clusters have one as well. Parameters are those of `fit_with_errors`.
    """
    joint = pseudo_likelihood(table, graph, intercept=intercept)
    parameters = joint.minimum()
    bread, _ = _bread(joint, parameters)
    sums = np.zeros((int(clusters.max()) + 1, joint.layout.size))
    for at, scores in ScoredRows(joint, parameters).scores(None):
        np.add.at(sums, clusters[at], scores * table.weights[at, None])
    moved = sums @ bread / table.n
    return moved @ _at_reference(joint)[1].T


def sandwich(
    joint: PseudoLikelihood,
    parameters: Array,
    groups: NDArray[np.intp] | None = None,
    *,
    sampling: bool = False,
    draws: int = 1,
) -> tuple[Array, float, frozenset[Pair]]:
    """The covariance of the parameters, the number of rows or clusters, the edges left open."""
    threads = None if joint.layout.size > SMALL else 1  # to wake others takes longer
    with threadpool_limits(threads, "blas"):
        rows = ScoredRows(joint, parameters, draws)
        filling, units = _filling(rows, groups, sampling)
        bread, left_open = _bread(joint, parameters)
        if draws > 1:  # what a row's draws say moves with the parameters that they are drawn by
            moved = rows.moved() / joint.table.n
            bread = bread @ np.linalg.pinv(np.eye(len(bread)) - moved @ bread)
        correction = units / max(units - 1.0, 1.0)
        covariance = correction / joint.table.n**2 * (bread @ filling @ bread.T)
    return (covariance + covariance.T) / 2.0, units, left_open


def _filling(
    rows: ScoredRows, groups: NDArray[np.intp] | None, sampling: bool
) -> tuple[Array, float]:
    """The squares of what rows, or clusters of rows, say, added up; and how many there are."""
    weights, size = rows.weights, rows.joint.layout.size
    if groups is not None:
        sums = _summed(rows.scores(groups), groups, weights)
        return _squares(sums, size), float(groups.max() + 1)
    scale = weights if sampling else np.sqrt(weights)
    scored = (score * scale[at, None] for at, score in rows.scores(None))
    return _squares(scored, size), float(len(weights)) if sampling else rows.joint.table.n


def _bread(joint: PseudoLikelihood, parameters: Array) -> tuple[Array, frozenset[Pair]]:
    """The inverse of the second derivatives, on the directions that the rows determine.

    Directions that only the ridge holds are left out: edges with a part in them are at a limit.
    """
    hessian = joint.with_hessian(parameters)[2]
    first = sum(map(len, joint.layout.fields))  # of an edge
    limit = open_below(float(np.linalg.norm(parameters[first:])))
    with threadpool_limits(1, "blas"):
        values, flat = _flat_directions(hessian, limit)
        # Flat directions are made steep, so that the others are well determined, and then left out.
        steep = hessian + flat * (1.0 - values) @ flat.T if len(values) else hessian
        inverse = _inverse(steep) - flat @ flat.T
    part = np.square(flat).sum(axis=1)
    edges = ((pair, at) for pair, at in joint.layout.edges.items() if pair[1] < joint.layout.own)
    return inverse, frozenset(pair for pair, places in edges if part[places].sum() > 1e-3)


def _inverse(hessian: Array) -> Array:
    factor, failed = dpotrf(hessian, lower=1)
    if failed:
        return np.asarray(np.linalg.pinv(hessian, hermitian=True), dtype=np.float64)
    lower = np.tril(dpotri(factor, lower=1)[0])
    return np.asarray(lower + np.tril(lower, -1).T, dtype=np.float64)


def _flat_directions(hessian: Array, limit: float) -> tuple[Array, Array]:
    """Eigenvalues up to a limit, and their vectors.

    Those of the rows are far larger, so that a few rounds of inverse iteration of a block of
    vectors are enough, if it is wide enough to have a part in what is not flat.
    """
    size = len(hessian)
    factor, failed = dpotrf(hessian, lower=1)
    rng, width = np.random.default_rng(0), FLAT
    while not failed and 4 * width <= size:
        block = rng.standard_normal((size, width))
        for _ in range(ROUNDS):
            block = np.linalg.qr(dpotrs(factor, block, lower=1)[0])[0]
        values, rotation = np.linalg.eigh(block.T @ hessian @ block)
        if values[-1] > FAR_ABOVE * limit:
            kept = values <= limit
            return values[kept], block @ rotation[:, kept]
        width *= 4
    values, vectors = np.linalg.eigh(hessian)
    kept = values <= limit
    return values[kept], vectors[:, kept]


def _squares(blocks: Iterator[Array], size: int) -> Array:
    total = np.zeros((size, size))
    for block in blocks:
        total += block.T @ block
    return total


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """What each row says of the parameters: the mean over the draws that fill its missing cells.

    Then the covariance is that of what is seen (Louis, "Finding the observed information matrix
    when using the EM algorithm", 1982), and it has the noise of the draws in it.
    """

    joint: PseudoLikelihood
    parameters: Array
    draws: int = 1

    @property
    def weights(self) -> Array:
        """Of the rows as they came."""
        weights = self.joint.table.weights
        return weights[: len(weights) // self.draws] * self.draws

    def scores(self, groups: NDArray[np.intp] | None) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Rows, and the slopes of each one's pseudo-log-likelihood; by groups if there are any."""
        n = len(self.weights)
        order = np.arange(n) if groups is None else np.argsort(groups, kind="stable")
        for at in self._blocks(order):
            yield at, self._by_draw(at, self._slopes).mean(axis=0)

    def moved(self) -> Array:
        """How slopes go with what the model draws by, within rows: a sum of covariances."""
        total = np.zeros((self.joint.layout.size,) * 2)
        for at in self._blocks(np.arange(len(self.weights))):
            slopes, drawn = (self._by_draw(at, kind) for kind in (self._slopes, self._sufficient))
            slopes = (slopes - slopes.mean(axis=0)) * self.weights[at][:, None]
            drawn = drawn - drawn.mean(axis=0)
            size = total.shape[0]
            total += slopes.reshape(-1, size).T @ drawn.reshape(-1, size)
        return total / (self.draws - 1)

    def _blocks(self, order: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
        step = max(1, BLOCK // max(self.joint.layout.size * self.draws, 1))
        return (order[start : start + step] for start in range(0, len(order), step))

    def _by_draw(self, at: NDArray[np.intp], kind: Callable[[NDArray[np.intp]], Array]) -> Array:
        """Numbers of each draw of some rows: (draws, rows, parameters)."""
        n = len(self.weights)
        return np.stack([kind(draw * n + at) for draw in range(self.draws)])

    def _slopes(self, rows: NDArray[np.intp]) -> Array:
        return row_scores(self.joint.layout, self.joint.table, self.parameters, rows)

    def _sufficient(self, rows: NDArray[np.intp]) -> Array:
        """What the log-potential of each row is a sum of, parameter by parameter."""
        layout, codes = self.joint.layout, self.joint.table.wide.codes[rows]
        own = [basis[codes[:, r]] for r, basis in enumerate(layout.bases)]
        found = np.zeros((len(rows), layout.size))
        for positions, numbers in zip(layout.fields, own, strict=True):
            found[:, positions] = numbers[:, : len(positions)]
        for (i, j), positions in layout.edges.items():
            if (i, j) in layout.designs:
                found[:, positions] = layout.designs[i, j][:, codes[:, i], codes[:, j]].T
                continue
            products = own[i][:, :, None] * own[j][:, None, :]
            found[:, positions.ravel()] = products.reshape(len(rows), -1)
        return found


def row_scores(layout: Layout, table: Table, parameters: Array, rows: NDArray[np.intp]) -> Array:
    """Slopes of the pseudo-log-likelihood of single rows, summed over all columns."""
    last = np.array(layout.n_states)[:, None] - 1
    given = np.ascontiguousarray(table.wide.codes[rows].T)
    seen, codes = given <= last, np.minimum(given, last)
    total = np.zeros((layout.size, len(rows)))  # a row of it is a parameter
    residuals = _residuals(layout, parameters, codes, seen)
    for r, residual in residuals.items():
        if layout.intercept:
            total[layout.fields[r]] += residual
    for (i, j), positions in layout.edges.items():
        if not positions.size:
            continue
        if (i, j) in layout.designs:
            total[positions] = _slopes_by_design(layout, (i, j), codes, residuals)
            continue
        of_edge = total[positions[0, 0] : positions[-1, -1] + 1].reshape(*positions.shape, -1)
        if j in residuals:  # else it is adjusted for, and not explained
            of_edge += layout.bases[i].T[:, codes[i]][:, None] * residuals[j]
        of_edge += residuals[i][:, None] * layout.bases[j].T[:, codes[j]]
    return total.T


def _slopes_by_design(
    layout: Layout, pair: Pair, codes: NDArray[Any], residuals: Mapping[int, Array]
) -> Array:
    """The same for one edge that is a combination of tables: (tables, rows)."""
    (i, j), tables = pair, layout.designs[pair]
    by_source, by_target = layout.bases[i].T @ tables, tables @ layout.bases[j]
    slopes: Array = np.einsum("kar,ar->kr", by_source[:, :, codes[j]], residuals[i])
    slopes += np.einsum("krb,br->kr", by_target[:, codes[i]], residuals[j])
    return slopes


def _residuals(
    layout: Layout, parameters: Array, codes: NDArray[Any], seen: NDArray[np.bool_]
) -> dict[int, Array]:
    """What each column that varies is, less what its neighbours say of it: contrasts by rows.

    Zero where the column or a neighbour is not seen.
    """
    intercepts, couplings = layout.intercepts(parameters), layout.couplings(parameters)
    residuals = {}
    for r, m in enumerate(layout.n_states[: layout.own]):
        if m == 1:
            continue
        scores = np.repeat(intercepts[r][:, None], codes.shape[1], axis=1)
        for t in layout.neighbours[r]:
            effects = couplings[r, t] if r < t else couplings[t, r].T
            scores += effects[:, codes[t]]
        probability = np.exp(scores - scores.max(axis=0))
        probability /= probability.sum(axis=0)
        own = layout.bases[r].T
        counts = seen[[r, *layout.neighbours[r]]].all(axis=0)
        residuals[r] = (own[:, codes[r]] - own @ probability) * counts
    return residuals


def _summed(
    blocks: Iterator[tuple[NDArray[np.intp], Array]], groups: NDArray[np.intp], weights: Array
) -> Iterator[Array]:
    """Sums over each group's rows, which come one after the other; blocks may cut a group."""
    carried, group = np.zeros(0), -1
    for at, scores in blocks:
        own = groups[at]
        starts = np.flatnonzero(np.diff(own, prepend=-1))
        sums = np.add.reduceat(scores * weights[at, None], starts, axis=0)
        if own[0] == group:
            sums[0] += carried
        elif group >= 0:
            yield carried[None, :]
        yield sums[:-1]
        carried, group = sums[-1], int(own[-1])
    yield carried[None, :]


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
