"""The bounds of core/gains/bounds.hpp, written again in Python, are never below an exact gain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isinglass.losses.profile import profiled_minimum


def bound_curve(u: float) -> float:
    """B(u) = u + (1 - u) log(1 - u), which no gain exceeds in units of its own curvature."""
    if u < 1e-3:
        return u * u / (2 - u)
    if u >= 1:
        return 1.0 if u == 1 else np.inf
    return u + (1 - u) * np.log1p(-u)


def gain_bound(g: np.ndarray, h: np.ndarray) -> float:
    """Bound from the slopes and the curvature of the shifts of all states but the first."""
    if len(g) == 1:
        return h[0, 0] * bound_curve(abs(g[0]) / h[0, 0])
    try:
        inverse = np.linalg.inv(h)
    except np.linalg.LinAlgError:
        return np.inf
    gauge = np.vstack([np.zeros(len(g)), np.eye(len(g))])
    spread = gauge @ inverse @ gauge.T
    variance = np.diag(spread)
    kappa2 = (variance[:, None] + variance[None, :] - 2 * spread).max()
    lambda2 = g @ inverse @ g
    if not (lambda2 >= 0 and kappa2 > 0):
        return np.inf
    return bound_curve(np.sqrt(lambda2 * kappa2) * (1 + 1e-9)) / kappa2 * (1 + 1e-9)


def quick_gain_bound(g: float, h: float) -> float:
    return g * g / (2 * h - g) if g < h else np.inf


def draw_cells(rng: np.random.Generator, states: int) -> tuple[np.ndarray, ...]:
    """Scores of some cells, their rows, and totals that a tilt of the scores could have given."""
    cells = rng.integers(1, 9)
    scores = rng.choice([0.3, 1.0, 3.0, 8.0]) * rng.normal(size=(cells, states))
    rows = rng.integers(1, rng.choice([3, 30, 1000]), size=cells).astype(float)
    tilted = scores + rng.choice([0.01, 0.1, 0.5, 2.0]) * rng.normal(size=states)
    if rng.random() < 0.5:
        return scores, rows, rows @ softmax(tilted)
    drawn = [rng.multinomial(int(n), p) for n, p in zip(rows, softmax(tilted), strict=True)]
    return scores, rows, np.sum(drawn, axis=0).astype(float)


def softmax(scores: np.ndarray) -> np.ndarray:
    probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
    return probabilities / probabilities.sum(axis=1, keepdims=True)


def exact_gain(scores: np.ndarray, rows: np.ndarray, totals: np.ndarray) -> float:
    top = scores.max(axis=1)
    held = rows @ (top + np.log(np.exp(scores - top[:, None]).sum(axis=1)))
    return float(held - profiled_minimum(scores, rows[:, None], totals[None, :])[0])


def slope_and_curvature(
    scores: np.ndarray, rows: np.ndarray, totals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    probabilities = softmax(scores)
    expected = rows @ probabilities
    curvature = np.diag(expected) - (rows[:, None] * probabilities).T @ probabilities
    return (totals - expected)[1:], curvature[1:, 1:]


def check_bound(seed: int, states: int) -> float:
    """Assert that the bound holds; return how far above the gain it is."""
    scores, rows, totals = draw_cells(np.random.default_rng([states, seed]), states)
    gain = exact_gain(scores, rows, totals)
    g, h = slope_and_curvature(scores, rows, totals)
    bound, rounding = gain_bound(g, h), 1e-12 * rows.sum() * (1 + np.abs(scores).max())
    assert gain <= bound + rounding
    if states == 2:
        assert bound <= quick_gain_bound(abs(g[0]), h[0, 0]) + rounding
        assert gain <= quick_gain_bound(abs(g[0]), h[0, 0]) + rounding
    return bound / max(gain, rounding)


seeds = st.integers(0, 2**40)


@settings(max_examples=200, deadline=None)
@given(seeds)
def test_two_states(seed):
    check_bound(seed, 2)


@settings(max_examples=200, deadline=None)
@given(seeds, st.integers(3, 7))
def test_more_states(seed, states):
    check_bound(seed, states)


@pytest.mark.long
@settings(max_examples=2500, deadline=None)
@given(seeds)
def test_two_states_at_length(seed):
    check_bound(seed, 2)


@pytest.mark.long
@settings(max_examples=2500, deadline=None)
@given(seeds, st.integers(3, 20))
def test_more_states_at_length(seed, states):
    check_bound(seed, states)


@pytest.mark.parametrize("states", [2, 3, 5])
def test_bounds_are_worth_having(states):
    """Half of these random cases have a bound, and many a close one."""
    ratios = np.array([check_bound(seed, states) for seed in range(200)])
    assert np.isfinite(ratios).mean() > 0.3
    assert (ratios < 1.2).mean() > 0.1


@given(st.floats(0, 1))
def test_the_curve_without_a_logarithm_is_above(u):
    assert bound_curve(u) <= u * u / (2 - u) + 1e-15


@given(st.floats(1e-4, 0.999), st.floats(1e-3, 10))
def test_the_curve_rises_and_is_convex(u, step):
    v = u + step * (1 - u) / 20
    assert bound_curve(u) <= bound_curve(v) + 1e-15
    assert bound_curve((u + v) / 2) <= (bound_curve(u) + bound_curve(v)) / 2 + 1e-9
