"""Whatever holds a table is read alike; whatever does not is refused with one sentence."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from isinglass.errors import DuplicateNames, TableError
from isinglass.table import encode


def states(table):
    return [column.states for column in table.columns]


def test_every_library_gives_the_same_table(make, library):
    table = encode(
        make({"ok": [True, False, True], "n": [3, 1, 3], "s": ["b", "a", "a"], "f": [0.5, 2, 2]})
    )
    assert states(table) == [(False, True), (1, 3), ("a", "b"), (0.5, 2.0)]
    np.testing.assert_array_equal(
        table.codes, [[1, 1, 1, 0], [0, 0, 0, 1], [1, 1, 0, 1]], strict=False
    )
    assert table.codes.dtype == np.uint8
    assert table.library == library
    assert table.names == (("ok", "n", "s", "f") if library else ("x0", "x1", "x2", "x3"))
    assert [column.ordered for column in table.columns] == [True, True, True, True]
    assert table.n == 3.0
    np.testing.assert_array_equal(table.weights, np.ones(3))


@pytest.mark.parametrize(
    "dtype",
    ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4", "U1", "O"],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_every_type(dtype, order):
    X = np.array([[0, 1], [1, 1], [0, 0]]).astype(dtype, order=order)
    table = encode(X)
    np.testing.assert_array_equal(table.codes, [[0, 1], [1, 1], [0, 0]])
    for column in table.columns:
        assert all(type(state).__module__ == "builtins" for state in column.states)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([-128, 127, 0], "i1"),
        ([-(2**63), 2**63 - 1, 0], "i8"),
        ([-(2**63), -(2**63) + 5, -(2**63) + 2], "i8"),
        ([2**64 - 1, 2**64 - 3], "u8"),
        ([1e300, -1e300, 0.1], "f8"),
        ([2**53, 2**53 + 1], "i8"),
    ],
)
def test_extreme_numbers_keep_their_values(values, dtype):
    column = encode(np.array(values, dtype=dtype)[:, None]).columns[0]
    assert column.states == tuple(sorted(values))


def test_large_integers_beside_nulls_are_exact():
    table = encode(pl.DataFrame({"a": [2**53, 2**53 + 1, None]}), missing="drop")
    assert states(table) == [(2**53, 2**53 + 1)]


def test_lists_keep_the_type_of_each_cell():
    assert states(encode([[1, "a"], [2, "b"]])) == [(1, 2), ("a", "b")]


def test_masked_cells_are_missing():
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])
    assert states(encode(X, missing="state")) == [(3, None), (2, 4)]
    assert states(encode(X, [1, 1], missing="drop")) == [(3,), (4,)]
    assert states(encode(X, sample_weight="x1", missing="state")) == [(3, None)]


def test_pandas_types():
    frame = pd.DataFrame(
        {
            "ordered": pd.Categorical(["mid", "low", "mid"], ["low", "mid", "high"], ordered=True),
            "unordered": pd.Categorical(["b", "a", "b"], ["b", "a"]),
            "nominal": pd.Categorical([2, 1, 2]),
            "int": pd.array([1, None, 2], dtype="Int64"),
            "bool": pd.array([True, None, False], dtype="boolean"),
            "string": pd.array(["x", None, "y"], dtype="string"),
            "cut": pd.cut(pd.Series([1.0, 2.0, 3.0]), [0, 1.5, 5]),
        }
    )
    table = encode(frame, missing="state")
    assert states(table)[:6] == [
        ("low", "mid"),
        ("a", "b"),
        (1, 2),
        (1, 2, None),
        (False, True, None),
        ("x", "y", None),
    ]
    assert [str(state) for state in table.columns[6].states] == ["(0.0, 1.5]", "(1.5, 5.0]"]
    flags = [column.ordered for column in table.columns]
    assert flags == [True, True, True, False, False, False, True]


def test_polars_types():
    frame = pl.DataFrame(
        {
            "enum": pl.Series(["b", "a", "b"], dtype=pl.Enum(["c", "b", "a"])),
            "categorical": pl.Series(["b", "a", "b"], dtype=pl.Categorical),
            "decimal": pl.Series([1, 2, 1], dtype=pl.Decimal(10, 2)),
            "wide": pl.Series([1, 2, 1], dtype=pl.Int128),
            "null": [None, None, None],
        }
    )
    table = encode(frame, missing="state")
    assert states(table) == [("b", "a"), ("a", "b"), (1, 2), (1, 2), (None,)]
    assert [column.ordered for column in table.columns] == [True, True, True, True, False]


def test_arrow_dictionaries():
    indices, labels = pa.array([0, 1, 0]), pa.array(["z", "a"])
    plain = pa.DictionaryArray.from_arrays(indices, labels)
    ordered = pa.DictionaryArray.from_arrays(indices, labels, ordered=True)
    table = encode(pa.table({"plain": plain, "ordered": ordered}))
    assert states(table) == [("a", "z"), ("z", "a")]
    assert [column.ordered for column in table.columns] == [True, True]


@pytest.mark.parametrize("ordered", [False, True])
def test_an_arrow_dictionary_may_hold_a_null(ordered):
    indices, labels = pa.array([2, 1, 0, None]), pa.array(["z", None, "a"])
    column = pa.DictionaryArray.from_arrays(indices, labels, ordered=ordered)
    table = encode(pa.table({"a": column}), missing="available")
    assert states(table) == [(("z", "a") if ordered else ("a", "z")) + (None,)]
    assert table.codes.ravel().tolist() == ([1, 2, 0, 2] if ordered else [0, 2, 1, 2])


def test_narwhals_frames_are_opened():
    frame = nw.from_native(pl.DataFrame({"a": [1, 2]}))
    assert encode(frame).library == "polars"


def test_column_names_become_strings():
    assert encode(pd.DataFrame([[1, 2]], columns=[7, ("a", 1)])).names == ("7", "('a', 1)")


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pd.DataFrame([[1, 2, 3]], columns=["a", 1, "1"]),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
)
def test_duplicate_names_are_listed(frame):
    with pytest.raises(DuplicateNames, match=r"more than one column is named '(a|1)'; every"):
        encode(frame)


@pytest.mark.parametrize(
    ("X", "says"),
    [
        (np.ones(3), "Expected 2D array, got 1D array instead. Reshape your data"),
        ([1, 2], "Reshape your data"),
        (pd.Series([1, 2]), "Reshape your data"),
        (pa.array([1, 2]), "Reshape your data"),
        (np.ones((2, 2, 2)), "got 3D array instead"),
        (5, "got 0D array instead"),
        (
            np.empty((3, 0)),
            r"Found array with 0 feature\(s\) \(shape=\(3, 0\)\) while a minimum",
        ),
        (
            np.empty((0, 3)),
            r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum",
        ),
        (pd.DataFrame({"a": []}), r"0 sample\(s\)"),
        (pl.DataFrame(), r"0 feature\(s\)"),
        ([[1, 2], [3]], "the same number of values"),
        ([np.ones(2), np.ones(3)], "the same number of values"),
        (np.array([[1j]]), "Complex data not supported"),
        (pd.DataFrame({"a": [1j]}), "Complex data not supported: column 'a'"),
        ("votes.csv", "a str is not a table"),
        ({"a": [1]}, "a dict is not a table"),
        (None, "a NoneType is not a table"),
        (pl.LazyFrame({"a": [1]}), "lazy frame"),
    ],
)
def test_what_is_no_table_is_refused(X, says):
    with pytest.raises(TableError, match=says) as refusal:
        encode(X)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.coo_array, sparse.dia_array])
def test_sparse_matrices_are_refused(container):
    X = container(np.eye(3))
    with pytest.raises(TypeError, match="sparse"):
        encode(X)
    with pytest.raises(TableError, match="sparse"):
        encode(X)


@pytest.mark.parametrize("cell", [[1], {"foo": "bar"}, {1}])
def test_cells_that_are_no_plain_value_are_refused(cell):
    frame = pd.DataFrame({"a": [1, 2], "odd": [cell, None]})
    with pytest.raises(TableError, match="column 'odd' holds"):
        encode(frame)
    # The words scikit-learn's check_dtype_object looks for.
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        encode(frame)


def test_nested_polars_columns_are_refused():
    with pytest.raises(TableError, match="column 'odd' holds"):
        encode(pl.DataFrame({"odd": [{"a": 1}, {"a": 2}]}))


def test_infinity_is_refused(make):
    with pytest.raises(TableError, match=r"column '(b|x1)' holds an infinite number \(inf\)"):
        encode(make({"a": [1.0, 2.0], "b": [1.0, np.inf]}))


def test_the_input_is_left_alone():
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    weights = np.array([1.0, 2.0])
    before, weights_before = X.copy(), weights.copy()
    table = encode(X, weights, missing="drop", n_eff=10)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(weights, weights_before)
    assert not np.shares_memory(encode(X, weights, missing="drop").weights, weights)
    assert table.n == pytest.approx(10)
