"""Products with X, in every form that X may have."""

import numpy as np
import pytest
from scipy import sparse

from isinglass.core import use_instructions
from isinglass.core.regression import column_moments
from isinglass.errors import SettingError
from isinglass.losses import SquaredLoss
from isinglass.losses.design import read_design

FORMS = {
    "by row": np.ascontiguousarray,
    "by column": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float32 by column": lambda X: np.asfortranarray(X, dtype=np.float32),
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "csr matrix": sparse.csr_matrix,
}


@pytest.fixture(params=FORMS)
def form(request):
    return FORMS[request.param]


def numbers(n=37, p=23, seed=0):
    """Numbers that float32 holds exactly, many of them zero."""
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(n, p)) * 8) / 8 * (rng.random((n, p)) < 0.6) + 0.0


@pytest.mark.parametrize(("n", "p"), [(37, 23), (1, 1), (2100, 3), (5, 1030)])
def test_sums_are_those_of_numpy(form, n, p):
    X = numbers(n, p)
    design = read_design(form(X))
    rng = np.random.default_rng(1)
    values, weights, share = rng.normal(size=(n, 2)), rng.random((n, 3)), rng.random(n)
    np.testing.assert_allclose(design.products(values), X.T @ values, atol=1e-12)
    mean = share @ X / share.sum()
    np.testing.assert_allclose(design.squares(share, mean), share @ (X - mean) ** 2, atol=1e-12)
    design.centre_by(share / share.sum())
    Z = X - design.centre
    for w in (weights, weights[:, :1]):
        for v in (values, values[:, :1]):
            slopes, first, second = design.moments(v, w)
            np.testing.assert_allclose(slopes, Z.T @ v, atol=1e-11)
            np.testing.assert_allclose(first, Z.T @ w, atol=1e-11)
            np.testing.assert_allclose(second, (Z**2).T @ w, atol=1e-11)


def test_columns_and_extremes(form):
    X = numbers()
    design = read_design(form(X))
    np.testing.assert_array_equal(design.columns([3, 1]), X[:, [3, 1]])
    np.testing.assert_array_equal(design.low, X.min(axis=0))
    np.testing.assert_array_equal(design.high, X.max(axis=0))
    coef = np.zeros((23, 2))
    coef[[2, 7]] = [[1.0, 2.0], [3.0, -1.0]]
    np.testing.assert_allclose(design.predictor(coef), X @ coef, atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_are_not_copied(order, dtype):
    X = np.array(numbers(), order=order, dtype=dtype)
    assert np.shares_memory(SquaredLoss(X, X[:, 0]).design.X, X)


def test_every_instruction_set_gives_the_same_sums():
    X, rng = numbers(50, 70), np.random.default_rng(0)
    once, twice = rng.normal(size=(2, 50)), rng.random((1, 50))
    for form in (np.ascontiguousarray(X), np.asfortranarray(X)):
        sums = []
        for name in ("portable", "best"):
            use_instructions(name)
            for threads in (1, 3):
                sums.append(column_moments(form, X[0], once, twice, threads=threads))
        for other in sums[1:]:
            np.testing.assert_array_equal(other, sums[0])


def test_the_core_refuses_what_does_not_fit():
    X = numbers()
    with pytest.raises(ValueError, match="one centre per column"):
        column_moments(X, np.zeros(3), np.zeros((1, 37)), np.zeros((1, 37)), threads=1)
    with pytest.raises(ValueError, match="without gaps"):
        column_moments(X[::2], X[0], np.zeros((1, 19)), np.zeros((1, 19)), threads=1)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([["a"], ["b"]], "numbers only"),
        ([[1.0], [np.inf]], "NaN or infinite"),
        (sparse.csr_array([[1.0], [np.nan]]), "NaN or infinite"),
        ([1.0, 2.0], "must be"),
    ],
)
def test_bad_columns_are_refused_in_a_sentence(X, words):
    with pytest.raises(SettingError, match=words):
        SquaredLoss(X, [1.0, 2.0])
