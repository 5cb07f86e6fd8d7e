"""One-parameter equivalents in C++ against SciPy and against 50 digits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass.core import _core
from isinglass.solvers.equivalent import one_parameter_gain
from reference import standardise

DEGREES = [1, 2, 3, 4, 5, 6, 9, 12, 16, 19, 57, 100, 361, 400, 1000]


@pytest.mark.parametrize("df", DEGREES)
@pytest.mark.parametrize("n", [1.0, 37.5, 1e3, 1e5, 1e9])
def test_fifty_digits(df, n):
    for gain in np.geomspace(1e-12, 3.0, 13):
        truth = standardise(float(gain), df, n)
        assert _core.one_parameter_gain(gain, df, n) == pytest.approx(truth, rel=1e-9, abs=1e-20)


@given(st.floats(1e-12, 20), st.integers(1, 2000), st.floats(1, 1e7))
def test_scipy(gain, df, n):
    truth = float(one_parameter_gain(gain, df, n))
    assert _core.one_parameter_gain(gain, df, n) == pytest.approx(truth, rel=1e-8, abs=1e-13)


@given(st.integers(2, 500), st.floats(1, 1e6), st.floats(1e-9, 2), st.floats(1e-3, 1))
def test_monotone(df, n, gain, more):
    assert _core.one_parameter_gain(gain, df, n) <= _core.one_parameter_gain(gain + more, df, n)
    assert _core.one_parameter_gain(gain, df, n) <= _core.one_parameter_gain(gain, df - 1, n)


@given(st.floats(-1, 0), st.integers(1, 400), st.floats(1, 1e6))
def test_no_gain_is_none(gain, df, n):
    assert _core.one_parameter_gain(gain, df, n) == 0


@given(st.floats(1e-300, 1e3), st.floats(1, 1e9))
def test_one_parameter_is_itself(gain, n):
    assert _core.one_parameter_gain(gain, 1, n) == gain


@pytest.mark.parametrize("df", [2, 20, 400, 65_025])
@pytest.mark.parametrize("gain", [1e-300, 1e-30, 1e-15, 1e3, 1e6])
def test_far_out_it_stays_finite(df, gain):
    value = _core.one_parameter_gain(gain, df, 1e6)
    assert 0 <= value <= gain
