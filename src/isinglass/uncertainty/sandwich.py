"""The sandwich covariance of the parameters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from isinglass.model.fit.blas import blas_threads_for
from isinglass.model.fit.layout import Layout, Pair
from isinglass.model.fit.pseudolikelihood import PseudoLikelihood, open_below
from isinglass.uncertainty.bread import Bread, bread_of, squares_of
from isinglass.uncertainty.scores import ScoredRows

Array = NDArray[np.float64]

#: The share of an edge's parameters in flat directions, added up, above which it is left open.
LEFT_OPEN = 1e-3


def sandwich(
    joint: PseudoLikelihood,
    parameters: Array,
    groups: NDArray[np.intp] | None = None,
    *,
    sampling: bool = False,
    draws: int = 1,
) -> tuple[Array, float, frozenset[Pair]]:
    """The covariance of the parameters, the number of rows or clusters, the edges left open."""
    rows, bread = ScoredRows(joint, parameters, draws), bread_at(joint, parameters)
    filling, units = _filling(rows, groups, sampling)
    if draws == 1:
        covariance = bread.around(filling)
    else:  # what a row's draws say moves with the parameters that they are drawn by
        with blas_threads_for(joint.layout.size):
            inverse, moved = bread.matrix(), rows.moved() / joint.table.n
            inverse = inverse @ np.linalg.pinv(np.eye(len(inverse)) - moved @ inverse)
            covariance = inverse @ squares_of(filling, len(inverse)) @ inverse.T
    covariance *= units / max(units - 1.0, 1.0) / joint.table.n**2
    return (covariance + covariance.T) / 2.0, units, _left_open(joint.layout, bread)


def bread_at(joint: PseudoLikelihood, parameters: Array) -> Bread:
    """The inverse of the second derivatives; directions that only the ridge holds are left out."""
    hessian = joint.with_hessian(parameters)[2]
    first = sum(map(len, joint.layout.fields))  # of an edge
    return bread_of(hessian, open_below(float(np.linalg.norm(parameters[first:]))))


def _left_open(layout: Layout, bread: Bread) -> frozenset[Pair]:
    """Edges with a part in flat directions: they are at a limit."""
    shares = bread.flat_shares()
    edges = ((pair, at) for pair, at in layout.edges.items() if pair[1] < layout.own)
    return frozenset(pair for pair, at in edges if shares[at].sum() > LEFT_OPEN)


def _filling(
    rows: ScoredRows, groups: NDArray[np.intp] | None, sampling: bool
) -> tuple[Iterator[Array], float]:
    """What rows, or clusters of rows, say, block by block; and how many there are."""
    weights = rows.weights
    if groups is not None:
        return _summed(rows.scores(groups), groups, weights), float(groups.max() + 1)
    scored = _scaled(rows, weights if sampling else np.sqrt(weights))
    return scored, float(len(weights)) if sampling else rows.joint.table.n


def _scaled(rows: ScoredRows, scale: Array) -> Iterator[Array]:
    """What rows say, times a number each."""
    plain = bool((scale == 1.0).all())
    for at, scores in rows.scores(None):
        yield scores if plain else scores * scale[at, None]


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
