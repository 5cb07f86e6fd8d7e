"""The outside of the sandwich: the inverse of the second derivatives, where the rows determine it.

Directions that only the ridge holds are *flat*, and left out. Where they are few, the matrix is
factorised and they are taken away; where they are many, as in tables of many states that are never
seen together, all is computed with the other directions, which are few.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dsygst, dtrtri

from isinglass.model.fit.blas import blas_threads_for, from_lower, one_blas_thread

Array = NDArray[np.float64]

#: Flat directions that are looked for at first, and the share of all directions where looking ends.
FLAT, SHARE = 16, 1 / 16
#: Rounds of inverse iteration, and how far above the limit the steepest direction must be: each
#: round leaves at most the inverse of that.
ROUNDS, FAR_ABOVE = 3, 100.0
#: The size from which finding some eigenvectors takes less than finding all.
LARGE = 1000


class Bread(ABC):
    """The symmetric matrix on both sides of the sandwich."""

    @abstractmethod
    def matrix(self) -> Array:
        """The matrix itself."""

    @abstractmethod
    def around(self, scores: Iterator[Array]) -> Array:
        """The squares of all scores added up, with the matrix on both sides."""

    @abstractmethod
    def flat_shares(self) -> Array:
        """Which share of each parameter, from 0 to 1, lies in flat directions."""


def bread_of(hessian: Array, limit: float) -> Bread:
    """The inverse of a matrix on its directions with eigenvalues above a limit."""
    with one_blas_thread():
        factor, failed = dpotrf(hessian, lower=1)
        found = None if failed else _few_flat(hessian, factor, limit)
        if found is None:
            return Spectral(*_above(hessian, limit))
        values, flat = found
        if len(values):  # made steep, they disturb the others no longer
            factor, _ = dpotrf(hessian + flat * (1.0 - values) @ flat.T, lower=1)
        return Factorised(factor, flat)


def _few_flat(hessian: Array, factor: Array, limit: float) -> tuple[Array, Array] | None:
    """Eigenvalues up to a limit, and their vectors; None if they may be more than a few.

    Those of the rows are far larger, so that a few rounds of inverse iteration of a block of
    vectors are enough, if it is wide enough to have a part in what is not flat.
    """
    # As a rule there is a flat direction for each pivot below the limit.
    if np.count_nonzero(np.square(np.diag(factor)) <= limit) > SHARE * len(hessian):
        return None
    rng, width = np.random.default_rng(0), FLAT
    while width <= SHARE * len(hessian):
        block = rng.standard_normal((len(hessian), width))
        for _ in range(ROUNDS):
            block = np.linalg.qr(dpotrs(factor, block, lower=1)[0])[0]
        values, rotation = np.linalg.eigh(block.T @ hessian @ block)
        if values[-1] > FAR_ABOVE * limit:
            kept = values <= limit
            return values[kept], block @ rotation[:, kept]
        width *= 4
    return None


def _above(hessian: Array, limit: float) -> tuple[Array, Array]:
    """Eigenvalues above a limit, and their vectors."""
    if len(hessian) > LARGE:
        values, vectors = eigh(hessian, subset_by_value=(limit, np.inf), driver="evr")
        return values, vectors
    values, vectors = np.linalg.eigh(hessian)
    return values[values > limit], vectors[:, values > limit]


@dataclass(frozen=True, eq=False)
class Factorised(Bread):
    """By a factor of the matrix, in which flat directions are steep, and by these."""

    factor: Array
    flat: Array

    def matrix(self) -> Array:
        """The matrix itself."""
        return from_lower(dpotri(self.factor, lower=1)[0]) - self.flat @ self.flat.T

    def around(self, scores: Iterator[Array]) -> Array:
        """The squares of all scores added up, with the matrix on both sides.

        The factor's inverse goes on both sides, then its transpose, which takes less than
        products with the inverse of the matrix.
        """
        with blas_threads_for(len(self.factor)):
            squares = self._without_flat(squares_of(scores, len(self.factor)))
            squares, _ = dsygst(squares.T, self.factor, itype=1, lower=1, overwrite_a=1)
            inverse, _ = dtrtri(self.factor, lower=1)
            return from_lower(dsygst(squares, inverse, itype=2, lower=1, overwrite_a=1)[0])

    def _without_flat(self, squares: Array) -> Array:
        """What is left of some squares if no score has a part in flat directions."""
        if not self.flat.size:
            return squares
        across = squares @ self.flat
        once = across @ self.flat.T
        rest: Array = squares - once - once.T + self.flat @ (self.flat.T @ across) @ self.flat.T
        return rest

    def flat_shares(self) -> Array:
        """Which share of each parameter, from 0 to 1, lies in flat directions."""
        return np.asarray(np.square(self.flat).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Spectral(Bread):
    """By the directions that are not flat, and their eigenvalues."""

    values: Array
    vectors: Array

    def matrix(self) -> Array:
        """The matrix itself."""
        return np.asarray(self.vectors / self.values @ self.vectors.T)

    def around(self, scores: Iterator[Array]) -> Array:
        """The squares of all scores added up, with the matrix on both sides."""
        scaled = self.vectors / self.values
        with one_blas_thread():
            squares = squares_of((block @ scaled for block in scores), len(self.values))
            return from_lower(self.vectors @ squares @ self.vectors.T)

    def flat_shares(self) -> Array:
        """Which share of each parameter, from 0 to 1, lies in flat directions."""
        return np.asarray(1.0 - np.square(self.vectors).sum(axis=1))


def squares_of(blocks: Iterator[Array], size: int) -> Array:
    """The squares of all rows of some blocks, added up: a matrix of this size.

    >>> squares_of(iter([np.array([[1.0, 2.0]]), np.array([[0.0, 1.0]])]), 2).tolist()
    [[1.0, 2.0], [2.0, 5.0]]
    """
    total = np.zeros((size, size), order="F")
    for block in blocks:
        if block.size:  # as LAPACK has it, column by column, without a copy
            a, turned = (block, 1) if block.flags.f_contiguous else (block.T, 0)
            total = dsyrk(1.0, a, trans=turned, beta=1.0, c=total, lower=1, overwrite_c=1)
    return from_lower(total)
