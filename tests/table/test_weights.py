"""Weights are counts unless n_eff says otherwise."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isinglass.errors import BadWeights, SettingError, TableError
from isinglass.table import encode

X = [[0, 1], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    "weights",
    [
        [3, 1, 2],
        (3.0, 1.0, 2.0),
        np.array([3, 1, 2]),
        pd.Series([3, 1, 2]),
        pl.Series([3, 1, 2]),
    ],
)
def test_counts_are_taken_as_they_are(weights):
    table = encode(X, weights)
    np.testing.assert_array_equal(table.weights, [3, 1, 2])
    assert table.weights.dtype == np.float64
    assert table.n == 6


def test_a_number_is_the_weight_of_every_row():
    np.testing.assert_array_equal(encode(X, 2).weights, [2, 2, 2])


def test_a_column_of_weights_is_no_column_of_the_table(make, library):
    table = encode(make({"a": [0, 1, 0], "w": [3, 0, 2]}), "w" if library else "x1")
    assert table.names == ("a" if library else "x0",)
    np.testing.assert_array_equal(table.weights, [3, 2])
    np.testing.assert_array_equal(table.codes, [[0], [0]])


def test_kish():
    table = encode(X, [0.5, 1, 1.5], n_eff="kish")
    assert table.n == pytest.approx(3**2 / (0.25 + 1 + 2.25))
    np.testing.assert_allclose(table.weights / table.weights[0], [1, 2, 3])


@pytest.mark.parametrize("n_eff", [7, 2.5, np.float64(1e6)])
def test_a_number_sets_n(n_eff):
    table = encode(X, [0.5, 1, 1.5], n_eff=n_eff)
    assert table.n == pytest.approx(n_eff)
    np.testing.assert_allclose(table.weights / table.weights[0], [1, 2, 3])


def test_scaled_weights_are_left_alone():
    weights = np.random.default_rng(0).random(50)
    once = encode(np.arange(50)[:, None] % 2, weights, n_eff="kish")
    again = encode(np.arange(50)[:, None] % 2, once.weights, n_eff=once.n)
    np.testing.assert_array_equal(again.weights, once.weights)


def test_kish_counts_the_rows_that_remain():
    table = encode([[1], [2], [None]], [1, 1, 50], n_eff="kish", missing="drop")
    assert table.n == pytest.approx(2)


def test_extreme_weights_stay_positive_and_finite():
    table = encode(X, [1e300, 1e-300, 1.0], n_eff="kish")
    assert np.isfinite(table.weights).all()
    assert (table.weights > 0).all()


def test_weights_that_are_no_counts_need_a_word():
    with pytest.raises(BadWeights) as error:
        encode(X, [0.5, 1, 1.5])
    message = str(error.value)
    assert "sample_weight holds 0.5" in message
    assert 'Round the weights to counts for n_eff="sum"' in message
    assert 'n_eff="design" for sampling weights (here 2.6 rows' in message
    assert 'or n_eff="kish" (that number for all pairs)' in message
    assert "n_eff=3" in message


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1, -1, 1], "must not be negative, got -1"),
        ([1, np.nan, 1], "must be finite"),
        ([1, None, 1], "must be finite"),
        ([1, np.inf, 1], "must be finite"),
        ([1e308, 1e308, 1e308], "must be finite"),
        ([0, 0, 0], "zero for all rows"),
        (0, "zero for all rows"),
        ([1, 1], r"has shape \(2,\), but the table has 3 rows"),
        (np.ones((3, 1)), r"has shape \(3, 1\)"),
        (["a", "b", "c"], "must be numbers"),
        ([1j, 1, 1], "must be numbers"),
        ([1, pd.NA, 1], "must be numbers"),
        ([[1], [1, 2], 1], "must be numbers"),
        ("nobody", "names 'nobody', which is not a column; the columns are 'x0', 'x1'"),
    ],
)
def test_bad_weights(weights, says):
    with pytest.raises(BadWeights, match=says) as error:
        encode(X, weights)
    assert "\n" not in str(error.value)


def test_a_missing_value_in_the_column_of_weights():
    with pytest.raises(BadWeights, match="must be finite"):
        encode(pl.DataFrame({"a": [0, 1], "w": [1, None]}), "w")


def test_weights_alone_are_no_table(make, library):
    with pytest.raises(TableError, match=r"0 feature\(s\)"):
        encode(make({"w": [1, 2]}), "w" if library else "x0")


@pytest.mark.parametrize("n_eff", ["rows", 0, -1, np.nan, np.inf, True, None])
def test_n_eff_must_make_sense(n_eff):
    with pytest.raises(SettingError, match="n_eff must be 'sum', 'design' or 'kish', or a"):
        encode(X, n_eff=n_eff)
