"""New rows are read with the states that are known."""

import numpy as np
import polars as pl
import pytest

from isinglass.errors import MissingValues, SettingError, TableError, UnseenState
from isinglass.table import encode


@pytest.fixture
def cities(make):
    return encode(make({"city": ["Voss", "Bergen", "Voss"], "n": [1, 2, 3]}))


def test_new_rows(make, cities, library):
    new = cities.encode_like(make({"city": ["Bergen", "Voss"], "n": [3, 3]}), [0.5, 2])
    np.testing.assert_array_equal(new.codes, [[0, 2], [1, 2]])
    np.testing.assert_array_equal(new.weights, [0.5, 2])
    assert new.columns == cities.columns
    assert new.library == library


def test_columns_go_by_order_whatever_their_names(cities):
    new = cities.encode_like(pl.DataFrame({"other": ["Voss"], "names": [1.0]}))
    np.testing.assert_array_equal(new.codes, [[1, 0]])


def test_an_unseen_state_is_named(make, cities, library):
    with pytest.raises(UnseenState) as error:
        cities.encode_like(make({"city": ["Oslo"], "n": [1]}))
    name = "city" if library else "x0"
    assert str(error.value) == (
        f"column '{name}' holds 'Oslo', which fit never saw; it knows 'Bergen', 'Voss'."
    )


def test_true_is_not_one():
    with pytest.raises(UnseenState, match="holds True, which fit never saw; it knows 0, 1"):
        encode([[0], [1]]).encode_like([[True]])


def test_a_row_without_weight_may_hold_anything(cities):
    new = cities.encode_like([["Oslo", None], ["Voss", 1]], [0, 1])
    np.testing.assert_array_equal(new.codes, [[1, 0]])


def test_missing_values(cities):
    incomplete = [["Voss", None], ["Voss", 1]]
    with pytest.raises(MissingValues, match="NaN"):
        cities.encode_like(incomplete)
    with pytest.raises(UnseenState, match="holds a missing value, which fit never saw"):
        cities.encode_like(incomplete, missing="state")
    np.testing.assert_array_equal(cities.encode_like(incomplete, missing="drop").codes, [[1, 0]])
    with pytest.raises(SettingError, match="missing must be"):
        cities.encode_like(incomplete, missing="guess")


def test_a_missing_value_that_is_a_state_is_known():
    table = encode([["a"], [None]], missing="state")
    np.testing.assert_array_equal(
        table.encode_like([[None], ["a"]], missing="state").codes, [[1], [0]]
    )


def test_the_number_of_columns_must_agree(cities):
    with pytest.raises(TableError, match="has 1 columns, but fit saw 2"):
        cities.encode_like([["Voss"]])


def test_codes_keep_their_type_when_few_states_come_back():
    table = encode(np.arange(256)[:, None], max_states=300)
    assert table.encode_like([[255]]).codes.dtype == table.codes.dtype
