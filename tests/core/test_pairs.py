"""Least losses over one column and the intercept, against a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from isinglass.core.regression import least_pairs, row_terms
from isinglass.losses import LogisticLoss, PoissonLoss

CASES = [(kind, intercept) for kind in (LogisticLoss, PoissonLoss) for intercept in (True, False)]


def random_case(kind, intercept, seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(5, 60)), 4
    columns = rng.normal(size=(m, n))
    columns[1] = columns[1] > 0.5
    y = rng.integers(0, 2, n) if kind is LogisticLoss else rng.poisson(1.0, n)
    y[:2] = 0, 1
    weights = rng.integers(1, 4, n).astype(float)
    held = rng.normal(size=n)
    return kind(columns.T, y, weights, intercept=intercept), columns, held


@pytest.mark.parametrize(("kind", "intercept"), CASES)
@pytest.mark.parametrize("seed", range(8))
def test_against_a_general_optimiser(kind, intercept, seed):
    loss, columns, held = random_case(kind, intercept, seed)
    reach = np.abs(columns).max(axis=1)
    settings = {"poisson": kind is PoissonLoss, "intercept": intercept}
    least, levels, coefs = least_pairs(columns, reach, held, loss.y, loss.share, **settings)
    for at, column in enumerate(columns):
        Z = np.column_stack([np.ones(len(held)), column]) if intercept else column[:, None]

        def value(x, Z=Z):
            return loss.terms((held + Z @ x)[:, None])[0]

        found = minimize(value, np.zeros(Z.shape[1]), method="BFGS", options={"gtol": 1e-9})
        assert least[at] <= found.fun + 1e-10
        assert least[at] == pytest.approx(found.fun, abs=1e-6)
        there = held + levels[at] + coefs[at] * column
        assert least[at] == pytest.approx(loss.terms(there[:, None])[0], abs=1e-12)
        assert intercept or levels[at] == 0.0


@pytest.mark.parametrize(("kind", "intercept"), CASES)
@pytest.mark.parametrize("seed", range(8))
def test_a_race_gives_up_only_who_cannot_win(kind, intercept, seed):
    loss, columns, held = random_case(kind, intercept, seed)
    reach = np.abs(columns).max(axis=1)
    settings = {"poisson": kind is PoissonLoss, "intercept": intercept}
    alone = least_pairs(columns, reach, held, loss.y, loss.share, **settings)[0]
    raced = least_pairs(columns, reach, held, loss.y, loss.share, bar=0.0, **settings)[0]
    best = int(np.argmin(alone))
    assert raced[best] == alone[best]
    assert ((raced == alone) | (np.isinf(raced) & (alone > alone.min() + 1e-9))).all()
    start = loss.terms(held[:, None])[0]
    none = least_pairs(columns, reach, held, loss.y, loss.share, bar=2 * start + 100.0, **settings)[
        0
    ]
    assert (np.isinf(none) | (none == alone)).all()


def test_a_predictor_of_its_own_for_each_problem():
    loss, columns, _ = random_case(LogisticLoss, True, 3)
    held = np.random.default_rng(0).normal(size=columns.shape)
    ones = np.ones((1, columns.shape[1]))
    together = least_pairs(
        ones, np.ones(1), held, loss.y, loss.share, poisson=False, intercept=False
    )[0]
    apart = [
        least_pairs(ones, np.ones(1), one, loss.y, loss.share, poisson=False, intercept=False)[0, 0]
        for one in held
    ]
    assert together.tolist() == apart


def test_separation_has_its_limit():
    """The loss falls to zero at infinity."""
    x = np.array([[-2.0, -1.0, 1.0, 3.0]])
    y, share = np.array([0.0, 0, 1, 1]), np.full(4, 0.25)
    least = least_pairs(x, np.array([3.0]), np.zeros(4), y, share, poisson=False, intercept=True)
    assert 0 <= least[0, 0] < 1e-9


@pytest.mark.parametrize("kind", [LogisticLoss, PoissonLoss])
def test_row_terms(kind):
    loss, _, held = random_case(kind, True, 5)
    far = np.concatenate([held * 10, [30.0, -30.0, 0.0]])[-len(held) :]
    value, slope, curvature = row_terms(
        far, loss.y.astype(float), loss.share, poisson=kind is PoissonLoss
    )
    plain = loss.terms(far[:, None])
    assert value == pytest.approx(plain[0], rel=1e-13)
    np.testing.assert_allclose(slope, plain[1][:, 0], rtol=1e-12, atol=1e-17)
    np.testing.assert_allclose(curvature, plain[2][:, 0, 0], rtol=1e-12, atol=1e-17)


def test_shapes_are_checked():
    one = np.ones((1, 3))
    with pytest.raises(ValueError, match="one number per row"):
        least_pairs(
            one, np.ones(1), np.ones(2), np.ones(3), np.ones(3), poisson=False, intercept=True
        )
    with pytest.raises(ValueError, match="one column and one predictor"):
        least_pairs(
            np.ones((2, 3)), np.ones(2), np.ones((3, 3)), np.ones(3), np.ones(3),
            poisson=False, intercept=True,
        )  # fmt: skip
