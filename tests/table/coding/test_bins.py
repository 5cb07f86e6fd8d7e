"""Measurements become a few ordered states."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isinglass import FitRecord, GreedyGraph, summarise
from isinglass.documents.document import Entry
from isinglass.errors import SettingError, TableError, UnseenState
from isinglass.record.files import members_from_json
from isinglass.report.texts import methods
from isinglass.table import Note, encode


def test_labels_say_which_side_is_closed(make, library):
    ages = [18, 25, 26, 40, 41, 60]
    name = "age" if library else "x0"
    table = encode(make({"age": ages, "b": [0] * 6}), bins={name: 3})
    assert table.columns[0].states == ("<= 25", "> 25 to 40", "> 40")
    assert table.columns[0].cuts == (25.0, 40.0)
    assert table.columns[0].ordered
    assert table.columns[1].cuts is None
    np.testing.assert_array_equal(table.codes[:, 0], [0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("at", [1, "x1", np.int64(1)])
def test_a_column_of_an_array_may_be_given_by_position(at):
    assert encode([[0, 1.5], [1, 2.5]], bins={at: 2}).columns[1].cuts == (1.5,)


def test_a_whole_number_may_be_a_name_in_a_frame():
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=[5, 6])
    assert encode(frame, bins={6: 2}).columns[1].cuts == (2.0,)


def test_repeated_values_merge_bins():
    table = encode(np.array([0, 0, 0, 0, 0, 1, 2, 3])[:, None], bins={0: 4})
    assert table.columns[0].states == ("<= 0", "> 0 to 1", "> 1")
    done = "4 were asked for, 3 bins made: values repeat too often for more"
    assert Note("x0", "bins merged", done) in table.notes


def test_a_constant_column_has_one_bin():
    assert encode([[3], [3]], bins={0: 2}).columns[0].states == ("any value",)


def test_missing_values_stay_missing():
    table = encode([[1.0], [None], [2.0]], missing="state", bins={0: 2})
    assert table.columns[0].states == ("<= 1", "> 1", None)
    np.testing.assert_array_equal(table.codes[:, 0], [0, 2, 1])


def test_infinity_has_no_bin():
    with pytest.raises(TableError, match="inf"):
        encode(np.array([[1.0], [np.inf]]), bins={0: 2})


values = st.lists(st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float), min_size=1, max_size=40)


@given(values, st.integers(2, 8))
def test_each_value_lies_in_the_bin_of_its_code(cells, n_bins):
    table = encode(np.array(cells)[:, None], bins={0: n_bins})
    column = table.columns[0]
    edges = [-np.inf, *column.cuts, np.inf]
    for value, code in zip(cells, table.codes[:, 0], strict=True):
        assert edges[code] < value <= edges[code + 1]
    assert len(column.states) <= n_bins
    assert set(table.codes[:, 0]) == set(range(len(column.states)))


@given(values, st.integers(2, 8), st.data())
def test_weight_two_is_two_rows(cells, n_bins, data):
    X = np.array(cells)[:, None]
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(X), max_size=len(X)))
    weighted = encode(X, weights, bins={0: n_bins})
    expanded = encode(np.repeat(X, weights, axis=0), bins={0: n_bins})
    assert weighted.columns == expanded.columns


def test_new_rows_fall_into_the_same_bins():
    table = encode(np.arange(10.0)[:, None], bins={0: 2})
    new = table.encode_like([[-100], [4], [4.001], [1e9]])
    np.testing.assert_array_equal(new.codes[:, 0], [0, 0, 1, 1])
    with pytest.raises(UnseenState, match="column 'x0' holds 'old', which fit never saw"):
        table.encode_like([["old"]])
    with pytest.raises(TableError, match="inf"):
        table.encode_like([[np.inf]])


@pytest.mark.parametrize(
    ("bins", "says"),
    [
        ({"x9": 2}, "bins names 'x9', which is not a column; the columns are 'x0', 'x1'"),
        ({-1: 2}, "bins names -1"),
        ({0: 1}, "whole number, 2 or more"),
        ({0: 2.5}, "whole number, 2 or more"),
        ({0: True}, "whole number, 2 or more"),
        ({1: 2}, "column 'x1' is to be binned but holds 'a', which is not a number"),
        (4, "bins must be a dict"),
    ],
)
def test_bins_must_make_sense(bins, says):
    with pytest.raises(SettingError, match=says):
        encode([[1, "a"], [2, "b"]], bins=bins)


def test_own_cut_points(make, library):
    name = "age" if library else "x0"
    table = encode(make({"age": [18, 25, 26, 45, 80], "b": [0, 1, 0, 1, 0]}), bins={name: [25, 45]})
    assert table.columns[0].states == ("<= 25", "> 25 to 45", "> 45")
    assert table.columns[0].cuts == (25.0, 45.0)
    assert table.codes[:, 0].tolist() == [0, 0, 1, 1, 2]
    assert encode([[1], [2]], bins={0: (1.5,)}).columns[0].states == ("<= 1.5", "> 1.5")
    assert encode([[1], [2]], bins={0: np.array([1.5])}).columns[0].cuts == (1.5,)


def test_a_bin_without_a_row_is_no_state():
    table = encode([[1], [2], [9]], bins={0: [0, 4, 8]})
    assert table.columns[0].states == ("> 0 to 4", "> 8")
    assert table.columns[0].cuts == (0.0, 4.0, 8.0)
    done = "no row is in '<= 0', '> 4 to 8'; empty bins are not states"
    assert Note("x0", "empty bins", done) in table.notes
    assert table.encode_like([[3], [10]]).codes.ravel().tolist() == [0, 1]
    with pytest.raises(UnseenState, match=r"holds '> 4 to 8', which fit never saw"):
        table.encode_like([[5]])


@pytest.mark.parametrize(
    "cuts",
    [[], [2, 1], [1, 1], [1, float("inf")], [float("nan")], ["a"], [True, 2], [None], [10**400]],
)
def test_cut_points_rise(cuts):
    with pytest.raises(SettingError, match="cut points must be finite numbers, each larger than"):
        encode([[1], [2]], bins={0: cuts})


def test_whole_numbers_beyond_all_floats_have_a_bin():
    table = encode([[-(10**400)], [1], [2.5], [10**400]], bins={0: 4})
    assert table.codes.ravel().tolist() == [0, 1, 2, 3]
    assert encode([[1], [10**400]], bins={0: [5]}).codes.ravel().tolist() == [0, 1]


def test_the_report_says_where_numbers_were_cut():
    ages = np.arange(60)
    table = pd.DataFrame({"age": ages, "year": ages % 40, "b": ages % 2})
    est = GreedyGraph(bins={"age": [25, 45.5], "year": 3}).fit(table)
    text = methods(summarise(FitRecord(**members_from_json(Entry(est.record().to_json())))))
    assert "cut at their quantiles (year into 3 parts)" in text
    assert "cut at given points (age at 25, 45.5)" in text
