"""On tables too large for the literal definition: the native engine is the readable solver."""

import numpy as np
import pytest

from engine.adversarial import Case, draw_weights, pick
from engine.agreement import assert_same_column, assert_same_runs, run_native, run_readable

N, P = 500, 40


def latent(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Columns of numbers that hang together through a few hidden causes."""
    loadings = rng.normal(size=(4, p)) * (rng.random((4, p)) < 0.5)
    return rng.normal(size=(n, 4)) @ loadings + rng.normal(scale=1.5, size=(n, p))


def middle(kind: str, seed: int, n: int = N, p: int = P) -> Case:
    """A table of middle size, binary or of two to five states, down to a low threshold."""
    rng = np.random.default_rng([p, seed])
    numbers = latent(rng, n, p)
    codes = (numbers > rng.normal(scale=0.7, size=p)).astype(int)
    if "mixed" in kind:
        cuts = [np.quantile(x, np.sort(rng.random(rng.integers(1, 5)))) for x in numbers.T]
        codes = np.stack([np.digitize(x, c) for x, c in zip(numbers.T, cuts, strict=True)], axis=1)
    weights = draw_weights(rng, n) if "weights" in kind else np.ones(n)
    threshold = float(np.log(n * p) / n * rng.choice([0.3, 0.6, 1.0]))
    if "weights" in kind and not np.array_equal(weights, np.round(weights)):
        weights *= n / weights.sum()  # so that the threshold means what it says
    return Case(codes, weights, threshold, intercept="no field" not in kind, kind=kind)


def hub(seed: int) -> Case:
    """One column of twelve causes and more, to the end: many cells, many steps."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.choice([319, 320, 321, 900])), 16
    codes = rng.integers(0, 2, size=(n, p))
    logit = (codes[:, 1:] - codes[:, 1:].mean(axis=0)) @ rng.uniform(0.3, 0.9, size=p - 1)
    codes[:, 0] = rng.random(n) < 1 / (1 + np.exp(-2 * logit))
    return Case(codes, draw_weights(rng, n), 1e-6, nu=0.7, max_degree=12)


def alphabet(seed: int) -> Case:
    """Three columns of some 17 states, the second and third like the first: many parameters."""
    rng = np.random.default_rng([17, seed])
    n, states = 900, rng.integers(16, 19, size=3)
    codes = rng.integers(0, 16, size=(n, 1)) % states
    for j, m in enumerate(states):
        anew = rng.random(n) < 0.7
        codes[anew, j] = rng.choice(m, size=anew.sum(), p=rng.dirichlet(np.full(m, 3.0)))
    weights = np.ones(n) if seed % 2 == 0 else rng.integers(1, 4, size=n).astype(float)
    return Case(codes, weights, 0.002)


KINDS = ["binary", "mixed", "binary, weights", "mixed, weights", "binary, no field"]


@pytest.mark.parametrize("kind", ["binary", pytest.param("mixed, weights", marks=pytest.mark.long)])
def test_middle_size(kind):
    drawn = middle(kind, 0)
    assert_same_runs(run_native(drawn), run_readable(drawn), drawn.threshold)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))]
)
def test_hundreds_of_parameters(seed):
    drawn = alphabet(seed)
    assert_same_runs(run_native(drawn), run_readable(drawn), drawn.threshold)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(13))
def test_middle_size_at_length(kind, seed):
    drawn = middle(kind, seed)
    assert_same_runs(run_native(drawn), run_readable(drawn), drawn.threshold)


def test_twelve_neighbours():
    drawn = hub(0)
    native, readable = run_native(drawn), run_readable(drawn)
    assert len(native.path(0).support) == 12
    assert_same_column(native, readable, 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 30))
def test_twelve_neighbours_at_length(seed):
    drawn = hub(seed)
    assert_same_runs(run_native(drawn), run_readable(drawn), drawn.threshold)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_no_field_and_mixed_states(seed):
    drawn = middle("mixed, no field", seed, n=200, p=8)
    assert_same_runs(run_native(drawn), run_readable(drawn), drawn.threshold)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_twenty_states(seed):
    rng = np.random.default_rng(seed)
    numbers = latent(rng, 600, 8)
    codes = np.stack(
        [np.digitize(x, np.quantile(x, np.linspace(0, 1, 20)[1:-1])) for x in numbers.T], axis=1
    )
    codes[:, ::2] //= 5
    drawn = Case(codes, np.ones(600), 0.005, targets=pick(rng, 8, 8))
    assert_same_runs(run_native(drawn), run_readable(drawn), drawn.threshold)
