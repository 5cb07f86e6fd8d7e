"""A joint loss whose steps may be solved with the help of its whole matrix.

Conjugate gradients need many products where columns nearly determine each other. Then the matrix of
second derivatives, factorised once, is the better preconditioner, also for the places that follow.
It need not be exact: single precision takes half the time and half the memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import strsv
from scipy.linalg.lapack import spotrf

from isinglass.core.models import add_scaled
from isinglass.model.fit.blas import one_blas_thread

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from isinglass.model.fit.layout import Positions
    from isinglass.model.fit.pseudolikelihood import PseudoLikelihood

Array = NDArray[np.float64]

#: Parameters up to which the matrix is factorised.
MOST = 4000
#: Products with the curvature that the matrix takes as long as; and what one product of numbers in
#: its factors, or in a solution with them, takes relative to one number of such a product.
PATIENCE, FACTOR, SOLUTION = 60, 0.03, 0.3
#: The share of this after which the next step begins with a matrix of its own: later steps are
#: solved more exactly, and take longer. The first matrix saves a preconditioner per step besides.
FIRST, SOON = 0.15, 0.6
#: What is added to its diagonal, which is one, until factors exist in single precision.
SHIFTS = (1e-6, 1e-5, 1e-4, 1e-3)


class Sharpened:
    """The loss of `joint`, as `newton` takes it."""

    def __init__(self, joint: PseudoLikelihood) -> None:
        self._joint, self._loss = joint, joint.loss
        self._factor: Factor | None = None
        self._at, self._damping = np.zeros(0), 0.0
        self._factored_at: Array | None = None
        self._begun = self._products = 0  # of this step, since the matrix is that of this place
        self.multiply = self._loss.multiply

    def move_to(self, numbers: Array, /) -> tuple[float, Array]:
        """As in `descent.Loss`, as all that follows."""
        self._at = numbers
        return self._loss.move_to(numbers)

    def renew(self, damping: float, /) -> None:
        self._damping = damping
        soon = FIRST if self._factor is None else SOON
        if self._products - self._begun > soon * self._patience:
            self.sharpen()
        if self._factor is None:
            self._loss.renew(damping)
        else:
            self._loss.damp(damping)
        self._begun = self._products = 0

    def ease(self, slope: Array, /) -> Array:
        return self._loss.ease(slope) if self._factor is None else self._factor.solve(slope)

    def improve(self, products: int, /) -> bool:
        self._products = products + 1
        if self._products - self._begun < self._patience or not self.sharpen():
            return False
        self._begun = self._products
        return True

    @property
    def _patience(self) -> int:
        return patience_for(
            self._joint.layout.size, self._loss.numbers, factored=self._factor is not None
        )

    def sharpen(self) -> bool:
        """Factorise the matrix in this place; False where that is not possible."""
        size = self._joint.layout.size
        if size > MOST or 4 * 8 * size**2 > self._joint.memory or self._at is self._factored_at:
            return False
        basis = self._joint.layout.basis() if self._factor is None else self._factor.basis
        parts = self._joint.curvatures()
        room = None if self._factor is None else self._factor.give_room()
        self._factor = Factor(parts.values(), self._joint.ridge + self._damping, basis, room)
        self._factored_at = self._at
        return True


def patience_for(size: int, numbers: int, *, factored: bool) -> int:
    """Products in one step after which it pays to factorise a matrix of some size.

    A factor takes about size**3 / 3 products of numbers, in single precision and from the cache;
    a product with the curvature looks at so many `numbers`, here and there, and solves with the
    last factor, if there is one.

    >>> patience_for(2000, 1_800_000, factored=False), patience_for(2000, 100_000, factored=False)
    (60, 800)
    >>> patience_for(2000, 1_800_000, factored=True), patience_for(2000, 100_000, factored=True)
    (36, 62)
    """
    numbers = max(numbers, 1)
    patience = max(PATIENCE, FACTOR * size**3 / 3 / numbers)
    return round(patience / (1 + SOLUTION * size**2 / numbers if factored else 1))


class Factor:
    """A matrix of second derivatives, factorised: about its inverse, for vectors of numbers.

    The matrix is a diagonal, and parts that belong to some parameters each. `room` is that of a
    factor that is no longer needed: new memory costs time.
    """

    def __init__(
        self,
        parts: Iterable[tuple[Positions, Array]],
        diagonal: Array,
        basis: csr_matrix,
        room: NDArray[np.float32] | None = None,
    ) -> None:
        self.basis = basis
        self._back = basis.T.tocsr()
        parts, diagonal = list(parts), diagonal.copy()
        for at, part in parts:
            diagonal[at] += part.diagonal()
        # A column that no row explains has a field without curvature.
        self._scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        single = np.empty((len(diagonal),) * 2, dtype=np.float32) if room is None else room
        self._room = single
        for shift in SHIFTS:
            self._fill_scaled(single, parts)
            single[np.diag_indices(len(single))] = 1 + shift
            with one_blas_thread():
                self._lower, failed = spotrf(single.T, lower=1, overwrite_a=1, clean=0)
            if not failed:
                return
        self._lower = np.eye(len(diagonal), dtype=np.float32)

    def _fill_scaled(
        self, single: NDArray[np.float32], parts: Iterable[tuple[Positions, Array]]
    ) -> None:
        """Write the upper triangle of the matrix, but its diagonal, if that is scaled to one."""
        single.fill(0)
        for at, part in parts:
            add_scaled(single, at, part, self._scale)

    def give_room(self) -> NDArray[np.float32]:
        """The memory of this factor, which then is none."""
        return self._room

    def solve(self, slope: Array) -> Array:
        """About the inverse of the matrix times a slope."""
        right = (self._scale * (self._back @ slope)).astype(np.float32)
        half = strsv(self._lower, right, lower=1)
        whole: Array = strsv(self._lower, half, lower=1, trans=1).astype(np.float64)
        answer: Array = self.basis @ (self._scale * whole)
        return answer
