"""Data frames of R: factors, labels, dates, missing values, and files that are none."""

import bz2
import datetime as dt
import gzip
import lzma

import numpy as np
import polars as pl
import pytest

import r_writer as r
from isinglass import GreedyGraph, read_codebook, read_table
from isinglass.errors import FileError, SettingError

pytest.importorskip("rdata", reason="the extra r is not installed here")


def mixed():
    haven = ("class", r.texts(["haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"]))
    codes = ("labels", r.reals([1, 2, 9], ("names", r.texts(["no", "yes", "refused"]))))
    return {
        "size": r.factor([1, 3, None, 2], ["small", "middle", "large"], ordered=True),
        "place": r.factor([2, 1, 3, 2], ["village", "town", "farm"]),
        "item": r.reals([1, 2, 9, 1], ("label", r.texts(["Do you?"])), codes, haven),
        "count": r.integers([3, None, 5, 7], ("label", r.texts(["How many?"]))),
        "share": r.reals([0.5, None, 2.0, 1.0]),
        "word": r.texts(["a", None, "ä", ""]),
        "flag": r.logicals([True, False, None, True]),
        "day": r.reals([0, 1, None, 19723], ("class", r.texts(["Date"]))),
        "time": r.reals([0, 1.5, None, 60], ("class", r.texts(["POSIXct", "POSIXt"]))),
    }


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_a_data_frame_keeps_its_labels(tmp_path, pack):
    path = tmp_path / "answers.rds"
    path.write_bytes(r.rds(r.data_frame(mixed(), 4), pack))
    table = read_table(path)
    assert table["size"].to_list() == ["small", "large", None, "middle"]
    assert table["size"].dtype == pl.Enum(["small", "middle", "large"])
    assert table["place"].to_list() == ["town", "village", "farm", "town"]
    assert table["place"].dtype == pl.Categorical
    assert table["item"].to_list() == ["no", "yes", "refused", "no"]
    assert table["count"].to_list() == [3, None, 5, 7]
    assert table["share"].to_list() == [0.5, None, 2.0, 1.0]
    assert table["word"].to_list() == ["a", None, "ä", ""]
    assert table["flag"].to_list() == [True, False, None, True]
    assert table["day"].to_list() == [
        *(dt.date(1970, 1, 1), dt.date(1970, 1, 2), None, dt.date(2024, 1, 1))
    ]
    assert table["time"].to_list()[1] == dt.datetime(1970, 1, 1, 0, 0, 1, 500_000)
    assert read_codebook(path).labels == {"item": "Do you?", "count": "How many?"}
    assert read_table(path, missing_codes={"item": [9]})["item"].to_list()[2] is None


def test_user_missing_values_of_haven_are_missing(tmp_path):
    codes = ("labels", r.reals([1, 2, 9], ("names", r.texts(["no", "yes", "refused"]))))
    gone = ("na_values", r.reals([9])), ("na_range", r.reals([90, 99]))
    cells = r.reals([1, 2, 9, 97], codes, *gone)
    path = tmp_path / "answers.rds"
    path.write_bytes(r.rds(r.data_frame({"item": cells}, 4)))
    assert read_table(path)["item"].to_list() == ["no", "yes", None, None]


def test_data_frames_of_an_rda_file_by_name(tmp_path):
    one = r.data_frame({"a": r.integers([1, 2])}, 2)
    two = r.data_frame({"b": r.integers([3, 4])}, 2)
    path = tmp_path / "both.rda"
    path.write_bytes(r.rda(note=r.texts(["not a table"]), one=one, two=two))
    assert read_table(path).columns == ["a"]
    assert read_table(path, sheet="two")["b"].to_list() == [3, 4]
    with pytest.raises(SettingError, match=r"'three', but .* has the data frames 'one', 'two'"):
        read_table(path, sheet="three")


def test_the_graph_is_that_of_the_data_frame(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    b = np.where(rng.random(300) < 0.9, a, 1 - a)
    path = tmp_path / "pair.rds"
    levels = ["no", "yes"]
    frame = {"a": r.factor((a + 1).tolist(), levels), "b": r.factor((b + 1).tolist(), levels)}
    path.write_bytes(r.rds(r.data_frame(frame, 300)))
    plain = pl.DataFrame({"a": np.array(levels)[a], "b": np.array(levels)[b]})
    ours, theirs = (GreedyGraph().fit(table) for table in (read_table(path), plain))
    assert ours.graph_ == theirs.graph_
    assert ours.states_ == theirs.states_ == [levels, levels]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (r.rds(r.texts(["a"])), "holds no data frame"),
        (r.rda(x=r.integers([1])), "holds no data frame"),
        (b"nonsense", "is damaged, or not an R file"),
        (r.rds(r.data_frame({"a": r.integers([1])}, 1))[:40], "cut short|damaged"),
        (r.rds(r.data_frame({"a": r.integers([1] * 9)}, 9), bytes)[:90], "damaged"),
        (lzma.compress(b"X\n")[:-9], "damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # packed bytes hold the time
)
def test_files_that_are_none(tmp_path, content, words):
    path = tmp_path / "x.rds"
    path.write_bytes(content)
    with pytest.raises(FileError, match=words):
        read_table(path)


def test_a_file_that_unpacks_to_too_much(tmp_path):
    path = tmp_path / "x.rds"
    path.write_bytes(lzma.compress(bytes(10**6)))
    with pytest.raises(FileError, match="holds more than"):
        read_table(path, max_bytes=1000)
