"""What holds for every table that hypothesis can think of."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from isinglass.errors import IsinglassError
from isinglass.table import encode

labels = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 1.0, -2.0]),
    st.sampled_from(["yes", "No", "a", "b"]),
    st.sampled_from([dt.date(2020, 1, 1), dt.date(2021, 1, 1)]),
)
missing = st.sampled_from([None, float("nan"), ""])


@st.composite
def tables(draw, cells):
    """An array of objects with at least one row and one column."""
    n, p = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    array = np.empty((n, p), dtype=object)
    for index in np.ndindex(n, p):
        array[index] = draw(cells)
    return array


def weights_for(table, low=0):
    counts = st.lists(st.integers(low, 3), min_size=len(table), max_size=len(table))
    return counts.filter(any)


def decoded(table):
    return [
        [column.states[code] for column, code in zip(table.columns, row, strict=True)]
        for row in table.codes
    ]


def is_bool(cell):
    return isinstance(cell, bool)


def columns_and_codes(table):
    return table.columns, table.codes.tolist(), table.weights.tolist()


@given(tables(labels))
def test_labels_round_trip(X):
    for row, back in zip(X, decoded(encode(X)), strict=True):
        assert list(row) == back
        assert list(map(is_bool, row)) == list(map(is_bool, back))


@given(tables(labels | missing), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(X, random):
    order = list(range(len(X)))
    random.shuffle(order)
    table, shuffled = encode(X, missing="state"), encode(X[order], missing="state")
    assert repr(shuffled.columns) == repr(table.columns)
    np.testing.assert_array_equal(shuffled.codes, table.codes[order])
    assert shuffled.notes == table.notes


@given(st.data(), tables(labels | missing))
def test_a_row_without_weight_does_not_exist(data, X):
    weights = np.array(data.draw(weights_for(X)))
    there = weights > 0
    one = encode(X, weights, missing="state")
    other = encode(X[there], weights[there], missing="state")
    assert columns_and_codes(one) == columns_and_codes(other)
    assert one.notes == other.notes


@given(st.data(), tables(labels))
def test_weight_two_is_two_copies(data, X):
    weights = data.draw(weights_for(X))
    weighted, copied = encode(X, weights), encode(np.repeat(X, weights, axis=0))
    assert weighted.columns == copied.columns
    assert weighted.notes == copied.notes
    assert weighted.n == copied.n
    kept = np.array([weight for weight in weights if weight])
    np.testing.assert_array_equal(np.repeat(weighted.codes, kept, axis=0), copied.codes)


@given(tables(labels | missing))
def test_encoding_the_same_rows_again_gives_the_same_codes(X):
    table = encode(X, missing="state")
    again = table.encode_like(X, missing="state")
    np.testing.assert_array_equal(again.codes, table.codes)


@given(tables(labels | missing))
def test_pandas_agrees_with_arrays(X):
    array = encode(X, missing="state")
    frame = encode(pd.DataFrame(X, columns=list(array.names)), missing="state")
    assert columns_and_codes(frame) == columns_and_codes(array)


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), min_size=1, max_size=30))
def test_integers_agree_with_sorting(cells):
    table = encode(np.array(cells, dtype=np.int64)[:, None])
    states, codes = np.unique(cells, return_inverse=True)
    assert table.columns[0].states == tuple(states.tolist())
    np.testing.assert_array_equal(table.codes[:, 0], codes)


anything = st.one_of(
    labels,
    missing,
    st.floats(),
    st.text(max_size=3),
    st.binary(max_size=2),
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
    st.datetimes(),
    st.timedeltas(),
    st.tuples(st.integers()),
    st.frozensets(st.integers(0, 3), max_size=2),
    st.lists(st.integers(), max_size=2),
    st.just(pd.NA),
    st.just(pd.NaT),
    st.just(np.float32(1)),
    st.just(np.datetime64("2020-01-01", "ns")),
)


@settings(max_examples=100)
@given(
    tables(anything),
    st.sampled_from(["error", "drop", "state"]),
    st.none() | st.lists(st.floats(), max_size=9),
    st.none() | st.just({0: 3}),
)
def test_a_table_or_an_error_of_our_own(X, missing, weights, bins):
    for given_ in (X, X.tolist(), pd.DataFrame(X)):
        try:
            table = encode(given_, weights, missing=missing, bins=bins, n_eff="kish")
        except IsinglassError:
            continue
        assert (table.codes >= 0).all()
        assert (table.codes < np.array(table.n_states)).all()
        assert all(
            len(set(codes)) == k for codes, k in zip(table.codes.T, table.n_states, strict=True)
        )


@given(st.lists(st.none() | st.integers() | st.text(max_size=2), min_size=1, max_size=9))
def test_any_polars_column(cells):
    table = encode(pl.DataFrame({"a": pl.Series(cells, strict=False)}), missing="state")
    assert set(table.codes[:, 0]) == set(range(table.n_states[0]))
