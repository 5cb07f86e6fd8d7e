"""The sandwich covariance of the parameters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from threadpoolctl import threadpool_limits

from isinglass.model.fit.layout import Pair
from isinglass.model.fit.pseudolikelihood import PseudoLikelihood, open_below
from isinglass.uncertainty.scores import ScoredRows

Array = NDArray[np.float64]

#: Parameters up to which one thread is enough.
SMALL = 1000
#: Flat directions that are looked for at first, rounds of inverse iteration, and how far above the
#: limit the steepest of them must be: each round leaves at most the inverse of that.
FLAT, ROUNDS, FAR_ABOVE = 16, 3, 100.0


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
        bread, left_open = bread_of(joint, parameters)
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


def _squares(blocks: Iterator[Array], size: int) -> Array:
    total = np.zeros((size, size))
    for block in blocks:
        total += block.T @ block
    return total


def bread_of(joint: PseudoLikelihood, parameters: Array) -> tuple[Array, frozenset[Pair]]:
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
