"""The zero-sum gauge: one fixed, coding-free way to write effects of m states."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray


@cache
def zero_sum_basis(m: int) -> NDArray[np.float64]:
    """Orthonormal basis (m, m-1) of the vectors of length m that sum to zero.

    A table of effects is ``basis_r @ B @ basis_t.T``; its squared entries sum to those of B,
    so a ridge on B does not depend on how the states are coded.

    >>> zero_sum_basis(2).round(4).tolist()
    [[-0.7071], [0.7071]]
    """
    basis = np.zeros((m, max(m - 1, 0)))
    for k in range(1, m):
        basis[:k, k - 1] = -1.0
        basis[k, k - 1] = k
        basis[:, k - 1] /= np.sqrt(k * (k + 1))
    basis.setflags(write=False)
    return basis
