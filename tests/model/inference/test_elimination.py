"""Exact sampling and the partition function, against enumeration."""

import numpy as np
import pytest

import enumeration
from isinglass import Exact, simulate
from isinglass.errors import OutOfMemory
from isinglass.model.inference import elimination
from small_models import MODELS, any_gauge


@pytest.mark.parametrize("name", MODELS)
def test_moments(name):
    codes = MODELS[name].sample_codes(40_000, seed=1, method="exact")
    assert codes.dtype == np.uint8
    assert enumeration.standard_errors_off(MODELS[name], codes) < 4


@pytest.mark.parametrize("name", MODELS)
def test_log_partition(name):
    expected = enumeration.log_partition(MODELS[name])
    assert MODELS[name].log_partition() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_random_models(seed):
    rng = np.random.default_rng(seed)
    n_states = rng.integers(1, 4, size=rng.integers(1, 8)).tolist()
    pairs = [(i, j) for j in range(len(n_states)) for i in range(j)]
    field = any_gauge(seed, n_states, [pair for pair in pairs if rng.random() < 0.5])
    assert field.log_partition() == pytest.approx(enumeration.log_partition(field), rel=1e-12)
    codes = field.sample_codes(5000, seed=seed, method="exact")
    assert enumeration.standard_errors_off(field, codes) < 4.5


def test_strong_potentials_stay_finite():
    field = simulate.ising(simulate.grid(3, 3), coupling=800.0, signs="positive", intercept=1.0)
    assert field.log_partition() == pytest.approx(12 * 800 + 9)
    assert field.sample_codes(100, seed=0).all()


def test_transfer_matrix_of_a_long_ring():
    p, theta = 200, 0.7
    ring = simulate.small_world(p, 2, 0.0, seed=0)
    field = simulate.ising(ring, coupling=theta, signs="positive")
    larger, smaller = 2 * np.cosh(theta), 2 * np.sinh(theta)
    expected = p * np.log(larger) + np.log1p((smaller / larger) ** p)
    assert field.log_partition() == pytest.approx(expected, rel=1e-12)


def test_memory_is_refused_with_the_number():
    field = simulate.ising(simulate.grid(8, 8))
    order = elimination.plan(field, 1e9)
    needed = order.bytes_needed(100)
    with pytest.raises(OutOfMemory, match=rf"about {needed:,} bytes.* 1,000 bytes are allowed"):
        field.sample(100, method=Exact(memory=1000))
    with pytest.raises(OutOfMemory, match=f"about {order.bytes_needed():,} bytes"):
        field.log_partition(memory=1000)
    assert field.sample(100, method=Exact(memory=needed), seed=0).shape == (100, 64)


def test_a_hopeless_model_is_refused_at_once():
    field = simulate.ising(simulate.random_regular(300, 10, seed=0))
    with pytest.raises(OutOfMemory, match=r"about 10\^\d\d bytes.* take method=\"gibbs\""):
        field.sample(10, method="exact")


def test_the_prediction_covers_what_is_used():
    import tracemalloc

    field = simulate.ising(simulate.grid(13, 13), seed=0)
    order = elimination.plan(field, 1e9)
    tracemalloc.start()
    elimination.draw(field, order, 2000, np.random.default_rng(0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 0.2 * order.bytes_needed(2000) < peak < order.bytes_needed(2000) + 2e6
