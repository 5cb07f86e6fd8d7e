"""The sandwich covariance of the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass.model.fit.blas import blas_threads_for, from_lower
from isinglass.model.fit.layout import Pair
from isinglass.model.fit.pseudolikelihood import PseudoLikelihood, open_below
from isinglass.uncertainty.bread import Bread, bread_of, squares_of
from isinglass.uncertainty.scores import ScoredRows

Array = NDArray[np.float64]

#: The share of an edge's parameters in flat directions, added up, above which it is left open.
LEFT_OPEN = 1e-3


class Sandwich:
    """The covariance of the parameters; what takes long is found when it is first asked for."""

    def __init__(
        self,
        joint: PseudoLikelihood,
        parameters: Array,
        groups: NDArray[np.intp] | None = None,
        *,
        sampling: bool = False,
        draws: int = 1,
    ) -> None:
        self.joint, self.parameters = joint, parameters
        self._rows = ScoredRows(joint, parameters, draws)
        self._groups, self._sampling = groups, sampling

    @property
    def units(self) -> float:
        """How many rows, or clusters of rows, there are."""
        if self._groups is not None:
            return float(self._groups.max() + 1)
        return float(len(self._rows.weights)) if self._sampling else self.joint.table.n

    @cached_property
    def _bread(self) -> Bread:
        return bread_at(self.joint, self.parameters)

    def covariance(self) -> Array:
        """Zero in directions that the rows leave open."""
        if self._rows.draws == 1:
            covariance = self._bread.around(self._filling())
        else:  # what a row's draws say moves with the parameters that they are drawn by
            with blas_threads_for(self.joint.layout.size):
                inverse, moved = self._bread.matrix(), self._rows.moved() / self.joint.table.n
                inverse = inverse @ np.linalg.pinv(np.eye(len(inverse)) - moved @ inverse)
                squares = squares_of(self._filling(), len(inverse))
                covariance = from_lower(inverse @ squares @ inverse.T)
        covariance *= self.units / max(self.units - 1.0, 1.0) / self.joint.table.n**2
        return covariance

    def _filling(self) -> Iterator[Array]:
        """What rows, or clusters of rows, say, block by block."""
        rows, groups = self._rows, self._groups
        if groups is not None:
            return _summed(rows.scores(groups), groups, rows.weights)
        return _scaled(rows, rows.weights if self._sampling else np.sqrt(rows.weights))

    def left_open(self) -> frozenset[Pair]:
        """Edges with a part in flat directions: they are at a limit."""
        layout, shares = self.joint.layout, self._bread.flat_shares()
        edges = ((pair, at) for pair, at in layout.edges.items() if pair[1] < layout.own)
        return frozenset(pair for pair, at in edges if shares[at].sum() > LEFT_OPEN)


def bread_at(joint: PseudoLikelihood, parameters: Array) -> Bread:
    """The inverse of the second derivatives; directions that only the ridge holds are left out."""
    hessian = joint.with_hessian(parameters)[2]
    first = sum(map(len, joint.layout.fields))  # of an edge
    return bread_of(hessian, open_below(float(np.linalg.norm(parameters[first:]))))


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
