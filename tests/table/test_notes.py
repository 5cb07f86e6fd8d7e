"""What is odd is told, and nothing else."""

import numpy as np

from isinglass.table import Note, encode


def notes(*args, **kwargs):
    return encode(*args, **kwargs).notes


def test_nothing_odd():
    assert notes([[0, 1], [1, 0]] * 5) == ()


def test_constant_column():
    assert notes([[0, "red"], [1, "red"]] * 5) == (
        Note("x1", "constant", "only 'red' was seen; the column has no links"),
    )


def test_rare_levels():
    cells = ["a"] * 9 + ["b", "c", "c", "d", "e"]
    (note,) = notes([[cell] for cell in cells])
    assert note == Note(
        "x0",
        "rare level",
        "seen once or twice: 'b', 'c', 'd' and 1 more; the threshold is approximate there",
    )


def test_weights_decide_what_is_rare():
    assert notes([["a"], ["b"]], [3, 3]) == ()
    assert [note.what for note in notes([["a"], ["b"]], [3, 2])] == ["rare level"]


def test_fewer_rows_than_columns():
    X = np.eye(4, 6, dtype=int)
    assert notes(X)[0] == Note(
        None, "fewer rows than columns", "4 rows for 6 columns; only strong links can be found"
    )
    assert "fewer rows than columns" not in [note.what for note in notes(X, 2)]


def test_one_row():
    assert [note.what for note in notes([[1, 2]])] == [
        "one row",
        "fewer rows than columns",
        "constant",
        "constant",
    ]


def test_all_rows_equal():
    for odd in (notes([[1, 2]] * 3), notes([[1, 2]], 3)):
        assert [note.what for note in odd] == ["all rows equal", "constant", "constant"]
