"""A joint loss whose steps may be solved with the help of its whole matrix.

Conjugate gradients need many products where columns nearly determine each other. Then the matrix of
second derivatives, factorised once, is the better preconditioner, also for the places that follow.
It need not be exact: single precision takes half the time and half the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import strsv
from scipy.linalg.lapack import spotrf
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from isinglass.model.fit.pseudolikelihood import PseudoLikelihood

Array = NDArray[np.float64]

#: Parameters up to which the matrix is factorised.
MOST = 4000
#: The least number of products after which the matrix may be factorised, and what one product of
#: numbers in that takes, relative to one number of a product with the curvature.
PATIENCE, FACTOR = 60, 0.03
#: What is added to its diagonal, which is one, until factors exist in single precision.
SHIFTS = (1e-6, 1e-5, 1e-4, 1e-3)


class Sharpened:
    """The loss of `joint`, as `newton` takes it."""

    def __init__(self, joint: PseudoLikelihood) -> None:
        self._joint, self._loss = joint, joint.loss
        self._factor: Factor | None = None
        self._at, self._damping = np.zeros(0), 0.0
        self._factored_at: Array | None = None
        self._patience = patience_for(joint.layout.size, joint.loss.numbers)
        self.multiply = self._loss.multiply

    def move_to(self, numbers: Array, /) -> tuple[float, Array]:
        """As in `descent.Loss`, as all that follows."""
        self._at = numbers
        return self._loss.move_to(numbers)

    def renew(self, damping: float, /) -> None:
        if self._factor is None or damping != self._damping:
            self._loss.renew(damping)
        self._damping = damping

    def ease(self, slope: Array, /) -> Array:
        return self._loss.ease(slope) if self._factor is None else self._factor.solve(slope)

    def improve(self, products: int, /) -> bool:
        return products % self._patience == self._patience - 1 and self.sharpen()

    def sharpen(self) -> bool:
        """Factorise the matrix in this place; False where that is not possible."""
        size = self._joint.layout.size
        if size > MOST or 4 * 8 * size**2 > self._joint.memory or self._at is self._factored_at:
            return False
        matrix = self._joint.matrix(self._at)
        matrix[np.diag_indices(size)] += self._damping
        basis = self._joint.layout.basis() if self._factor is None else self._factor.basis
        self._factor, self._factored_at = Factor(matrix, basis), self._at
        return True


def patience_for(size: int, numbers: int) -> int:
    """Products in one step after which it pays to factorise a matrix of some size.

    A factor takes about size**3 / 3 products of numbers, in single precision and from the cache;
    a product with the curvature looks at so many `numbers`, here and there.

    >>> patience_for(2000, 1_800_000), patience_for(2000, 100_000)
    (60, 800)
    """
    return max(PATIENCE, round(FACTOR * size**3 / 3 / max(numbers, 1)))


class Factor:
    """A matrix of second derivatives, factorised: about its inverse, for vectors of numbers."""

    def __init__(self, matrix: Array, basis: csr_matrix) -> None:
        self.basis = basis
        self._back = basis.T.tocsr()
        diagonal = np.diag(matrix)
        # A column that no row explains has a field without curvature.
        self._scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled = matrix * self._scale[:, None] * self._scale
        for shift in SHIFTS:
            single = np.asfortranarray(scaled, dtype=np.float32)
            single[np.diag_indices(len(single))] = 1 + shift
            with threadpool_limits(1, "blas"):  # to wake other threads takes longer
                self._lower, failed = spotrf(single, lower=1, overwrite_a=1)
            if not failed:
                return
        self._lower = np.eye(len(scaled), dtype=np.float32)

    def solve(self, slope: Array) -> Array:
        """About the inverse of the matrix times a slope."""
        right = (self._scale * (self._back @ slope)).astype(np.float32)
        half = strsv(self._lower, right, lower=1)
        whole: Array = strsv(self._lower, half, lower=1, trans=1).astype(np.float64)
        answer: Array = self.basis @ (self._scale * whole)
        return answer
