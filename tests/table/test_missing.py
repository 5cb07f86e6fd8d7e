"""Missing values: an error that names the ways to treat them, fewer rows, or a state."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isinglass.errors import MissingValues, SettingError, TableError
from isinglass.table import Note, encode


def test_an_error_names_columns_counts_and_the_ways_on(make, library):
    table = make({"a": [1, 2, 3, 4], "b": [None, 1.5, None, 2.5], "c": ["x", "", "y", "y"]})
    with pytest.raises(MissingValues) as error:
        encode(table)
    b, c = ("'b'", "'c'") if library else ("'x1'", "'x2'")
    message = str(error.value)
    assert f"missing values (NaN, None or empty) in 2 columns: {b} (2), {c} (1)." in message
    assert 'missing="drop" uses only complete rows (1 of 4 remain)' in message
    assert "assumes that whether a value is missing has nothing to do with the values" in message
    assert 'missing="state"' in message
    assert "columns that are missing together become linked" in message
    assert 'missing="available"' in message
    assert "with many it creates false links" in message
    assert "\n" not in message


def test_only_the_first_columns_are_named():
    with pytest.raises(MissingValues, match=r"'x4' \(1\) and 15 more\."):
        encode(np.full((1, 20), np.nan))


@pytest.mark.parametrize(
    "empty", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), ""]
)
def test_every_missing_value_is_found_in_a_column_of_objects(empty):
    X = np.array([["a", 1], [empty, 1]], dtype=object)
    for table in (encode(X, missing="state"), encode(pd.DataFrame(X), missing="state")):
        assert table.columns[0].states == ("a", None)


def test_nan_and_null_are_both_missing_in_polars():
    table = encode(pl.DataFrame({"a": [1.0, float("nan"), None]}), missing="state")
    np.testing.assert_array_equal(table.codes[:, 0], [0, 1, 1])


def test_drop_keeps_the_complete_rows(make, library):
    table = encode(make({"a": [1, 2, 3], "b": [None, "x", "y"]}), [1, 2, 3], missing="drop")
    assert [column.states for column in table.columns] == [(2, 3), ("x", "y")]
    np.testing.assert_array_equal(table.weights, [2, 3])
    b = "'b'" if library else "'x1'"
    done = f"1 of 3 rows dropped; missing in {b} (1)"
    assert table.notes[0] == Note(None, "missing values", done)


def test_nothing_left_after_drop():
    with pytest.raises(TableError, match='none remains with missing="drop"') as error:
        encode([[1, None], [None, 2]], missing="drop")
    assert "'x0' (1), 'x1' (1)" in str(error.value)


def test_a_missing_value_as_a_state_comes_last_and_has_no_order(make, library):
    table = encode(make({"a": [None, 2, 1], "b": [1, 2, 2]}), missing="state")
    column, other = table.columns
    assert column.states == (1, 2, None)
    assert not column.ordered
    assert column.has_missing_state
    assert other.ordered
    assert not other.has_missing_state
    np.testing.assert_array_equal(table.codes[:, 0], [2, 1, 0])
    note = table.notes[0]
    assert (note.column, note.what) == ("a" if library else "x0", "missing values")
    assert note.done.startswith("1 of 3 rows; treated as a state, None; assumes that")


def test_missing_values_of_rows_without_weight_do_not_count():
    table = encode([[1, None], [2, 3]], [0, 1])
    assert [column.states for column in table.columns] == [(2,), (3,)]


def test_a_column_without_any_value():
    table = encode([[None, 1], [None, 2]], missing="state", bins={0: 2})
    assert table.columns[0].states == (None,)


def test_a_missing_value_that_is_left_out_keeps_the_order_of_the_answers():
    table = encode([[None, 1], [2, 2], [1, 2]], missing="available")
    assert table.available
    assert table.columns[0].states == (1, 2, None)
    assert table.columns[0].ordered
    assert table.n_answers == (2, 2)
    assert not encode([[1], [2]], missing="available").available


def test_a_column_that_is_never_seen_is_isolated():
    table = encode([[None, 1], [None, 2]], missing="available")
    assert table.n_answers == (1, 2)


@pytest.mark.parametrize("missing", ["ignore", None, 3, np.nan])
def test_other_settings_are_refused(missing):
    with pytest.raises(
        SettingError, match="missing must be 'error', 'model', 'drop', 'state' or 'available', not"
    ):
        encode([[1]], missing=missing)


def test_filled_values_are_no_state_and_empty_rows_are_left_out():
    table = encode([[1, None, 2], [None, None, None], [2, 3, 2], [1, 4, 3]], missing="model")
    assert table.by_model
    assert table.n_answers == (2, 2, 2)
    np.testing.assert_array_equal(table.codes[:, 1], [2, 0, 1])
    assert table.kept is not None
    assert table.kept.tolist() == [0, 2, 3]
    assert table.dropped == 1
    assert not encode([[1, 2], [2, 2]], missing="model").by_model


def test_new_rows_may_lack_what_was_seen_before():
    table = encode([[1, 2], [2, 3]], missing="model")
    rows = table.encode_like([[None, 3], [2, 2]], missing="model")
    assert rows.by_model
    assert rows.n_answers == (2, 2)
    np.testing.assert_array_equal(rows.codes, [[2, 1], [1, 0]])
