"""Codebooks in files: what is written is read again, and what is no codebook is refused."""

import polars as pl
import pytest

from isinglass import Codebook, Variable, read_codebook, read_table
from isinglass.errors import FileError, SettingError

BOOK = Codebook(
    {
        "mood": Variable("How is it?", {1: "bad", 2: "fair; so, so", 3: "good | fine"}, None, (9,)),
        "place": Variable(None, {"n": "north", "s": "south"}, False, ("?", (97.0, 99.0))),
        "size": Variable('says "big"', {}, ("small", "large"), ()),
        "plain": Variable(),
        "scale": Variable(values={0: "none", 0.5: "half"}, order=True),
    }
)


def test_round_trip(tmp_path):
    path = tmp_path / "codebook.csv"
    path.write_text(BOOK.to_csv(), encoding="utf-8")
    assert dict(read_codebook(path)) == dict(BOOK)


def test_a_file_of_a_spreadsheet(tmp_path):
    path = tmp_path / "codebook.csv"
    text = "Name;Values;Order\nq;1=low | 2=high;low < high\n\n"
    path.write_bytes(text.encode("utf-8-sig"))
    said = read_codebook(path)["q"]
    assert said.values == {1: "low", 2: "high"}
    assert said.order == ("low", "high")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "its first line must have the headings name, label"),
        ("", "its first line must have the headings"),
        ("label\nx\n", "its first line must have the headings"),
        (
            "name,values\nq,1 never\n",
            "row 2: values are written as 1=never; 2=often, not '1 never'",
        ),
        ("name\nq\nq\n", "row 3: names 'q' again"),
        ("name,label\n,x\n", "row 2: has no name"),
        ('name\n"q\n', "cannot be read as a codebook"),
    ],
)
def test_what_is_no_codebook(tmp_path, text, words):
    path = tmp_path / "codebook.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=words):
        read_codebook(path)


def test_a_codebook_in_another_encoding(tmp_path):
    path = tmp_path / "codebook.csv"
    path.write_bytes("name,label\nq,Größe\n".encode("latin-1"))
    with pytest.raises(FileError, match="not written in UTF-8"):
        read_codebook(path)


def test_a_plain_table_with_a_codebook(tmp_path):
    table, book = tmp_path / "t.csv", tmp_path / "codebook.csv"
    table.write_text("mood,age\n3,20\n1,30\nrefused,99\n")
    book.write_text("name,values,missing\nmood,1=bad; 2=fair; 3=good,refused\n")
    found = read_table(table, codebook=book, missing_codes={"age": [99]})
    assert found["mood"].to_list() == ["good", "bad", None]
    assert found["mood"].dtype == pl.Enum(["bad", "good"])
    assert found["age"].to_list() == [20, 30, None]
    assert found["age"].dtype == pl.Int64


def test_missing_codes_of_all_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,-9.0\n-9,x\n")
    assert read_table(path, missing_codes={"*": [-9]}).rows() == [(1, None), (None, "x")]


@pytest.mark.parametrize("codes", [{"a": 9}, [9], "a=9"], ids=str)
def test_missing_codes_of_another_kind(tmp_path, codes):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with pytest.raises(
        SettingError, match="missing_codes must be a dict of column name to a list of codes"
    ):
        read_table(path, missing_codes=codes)


@pytest.mark.parametrize("given", [3, ["a"], {"a": "label"}], ids=str)
def test_what_a_codebook_is_not(tmp_path, given):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with pytest.raises(SettingError, match="codebook must be the path of a codebook"):
        read_table(path, codebook=given)


def test_the_order_of_states(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size\nlarge\nsmall\nmiddle\n")
    found = read_table(path, order={"size": ["small", "middle", "large"]})
    assert found["size"].dtype == pl.Enum(["small", "middle", "large"])
    with pytest.raises(SettingError, match="without 'large'"):
        read_table(path, order={"size": ["small", "middle"]})
    with pytest.raises(SettingError, match="order must be a dict"):
        read_table(path, order={"size": "small"})
