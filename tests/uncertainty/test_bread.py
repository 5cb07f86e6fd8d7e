"""The inverse of second derivatives, compared with all eigenvectors."""

import numpy as np
import pytest

from isinglass.uncertainty.bread import Factorised, Spectral, bread_of, squares_of

LIMIT = 1e-6


def matrix(size, flat, seed):
    """A symmetric matrix with so many eigenvalues below the limit, and all its eigenvectors."""
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.standard_normal((size, size)))[0]
    values = 10 ** rng.uniform(-3, 0, size)
    values[:flat] = 10 ** rng.uniform(-8, -6.5, flat)
    return vectors * values @ vectors.T, values, vectors


@pytest.mark.parametrize(
    ("size", "flat", "kind"),
    [
        (3, 0, Spectral),
        (40, 2, Spectral),
        (300, 0, Factorised),
        (300, 5, Factorised),
        (300, 16, Spectral),  # as many as the first block is wide
        (300, 250, Spectral),
        (1100, 40, Factorised),  # found by the second block
        (1100, 900, Spectral),
        (60, 60, Spectral),
    ],
)
def test_it_is_the_inverse_on_what_is_not_flat(size, flat, kind):
    hessian, values, vectors = matrix(size, flat, size + flat)
    kept = vectors[:, flat:]
    inverse = kept / values[flat:] @ kept.T
    bread = bread_of(hessian, LIMIT)
    assert isinstance(bread, kind)
    near = {"rtol": 1e-7, "atol": 1e-7 * np.abs(inverse).max(initial=1.0)}
    np.testing.assert_allclose(bread.matrix(), inverse, **near)
    np.testing.assert_allclose(bread.flat_shares(), 1 - np.square(kept).sum(axis=1), atol=1e-6)
    rows = np.random.default_rng(size).standard_normal((70, size))
    around = inverse @ (rows.T @ rows) @ inverse
    near["atol"] = 1e-7 * np.abs(around).max(initial=1.0)
    np.testing.assert_allclose(bread.around(iter(np.split(rows, 7))), around, **near)


def test_a_matrix_without_a_factor():
    """Rounding can make the least eigenvalues negative."""
    hessian, values, vectors = matrix(80, 10, 0)
    hessian -= 1e-7 * vectors[:, :10] @ vectors[:, :10].T
    assert np.linalg.eigvalsh(hessian)[0] < 0
    inverse = vectors[:, 10:] / values[10:] @ vectors[:, 10:].T
    np.testing.assert_allclose(bread_of(hessian, LIMIT).matrix(), inverse, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("order", ["C", "F"])
def test_squares(order):
    rows = np.asarray(np.random.default_rng(0).standard_normal((50, 9)), order=order)
    found = squares_of(iter([rows[:20], rows[20:21], rows[21:]]), 9)
    np.testing.assert_allclose(found, rows.T @ rows, rtol=1e-12)
    assert squares_of(iter([rows[:, :0]]), 0).shape == (0, 0)
