"""Intervals, monotone fits, crossings and ratios, against hand-worked cases and slow twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import isotonic_regression
from statsmodels.stats.proportion import proportion_confint

from isinglass.experiments.curves import (
    _monotone_rows,
    crossing,
    monotone,
    ratio,
    smallest_beta,
    wilson,
)

shares = st.lists(st.integers(0, 10).map(lambda k: k / 10), min_size=1, max_size=9)


@given(st.integers(1, 300), st.floats(0, 1))
def test_wilson_is_that_of_another_library(tries, share):
    successes = round(share * tries)
    expected = proportion_confint(successes, tries, method="wilson")
    assert wilson(successes, tries) == pytest.approx(expected, abs=1e-12)


def test_wilson_by_hand():
    # 10 of 10: z^2 = 3.8415, so the lower end is 1 / (1 + z^2 / 10).
    assert wilson(10, 10) == pytest.approx((1 / 1.38415, 1.0), abs=1e-5)


@given(shares, st.integers(0, 1000))
def test_monotone_is_isotonic_regression(heights, seed):
    tries = np.random.default_rng(seed).integers(1, 50, len(heights)).astype(float)
    expected = isotonic_regression(np.array(heights), sample_weight=tries)
    assert monotone(heights, tries) == pytest.approx(expected, abs=1e-12)
    rows = _monotone_rows(np.array([heights, heights[::-1]]), tries)
    assert rows[0] == pytest.approx(expected, abs=1e-12)
    assert rows[1] == pytest.approx(monotone(heights[::-1], tries), abs=1e-12)


def test_monotone_by_hand():
    # 0.8 with 10 tries and 0.5 with 20 pool to 18 of 30.
    assert monotone([0.1, 0.8, 0.5, 0.9], [10, 10, 20, 10]).tolist() == [0.1, 0.6, 0.6, 0.9]


def test_crossing_by_hand():
    assert crossing([1, 2, 3], [0.0, 0.9, 1.0]).beta == pytest.approx(2.5)
    assert crossing([1, 2, 3], [0.0, 0.95, 1.0]).beta == 2
    assert str(crossing([1, 2, 3], [0.96, 0.97, 1.0])) == "<=1.00"
    assert str(crossing([1, 2, 3], [0.0, 0.5, 0.94])) == ">3.00"


def test_smallest_beta_passes_over_points_without_records():
    nothing = np.array([np.nan, np.nan])
    success = [np.array([0.0, 0.0]), nothing, np.array([1.0, 1.0])]
    assert smallest_beta([1, 2, 3], success).beta == pytest.approx(1 + 2 * 0.95)


def test_a_curve_shifted_to_twice_the_rows_has_ratio_two():
    rng = np.random.default_rng(0)
    betas = [1.0, 2.0, 4.0, 8.0, 16.0]
    probabilities = [0.0, 0.1, 0.8, 1.0, 1.0]
    early = [
        (rng.random(200) < probability).astype(float) for probability in (*probabilities[1:], 1.0)
    ]
    late = [(rng.random(200) < probability).astype(float) for probability in probabilities]
    found = ratio(betas, late, early)
    assert found.value == pytest.approx(2, abs=0.2)
    assert found.low < 2 < found.high
    assert found.tries == 200


def test_a_ratio_of_a_curve_to_itself_is_one():
    rng = np.random.default_rng(1)
    curve = [(rng.random(30) < probability).astype(float) for probability in (0.1, 0.6, 0.9, 1.0)]
    found = ratio([1, 2, 3, 4], curve, curve)
    assert (found.value, found.low, found.high) == (1, 1, 1)


def test_a_curve_that_never_arrives_needs_infinitely_many_rows():
    never, soon = [np.zeros(9), np.zeros(9)], [np.zeros(9), np.ones(9)]
    assert str(ratio([1, 2], never, soon)) == "∞ (∞ to ∞)"
    assert str(ratio([1, 2], never, never)) == "- (- to -)"


def test_ratios_use_the_tables_that_both_saw():
    many, few = [np.ones(9), np.ones(9)], [np.zeros(3), np.array([1, 1, np.nan])]
    assert ratio([1, 2], few, many).tries == 2


@given(shares, st.integers(0, 99))
def test_the_value_of_a_ratio_comes_from_smallest_beta(heights, seed):
    rng = np.random.default_rng(seed)
    betas = np.arange(1.0, len(heights) + 1)
    curves = [[(rng.random(8) < h).astype(float) for h in heights] for _ in range(2)]
    needs = [smallest_beta(betas, curve) for curve in curves]
    upper, lower = (np.inf if need.bound == ">" else need.beta for need in needs)
    found = ratio(betas, *curves, resamples=2)
    if np.isinf(upper) and np.isinf(lower):
        assert np.isnan(found.value)
    else:
        assert found.value == pytest.approx(upper / lower)
