"""The order of states, and whether that order means something."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isinglass.errors import SettingError, TableError, TooManyStates
from isinglass.table import encode


def column_of(cells):
    array = np.empty((len(cells), 1), dtype=object)
    array[:, 0] = cells
    return encode(array).columns[0]


@pytest.mark.parametrize(
    ("cells", "states", "ordered"),
    [
        ([3, 1, 2], (1, 2, 3), True),
        ([10.0, 9.0], (9.0, 10.0), True),
        ([True, False], (False, True), True),
        (["yes", "no"], ("no", "yes"), True),
        (["YES", "No"], ("No", "YES"), True),
        (["TRUE", "false"], ("false", "TRUE"), True),
        (["yes"], ("yes",), False),
        (["yes", "no", "No"], ("No", "no", "yes"), False),
        (["yes", "no", "maybe"], ("maybe", "no", "yes"), False),
        (["yes", "true"], ("true", "yes"), True),
        (["b", "a", "C"], ("C", "a", "b"), False),
        ([True, 1, 0.0, "a"], (True, 0, 1, "a"), False),
        ([2.5, 1], (1, 2.5), True),
        ([Decimal("1.5"), 1], (1, Decimal("1.5")), True),
        (
            [dt.date(2021, 1, 1), dt.date(2020, 1, 1)],
            (dt.date(2020, 1, 1), dt.date(2021, 1, 1)),
            True,
        ),
        ([(2, 1), (1, 2)], ((1, 2), (2, 1)), True),
        ([b"b", b"a"], (b"a", b"b"), True),
        ([b"b", b"a", b"c"], (b"a", b"b", b"c"), False),
    ],
)
def test_order(cells, states, ordered):
    for arrangement in (cells, cells[::-1]):
        column = column_of(arrangement)
        assert column.states == states
        assert list(map(type, column.states)) == list(map(type, states))
        assert column.ordered is ordered


def test_one_and_one_point_zero_are_one_state_whichever_comes_first():
    for cells in ([1, 1.0, 2], [1.0, 1, 2], [2, 1.0, 1]):
        assert repr(column_of(cells).states) == "(1, 2)"


def test_whole_floats_stay_floats():
    assert repr(encode(np.array([[1.0], [2.0]])).columns[0].states) == "(1.0, 2.0)"


def test_minus_zero_is_zero():
    for cells in ([0.0, -0.0], [-0.0, 0.0], [-0.0, 0.5], [-0.0, 1e9]):
        assert repr(encode(np.array(cells)[:, None]).columns[0].states).startswith("(0.0,")


def test_labels_that_cannot_be_compared_are_still_sorted():
    aware = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    naive = dt.datetime(2021, 1, 1)
    assert set(column_of([aware, naive]).states) == {aware, naive}
    assert column_of([aware, naive]).states == column_of([naive, aware]).states


@pytest.mark.parametrize(
    "X",
    [
        np.array([["2021-01-01"], ["2020-01-01"]], dtype="M8[ns]"),
        pd.DataFrame({"a": pd.to_datetime(["2021-01-01", "2020-01-01"])}),
        pl.DataFrame({"a": [dt.datetime(2021, 1, 1), dt.datetime(2020, 1, 1)]}),
    ],
)
def test_times_are_plain_and_sorted(X):
    column = encode(X).columns[0]
    assert column.states == (dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1))
    assert all(type(state) is dt.datetime for state in column.states)
    assert column.ordered


def test_times_finer_than_python_keep_their_difference():
    column = encode(np.array([[1], [2], [3000]], dtype="M8[ns]")).columns[0]
    assert len(set(column.states)) == 3


def test_floats_finer_than_python_keep_their_difference():
    one = np.longdouble(1)
    cells = np.array([[one], [np.nextafter(one, np.longdouble(2))]])
    states = encode(cells).columns[0].states
    assert len(set(states)) == len(np.unique(cells))


@pytest.mark.parametrize("n_states", [127, 128, 256])
def test_a_code_is_a_byte(n_states):
    table = encode(np.arange(n_states)[:, None], max_states=1000)
    np.testing.assert_array_equal(table.codes[:, 0], np.arange(n_states))
    assert table.codes.dtype == np.uint8
    assert table.n_states == (n_states,)


def test_too_many_states(make):
    ages = [float(age) for age in range(97)]
    with pytest.raises(TooManyStates) as error:
        encode(make({"age": ages}))
    assert str(error.value).replace("'x0'", "'age'") == (
        "column 'age' has 97 distinct values; at most 32 states are supported. "
        "Bin it (bins={'age': 4}), drop it, or raise max_states."
    )


def test_too_many_labels_cannot_be_binned_and_all_such_columns_are_named():
    names = [f"n{number}" for number in range(40)]
    frame = pl.DataFrame({"who": names, "fine": [1] * 40, "id": range(40)})
    with pytest.raises(TooManyStates) as error:
        encode(frame)
    assert str(error.value) == (
        "column 'who' has 40 distinct values; at most 32 states are supported. "
        "Drop it or raise max_states. So have 'id' (40)."
    )


def test_states_are_counted_over_rows_that_exist():
    X = np.arange(40.0)[:, None]
    weights = np.arange(40) < 32
    assert encode(X, weights).n_states == (32,)
    incomplete = np.where(np.arange(40) < 32, 1.0, np.nan)[:, None]
    assert encode(np.hstack([X, incomplete]), missing="drop").n_states == (32, 1)


@pytest.mark.parametrize("X", [np.arange(10**6)[:, None], np.linspace(0, 1, 10**6)[:, None]])
def test_a_million_levels_are_refused_quickly(X):
    with pytest.raises(TooManyStates, match="1000000 distinct"):
        encode(X)


@pytest.mark.parametrize("max_states", [1, 0, 2.5, "many", None])
def test_max_states_must_make_sense(max_states):
    with pytest.raises(SettingError, match="max_states must be a whole number from 2"):
        encode([[1]], max_states=max_states)


class NeverCompared:
    """A label that hashes, and refuses to be compared."""

    def __eq__(self, other):
        raise RuntimeError("not comparable")

    def __hash__(self):
        return 1


@pytest.mark.parametrize("cell", [NeverCompared(), Decimal("sNaN"), [1]])
def test_a_cell_that_cannot_be_told_apart_is_named(cell):
    X = np.empty((2, 1), dtype=object)
    X[:, 0] = [dt.datetime(2020, 1, 1), None]
    X[1, 0] = cell
    with pytest.raises(TableError, match=rf"column 'x0' holds .*, a {type(cell).__name__}; "):
        encode(X)
