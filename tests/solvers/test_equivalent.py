"""One-parameter equivalents against high-precision values, far into the tail."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass.solvers.equivalent import (
    log_chi2_sf,
    one_parameter_gain,
    one_parameter_level,
)


def high_precision_log_sf(x: float, df: float) -> float:
    with mpmath.workdps(60):
        return float(mpmath.log(mpmath.gammainc(df / 2, mpmath.mpf(x) / 2, regularized=True)))


def high_precision_equivalent(gain: float, df: int, n: float) -> float:
    """Solve log erfc(z) = log tail by bisection; the chi-square is then 2 z^2."""
    with mpmath.workdps(60):
        x = 2 * mpmath.mpf(n) * mpmath.mpf(gain)
        target = mpmath.log(mpmath.gammainc(mpmath.mpf(df) / 2, x / 2, regularized=True))
        low, high = mpmath.mpf(0), mpmath.sqrt(x) + 1
        for _ in range(200):
            middle = (low + high) / 2
            if mpmath.log(mpmath.erfc(middle)) > target:
                low = middle
            else:
                high = middle
        return float(low**2 / mpmath.mpf(n))


@pytest.mark.parametrize("df", [1, 2, 3, 4, 16, 60, 400, 961])
@pytest.mark.parametrize("x", [1e-6, 0.3, 5.0, 80.0, 900.0, 1.5e3, 2e4, 1e6, 5e7])
def test_log_tail(df, x):
    assert log_chi2_sf(x, df) == pytest.approx(high_precision_log_sf(x, df), rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("df", [2, 4, 9, 36, 400])
@pytest.mark.parametrize("gain", [1e-9, 1e-5, 1e-3, 0.02, 0.3, 3.0])
@pytest.mark.parametrize("n", [1, 50, 1000, 1e5, 1e6])
def test_equivalent(df, gain, n):
    expected = high_precision_equivalent(gain, df, n)
    assert one_parameter_gain(gain, df, n) == pytest.approx(expected, rel=1e-10, abs=1e-12)


@given(st.floats(0, 5), st.floats(1, 1e7))
def test_one_parameter_is_left_alone(gain, n):
    assert one_parameter_gain(gain, 1, n) == gain


@given(st.lists(st.floats(0, 4), min_size=2, max_size=20), st.integers(1, 400))
def test_order_is_kept_and_more_parameters_are_less_surprising(gains, df):
    gains = np.sort(gains)
    equivalents = one_parameter_gain(gains, df, 500.0)
    assert np.isfinite(equivalents).all()
    assert (np.diff(equivalents) >= 0).all()
    assert (one_parameter_gain(gains, df + 1, 500.0) <= equivalents + 1e-15).all()


def test_level_is_the_quantile():
    assert one_parameter_level(0.05) == pytest.approx(3.841458820694124, rel=1e-12)
    assert one_parameter_level(1e-300) == pytest.approx(1369.0, rel=0.01)
    assert one_parameter_level(1.0) == 0.0
