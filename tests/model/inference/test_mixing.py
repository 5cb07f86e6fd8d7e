"""R-hat and effective sample size where the truth is known, and when they speak up."""

import warnings

import numpy as np
import pytest

from isinglass import Gibbs, simulate
from isinglass.errors import PoorMixing
from isinglass.model.inference.mixing import effective_size, r_hat, split


def autoregressive(rho: float, chains: int, length: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    draws = np.empty((chains, length))
    draws[:, 0] = rng.normal(size=chains)
    for t in range(1, length):
        draws[:, t] = rho * draws[:, t - 1] + np.sqrt(1 - rho**2) * rng.normal(size=chains)
    return draws


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.7, 0.9])
def test_effective_size_of_an_autoregression(rho):
    draws = autoregressive(rho, 32, 2000)
    assert effective_size(split(draws)) == pytest.approx(
        draws.size * (1 - rho) / (1 + rho), rel=0.1
    )


def test_r_hat_by_hand():
    # Variances within 1/3, 1/3; means 1/2 and 3/2, so 1/3 * 3/4 + 1/2 over 1/3.
    draws = np.array([[0.0, 1, 0, 1], [1, 2, 1, 2]])
    assert r_hat(draws) == pytest.approx(np.sqrt(2.25))


def test_chains_that_agree_and_chains_that_do_not():
    draws = autoregressive(0.2, 32, 200)
    assert r_hat(split(draws)) < 1.01
    apart = draws + np.repeat([-1.0, 1.0], 16)[:, None]
    assert r_hat(split(apart)) > 1.3
    assert effective_size(split(apart)) < 200
    drifting = draws + np.linspace(0, 3, 200)
    assert r_hat(split(drifting)) > 1.2


def test_a_quantity_that_never_moves():
    assert r_hat(np.ones((4, 10))) == 1
    assert effective_size(np.ones((4, 10))) == 40
    assert r_hat(np.repeat([[0.0], [1.0]], 10, axis=1)) == np.inf


@pytest.mark.parametrize("signs", ["mixed", "positive"])
@pytest.mark.parametrize("n", [20, 3000])
def test_a_good_model_is_silent(signs, n):
    field = simulate.ising(simulate.grid(8, 8), coupling=0.25, signs=signs, intercept=0.1, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        field.sample_codes(n, seed=1, method="gibbs")


def test_columns_that_hardly_move_are_no_alarm():
    field = simulate.ising(simulate.chain(30), coupling=0.2, intercept=(-4, 4), seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        field.sample_codes(2000, seed=1, method="gibbs")


def test_a_model_that_does_not_mix():
    field = simulate.ising(simulate.grid(8, 8), coupling=0.8, signs="positive")
    with pytest.warns(PoorMixing, match=r"R-hat is \d.*raise burn_in \(now 1000\)") as caught:
        field.sample_codes(1000, seed=1, method="gibbs")
    assert caught[0].filename == __file__


def test_a_model_that_mixes_slowly():
    field = simulate.ising(simulate.grid(5, 5), coupling=0.38, signs="positive")
    with pytest.warns(PoorMixing, match=r"sample size of 5,024 draws is .*raise thin \(now 1\)"):
        field.sample(5000, seed=1, method=Gibbs(thin=1))
