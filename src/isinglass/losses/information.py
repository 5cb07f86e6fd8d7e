"""How much a table says about an edge that is not there: curvatures of a column's loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.conditional import ConditionalLoss, NodeFit
from isinglass.losses.forms import zero_sum_basis

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Information:
    """Curvature of the loss per row in the parameters of one edge, (df, df) arrays.

    Parameters are those of the edge's table in orthonormal zero-sum contrasts, so that the length
    of a vector of them is the root of the sum of the table's squared entries.

    Attributes
    ----------
    held : array
        The neighbours' tables held, the field re-optimised: what a gain is measured in.
    free : array
        Neighbours and field re-optimised: the variance of the edge's slope, per row.
    """

    held: Array
    free: Array

    def within(self, design: Array) -> Information:
        """The same for an edge that is a combination of some orthonormal tables.

        `design` has the tables, (k, m, m'), of the column that is explained and of the other.
        """
        own, other = (zero_sum_basis(m) for m in design.shape[1:])
        span = np.einsum("kab,aq,bj->kjq", design, own, other).reshape(len(design), -1)
        return Information(span @ self.held @ span.T, span @ self.free @ span.T)


def information(
    loss: ConditionalLoss, fit: NodeFit, columns: Sequence[int]
) -> Iterator[Information]:
    """What a refitted column knows about an edge to each of some columns outside its support."""
    cell, first_row = loss.cells_of(tuple(fit.coef))
    design, _ = loss.design(tuple(fit.coef), first_row)
    curvature = _curvature(fit.scores(loss.codes[first_row]), zero_sum_basis(loss.states))
    own = _own(design, curvature, cell, loss)
    within = loss.within(fit)
    if within is not None:  # neighbours are re-optimised in their forms
        own = within.T @ own @ within
    always = loss.always_rows * (loss.states - 1)
    for t in columns:
        split, _, _ = loss.split(cell, [t], len(design))
        whole, cross = _with(split / loss.n, design, curvature, zero_sum_basis(loss.n_states[t]))
        cross = cross if within is None else within.T @ cross
        yield Information(
            _left_over(whole, cross[:always], own[:always, :always]), _left_over(whole, cross, own)
        )


def _curvature(scores: Array, basis: Array) -> Array:
    """Second derivatives of each cell's loss in its predictor, (cells, q, q)."""
    probability = np.exp(scores - scores.max(axis=1, keepdims=True))
    probability /= probability.sum(axis=1, keepdims=True)
    spread = probability @ basis
    second = np.einsum("ca,aq,ar->cqr", probability, basis, basis)
    curvature: Array = second - spread[:, :, None] * spread[:, None, :]
    return curvature


def _own(design: Array, curvature: Array, cell: NDArray[np.intp], loss: ConditionalLoss) -> Array:
    """Curvature in what is already in: the field and the neighbours' tables."""
    rows = np.bincount(cell, loss.weights, minlength=len(design)) / loss.n
    own = np.einsum("c,ck,cl,cqr->kqlr", rows, design, design, curvature, optimize=True)
    size = design.shape[1] * curvature.shape[1]
    flat: Array = own.reshape(size, size)
    return flat


def _with(split: Array, design: Array, curvature: Array, basis: Array) -> tuple[Array, Array]:
    """Curvature in a candidate's table, and across to what is already in."""
    q, width = curvature.shape[1], basis.shape[1]
    by_state = np.einsum("cx,cqr->xqr", split, curvature)
    whole = np.einsum("xk,xl,xqr->kqlr", basis, basis, by_state)
    cross = np.einsum("ck,cl,cqr->kqlr", design, split @ basis, curvature, optimize=True)
    return whole.reshape(width * q, width * q), cross.reshape(-1, width * q)


def _left_over(whole: Array, cross: Array, own: Array) -> Array:
    """A Schur complement: what is left of a curvature when others are re-optimised."""
    return whole - cross.T @ np.linalg.pinv(own, hermitian=True) @ cross
