"""Slope and curvature of a profiled loss, against differences of plain minima."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from isinglass import losses
from isinglass.errors import SettingError
from isinglass.losses.forms import zero_sum_basis
from isinglass.theorem.curvature import (
    MOST_COEFFICIENTS,
    check_size,
    column_instance,
    loss_instance,
)

SEEDS = range(12)


def small_column(seed):
    rng = np.random.default_rng(seed)
    n_states = tuple(rng.integers(2, 4, 4).tolist())
    codes = np.column_stack([rng.integers(0, m, 60) for m in n_states])
    weights = rng.integers(1, 4, 60).astype(float)
    r = int(rng.integers(4))
    tables = {}
    for t in rng.permutation([t for t in range(4) if t != r])[:2].tolist():
        a, b = zero_sum_basis(n_states[r]), zero_sum_basis(n_states[t])
        tables[t] = a @ rng.normal(size=(a.shape[1], b.shape[1])) @ b.T
    return codes, weights, n_states, r, tables


def plain_value(codes, weights, n_states, r, flat, intercept):
    """The least mean loss over the intercept, written out."""
    own = zero_sum_basis(n_states[r])
    others = [t for t in range(len(n_states)) if t != r]
    scores, at = np.zeros((len(codes), n_states[r])), 0
    for t in others:
        basis = zero_sum_basis(n_states[t])
        size = basis.shape[1] * own.shape[1]
        coef = flat[at : at + size].reshape(basis.shape[1], own.shape[1])
        scores += (basis @ coef @ own.T)[codes[:, t]]
        at += size

    def mean_loss(level):
        shifted = scores + own @ level
        own_score = shifted[np.arange(len(codes)), codes[:, r]]
        return np.average(logsumexp(shifted, axis=1) - own_score, weights=weights)

    if not intercept:
        return mean_loss(np.zeros(own.shape[1]))
    options = {"gtol": 1e-12}
    return minimize(mean_loss, np.zeros(own.shape[1]), options=options, method="BFGS").fun


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_slope_and_curvature_of_a_column(seed, intercept):
    codes, weights, n_states, r, tables = small_column(seed)
    instance = column_instance(codes, weights, n_states, r, tables, intercept=intercept)
    slope, curvature = instance.slope_and_curvature()
    flat = instance.coef.ravel()
    rng = np.random.default_rng(seed)
    v = rng.normal(size=len(flat))

    def along(h):
        return plain_value(codes, weights, n_states, r, flat + h * v, intercept)

    h = 1e-3
    assert slope @ v == pytest.approx((along(h) - along(-h)) / (2 * h), rel=1e-4, abs=1e-6)
    second = (along(h) - 2 * along(0.0) + along(-h)) / h**2
    assert v @ curvature @ v == pytest.approx(second, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_size_of_a_link_is_the_norm_of_its_table(seed):
    codes, weights, n_states, r, tables = small_column(seed)
    instance = column_instance(codes, weights, n_states, r, tables)
    others = [t for t in range(4) if t != r]
    sizes = dict(zip(others, instance.sizes, strict=True))
    assert {t: sizes[t] for t in tables} == pytest.approx(
        {t: np.linalg.norm(table) for t, table in tables.items()}
    )
    assert [others[at] for at in instance.support] == sorted(tables)


def moved(instance, change):
    from dataclasses import replace

    return replace(instance, coef=instance.coef + change.reshape(instance.coef.shape))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed", range(30))
def test_curvature_changes_by_no_more_than_the_reach_says(seed, intercept):
    codes, weights, n_states, r, tables = small_column(seed)
    instance = column_instance(codes, weights, n_states, r, tables, intercept=intercept)
    rng = np.random.default_rng(seed)
    change = rng.normal(size=instance.coef.size) * rng.choice([0.05, 0.3, 1.0])
    length = sum(np.linalg.norm(change[block]) for block in instance.blocks)
    factor = np.exp(-instance.reach * length)
    _, before = instance.slope_and_curvature()
    _, after = moved(instance, change).slope_and_curvature()
    most = instance.largest_curvature()
    assert np.linalg.eigvalsh(after - factor * before)[0] > -1e-10
    assert np.linalg.eigvalsh(before / factor - after)[0] > -1e-10
    assert np.linalg.eigvalsh(most - after)[0] > -1e-10


def regressions(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4)) + rng.normal(size=4)
    eta = X[:, 0] - X[:, 1]
    weights = rng.integers(1, 3, 40).astype(float)
    intercept = bool(seed % 2)
    yield losses.SquaredLoss(X, eta + rng.normal(size=40), weights, intercept=intercept)
    yield losses.LogisticLoss(X, eta + rng.logistic(size=40) > 0, weights, intercept=intercept)
    yield losses.PoissonLoss(X, rng.poisson(np.exp(eta / 4)), weights, intercept=intercept)
    label = np.arange(40) % 3
    yield losses.MultinomialLoss(X, label, weights, intercept=intercept)


@pytest.mark.parametrize("seed", range(10))
def test_regressions_have_the_same_bounds(seed):
    rng = np.random.default_rng(seed)
    for loss in regressions(seed):
        coef = rng.normal(size=(loss.size, loss.width)) / 2
        instance = loss_instance(loss, coef, [(j,) for j in range(loss.size)])
        change = 0.2 * rng.normal(size=coef.size)
        length = sum(np.linalg.norm(change[block]) for block in instance.blocks)
        factor = np.exp(-instance.reach * length)
        slope, before = instance.slope_and_curvature()
        _, after = moved(instance, change).slope_and_curvature()
        scale = np.abs(before).max()
        assert np.linalg.eigvalsh(after - factor * before)[0] > -1e-9 * scale
        if np.isfinite(instance.ceiling):
            assert np.linalg.eigvalsh(instance.largest_curvature() - after)[0] > -1e-9 * scale
        fitted = loss.fit(range(loss.size))
        there = loss_instance(loss, fitted.coef, instance.groups)
        assert np.abs(there.slope()).max() < 1e-6
        assert slope.shape == (coef.size,)


def test_hubers_loss_has_no_radius():
    X = np.random.default_rng(0).normal(size=(20, 2))
    instance = loss_instance(losses.HuberLoss(X, X[:, 0]), np.array([1.0, 0.0]), [(0,), (1,)])
    assert instance.reach == np.inf


def test_another_loss_is_refused():
    class Other(losses.SquaredLoss):
        pass

    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(SettingError, match="not for a Other"):
        loss_instance(Other(X, X[:, 0]), np.zeros(2), [(0,), (1,)])


def test_too_many_coefficients_are_refused():
    with pytest.raises(SettingError, match="4,001 coefficients"):
        check_size(MOST_COEFFICIENTS + 1)
