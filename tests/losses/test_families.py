"""The losses against other libraries, and against finite differences."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression, LogisticRegression

from isinglass.errors import SettingError
from isinglass.losses import LogisticLoss, MultinomialLoss, PoissonLoss, SquaredLoss

FAMILIES = {
    "squared": SquaredLoss,
    "logistic": LogisticLoss,
    "poisson": PoissonLoss,
    "multinomial": MultinomialLoss,
}


def data(family: str, seed: int = 0, n: int = 120, p: int = 5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.1, 20, size=p) + rng.normal(size=p)
    eta = 0.3 + X[:, 0] / np.ptp(X[:, 0]) - 2 * X[:, 1] / np.ptp(X[:, 1])
    y = {
        "squared": eta + rng.normal(size=n),
        "logistic": rng.random(n) < 1 / (1 + np.exp(-eta)),
        "poisson": rng.poisson(np.exp(eta)),
        "multinomial": rng.integers(0, 3, n) + (eta > 0.5),
    }[family]
    return X, y, rng.integers(1, 4, n).astype(float)


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.mark.parametrize("intercept", [True, False])
def test_fit_is_a_minimum(family, intercept):
    X, y, w = data(family)
    loss = FAMILIES[family](X, y, w, intercept=intercept)
    fit = loss.fit([0, 1, 3])
    rng = np.random.default_rng(1)
    for _ in range(20):
        coef = np.array(fit.coef, dtype=float).reshape(loss.size, loss.width)
        coef[[0, 1, 3]] += 1e-3 * rng.normal(size=(3, loss.width)) / loss.scale[[0, 1, 3], None]
        level = fit.intercept + (1e-3 * rng.normal() if intercept else 0.0)
        assert loss.terms(loss.eta(coef, level))[0] > fit.loss - 1e-14
    assert not np.any(np.asarray(fit.coef)[[2, 4]])


def test_squared_is_least_squares():
    X, y, w = data("squared")
    fit = SquaredLoss(X, y, w).fit(range(5))
    truth = LinearRegression().fit(X, y, w)
    np.testing.assert_allclose(fit.coef, truth.coef_, rtol=1e-6)
    residual = y - truth.predict(X)
    assert fit.loss == pytest.approx(0.5 * np.average(residual**2, weights=w), abs=1e-12)


def test_logistic_is_statsmodels():
    X, y, w = data("logistic")
    truth = sm.GLM(y, sm.add_constant(X), sm.families.Binomial(), freq_weights=w).fit(tol=1e-14)
    fit = LogisticLoss(X, y, w).fit(range(5))
    np.testing.assert_allclose([fit.intercept, *fit.coef], truth.params, rtol=1e-5)
    assert fit.loss == pytest.approx(-truth.llf / w.sum(), abs=1e-10)


def test_poisson_is_statsmodels():
    X, y, w = data("poisson")
    truth = sm.GLM(y, sm.add_constant(X), sm.families.Poisson(), freq_weights=w).fit(tol=1e-14)
    fit = PoissonLoss(X, y, w).fit(range(5))
    np.testing.assert_allclose([fit.intercept, *fit.coef], truth.params, rtol=1e-5)


def test_multinomial_is_scikit_learn():
    X, y, w = data("multinomial")
    scale = X.std(axis=0)
    truth = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000, solver="newton-cg")
    truth.fit(X / scale, y, w)
    loss = MultinomialLoss(X, y, w)
    fit = loss.fit(range(5))
    probabilities = truth.predict_proba(X / scale)[
        np.arange(len(y)), np.unique(y, return_inverse=True)[1]
    ]
    assert fit.loss == pytest.approx(-np.average(np.log(probabilities), weights=w), abs=1e-8)
    centred = truth.coef_.T - truth.coef_.T.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(loss.coef_table(fit) * scale[:, None], centred, atol=1e-3)


def test_two_classes_are_logistic():
    X, y, w = data("logistic")
    one, two = LogisticLoss(X, y, w), MultinomialLoss(X, y, w)
    assert one.fit([0, 2]).loss == pytest.approx(two.fit([0, 2]).loss, abs=1e-12)
    blocks = [(1,), (3, 4)]
    np.testing.assert_allclose(
        one.gains(one.fit([0]), blocks), two.gains(two.fit([0]), blocks), atol=1e-11
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_gains_and_costs_are_minima_over_the_block_and_the_intercept(family, intercept):
    X, y, w = data(family)
    X = X / X.std(axis=0)
    loss = FAMILIES[family](X, y, w, intercept=intercept)
    fit = loss.fit([0, 1])
    q = loss.width

    def brute(block, keep):
        coef = np.array(fit.coef, dtype=float).reshape(loss.size, q)
        for j in set(range(loss.size)) - set(keep):
            coef[j] = 0.0
        size = len(block) * q + (q if intercept else 0)

        def value(theta):
            moved = coef.copy()
            moved[list(block)] += theta[: len(block) * q].reshape(-1, q)
            shift = theta[len(block) * q :] if intercept else 0.0
            return loss.terms(loss.eta(moved, np.asarray(fit.intercept) + shift))[0]

        if size == 0:
            return value(np.zeros(0))
        return minimize(value, np.zeros(size), method="BFGS", options={"gtol": 1e-9}).fun

    blocks = [(2,), (3, 4)]
    for block, gain in zip(blocks, loss.gains(fit, blocks), strict=True):
        assert gain == pytest.approx(fit.loss - brute(block, [0, 1]), abs=2e-8)
    for j, cost in zip([0, 1], loss.costs(fit, [(0,), (1,)]), strict=True):
        assert cost == pytest.approx(brute((), [1 - j]) - fit.loss, abs=2e-8)


def test_weights_are_counts(family):
    X, y, w = data(family)
    w[::7] = 0
    copies = np.repeat(np.arange(len(y)), w.astype(int))
    one, two = FAMILIES[family](X, y, w), FAMILIES[family](X[copies], y[copies])
    assert one.n == two.n
    assert one.fit([0, 1]).loss == pytest.approx(two.fit([0, 1]).loss, abs=1e-12)


def test_units_of_a_column_do_not_matter(family):
    X, y, w = data(family)
    one, two = FAMILIES[family](X, y, w), FAMILIES[family](X * [1e-6, 1e5, 1, 1, 1], y, w)
    blocks = [(0,), (1,), (2,)]
    np.testing.assert_allclose(
        one.gains(one.fit([]), blocks), two.gains(two.fit([]), blocks), atol=1e-11
    )
    assert one.fit([0, 1]).loss == pytest.approx(two.fit([0, 1]).loss, abs=1e-12)


def test_separation_gives_limits_and_finite_coefficients():
    x = np.repeat([0.0, 1.0], 20)
    y = x.copy()
    loss = LogisticLoss(np.column_stack([x, 1 - x]), y)
    start = loss.fit([])
    assert loss.gains(start, [(0,), (1,)]) == pytest.approx([np.log(2)] * 2, abs=1e-11)
    assert np.isfinite(loss.fit([0, 1]).coef).all()
    rare = PoissonLoss(x[:, None], np.where(x > 0, 0, 3))
    assert np.isfinite(rare.fit([0]).coef).all()
    # At the limit the rate of the rows with x = 1 is zero: 3 - 3 log 3 over half the rows.
    gain = rare.gains(rare.fit([]), [(0,)])[0]
    assert rare.fit([]).loss - gain == pytest.approx(0.5 * (3 - 3 * np.log(3)), abs=1e-10)


def test_constant_and_empty_designs():
    loss = SquaredLoss(np.ones((4, 1)), [1.0, 2.0, 3.0, 4.0])
    assert loss.gains(loss.fit([]), [(0,)]) == pytest.approx([0.0], abs=1e-12)
    assert np.isfinite(loss.fit([0]).coef).all()
    assert PoissonLoss(np.zeros((3, 1)), [0, 0, 0]).fit([]).loss == pytest.approx(0, abs=1e-12)
    assert LogisticLoss(np.zeros((3, 0)), [1, 1, 1]).fit([]).loss == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SquaredLoss([1.0, 2.0], [1.0, 2.0]), "X must be"),
        (lambda: SquaredLoss([[1.0], [np.nan]], [1.0, 2.0]), "NaN"),
        (lambda: SquaredLoss([[1.0]], [np.nan]), "y holds NaN"),
        (lambda: SquaredLoss([[1.0], [2.0]], [1.0, 2.0], [1.0, -1.0]), "negative"),
        (lambda: SquaredLoss([[1.0], [2.0]], [1.0, 2.0], [0.0, 0.0]), "no row"),
        (lambda: LogisticLoss([[1.0]] * 3, [1, 2, 3]), "two classes"),
        (lambda: MultinomialLoss([[1.0]] * 3, [1, 1, 1]), "at least two"),
        (lambda: PoissonLoss([[1.0]] * 3, [1, -1, 1]), "negative"),
    ],
)
def test_bad_input_is_one_sentence(make, words):
    with pytest.raises(SettingError, match=words):
        make()
