"""Counts of bits against numpy, by every instruction set."""

import numpy as np
import pytest

from isinglass.core import _core, pair_counts, use_instructions

SIZES = [1, 2, 7, 63, 64, 65, 127, 128, 129, 255, 256, 257, 8191, 8192, 33_000]
SETS = ["portable", "popcnt", "avx2", "avx512"]


@pytest.fixture(params=SETS)
def instruction_set(request):
    try:
        use_instructions(request.param)
    except ValueError:
        pytest.skip(f"this machine has no {request.param}")
    yield
    use_instructions("best")


def crossed(a: np.ndarray, b: np.ndarray, weights: np.ndarray, shape: tuple[int, int]):
    counts = np.zeros(shape)
    np.add.at(counts, (a, b), weights)
    return counts


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("n", SIZES)
def test_pair_counts(n):
    rng = np.random.default_rng(n)
    states = [2, 3, 21]
    codes = np.column_stack([rng.integers(0, m, size=n) for m in states])
    for a, b in ((0, 1), (1, 0), (2, 1), (2, 2)):
        counts = pair_counts(codes, states, a, b)
        truth = crossed(codes[:, a], codes[:, b], np.ones(n), (states[a], states[b]))
        np.testing.assert_array_equal(counts, truth)


def weighted(codes: np.ndarray, weights: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    codes = np.asfortranarray(codes, dtype=np.uint8)
    counts = _core.pair_counts(codes, np.array(shape, np.int32), weights, 0, 1)
    return counts.reshape(shape)


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("most", [1, 2, 7, 255, 256, 1000, 10**9])
@pytest.mark.parametrize("n", [1, 64, 129, 300])
def test_counts_by_whole_weights_are_exact(n, most):
    rng = np.random.default_rng(n + most)
    codes = np.column_stack([rng.integers(0, 4, size=n), rng.integers(0, 2, size=n)])
    weights = rng.integers(0, most + 1, size=n).astype(float)
    weights[-1] = most
    truth = crossed(*codes.T, weights, (4, 2))
    np.testing.assert_array_equal(weighted(codes, weights, (4, 2)), truth)


@pytest.mark.parametrize("n", [1, 64, 129, 300])
def test_counts_by_real_weights(n):
    rng = np.random.default_rng(n)
    codes = np.column_stack([rng.integers(0, 4, size=n), rng.integers(0, 2, size=n)])
    weights = np.exp(4 * rng.normal(size=n))
    truth = crossed(*codes.T, weights, (4, 2))
    np.testing.assert_allclose(weighted(codes, weights, (4, 2)), truth, rtol=1e-13)


def test_all_256_codes():
    codes = np.column_stack([np.arange(512) % 256, np.arange(512) // 256])
    counts = pair_counts(codes, [256, 2], 0, 1)
    np.testing.assert_array_equal(counts, np.ones((256, 2)))


def search(codes: np.ndarray, states: list[int], weights: np.ndarray, targets: list[int]):
    codes = np.asfortranarray(codes, dtype=np.uint8)
    states, targets = np.array(states, np.int32), np.array(targets, np.int64)
    all_states, nobody = np.empty(0, np.int32), np.empty(0, np.int64)
    settings = (np.empty(0), 1.0, None, np.inf, 0.1, 0.5, True, -1, 1, False, None)
    prepared = _core.prepare(codes, states, weights, 0, all_states, 1, 0)
    return _core.search(prepared, targets, nobody, nobody, *settings)


def test_what_does_not_fit_is_refused():
    codes = np.array([[0, 2], [1, 0], [1, 1]])
    ones = np.empty(0)
    with pytest.raises(ValueError, match="a code without a state"):
        search(codes, [2, 2], ones, [0])
    with pytest.raises(ValueError, match="one number of states per column"):
        search(codes, [2, 3, 2], ones, [0])
    with pytest.raises(ValueError, match="one weight per row"):
        search(codes, [2, 3], np.ones(2), [0])
    with pytest.raises(IndexError, match="no such column"):
        search(codes, [2, 3], ones, [2])
    with pytest.raises(IndexError, match="no such column"):
        search(codes, [2, 3], ones, [-1])
