"""The joint loss where some edges may be combinations of a few tables only.

The core knows a number per pair of states of every edge. Here an edge with a design has a number
per table of its design instead, so that the loss is looked at, and minimised, within what the forms
of the edges allow. Designs are orthonormal, so that ridge, slopes and curvature carry over.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array, eye_array

from isinglass.model.fit.descent import Loss
from isinglass.model.fit.layout import Layout

Array = NDArray[np.float64]


class Restricted:
    """A loss of the numbers of a layout, as one of its fields, whole tables and coefficients."""

    def __init__(self, loss: Loss, layout: Layout) -> None:
        self._loss, self._spread = loss, _spread(layout)
        self._gathered = csr_array(self._spread.T)

    def inside(self, numbers: Array) -> Array:
        """What is left of numbers, or slopes, within the forms of the edges."""
        return np.asarray(self._gathered @ numbers)

    def numbers(self, inside: Array) -> Array:
        """One number per state of each column, then one per pair of states of each edge."""
        return np.asarray(self._spread @ inside)

    def move_to(self, inside: Array) -> tuple[float, Array]:
        value, slope = self._loss.move_to(self.numbers(inside))
        return value, self.inside(slope)

    def multiply(self, direction: Array) -> Array:
        return self.inside(self._loss.multiply(self.numbers(direction)))

    def renew(self, damping: float) -> None:
        self._loss.renew(damping)

    def improve(self, products: int) -> bool:
        return self._loss.improve(products)

    def ease(self, slope: Array) -> Array:
        return self.inside(self._loss.ease(self.numbers(slope)))


def _spread(layout: Layout) -> csr_array:
    """From coefficients to numbers: orthonormal columns."""
    blocks = [eye_array(sum(layout.n_states))]
    for i, j in layout.edges:
        design = layout.designs.get((i, j))
        size = layout.n_states[i] * layout.n_states[j]
        blocks.append(eye_array(size) if design is None else design.reshape(-1, size).T)
    return csr_array(block_diag(blocks))
