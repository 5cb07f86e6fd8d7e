"""A sheet is read like the same cells in a CSV file."""

import datetime as dt
import sys

import polars as pl
import pytest

import isinglass as ig
from isinglass.errors import DuplicateNames, FileError, MissingExtra, SettingError

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("fastexcel")


@pytest.fixture
def book(tmp_path):
    """Write sheets, given as lists of rows by name, and return the path."""

    def write(**sheets):
        made = openpyxl.Workbook()
        made.remove(made.active)
        for title, rows in sheets.items():
            sheet = made.create_sheet(title)
            for row in rows:
                sheet.append(row)
        path = tmp_path / "book.xlsx"
        made.save(path)
        return path

    return write


def test_the_types_of_a_sheet(book):
    path = book(
        data=[
            ["id", "score", "ok", "word", "day", "part"],
            [1, 2.5, True, "a", dt.date(2020, 1, 2), "01"],
            [2, 3, False, "NA", None, "1"],
            [3, None, True, "b", dt.date(2021, 1, 2), "02"],
        ]
    )
    found = ig.read_table(path)
    assert found["id"].to_list() == [1, 2, 3]
    assert found["score"].to_list() == [2.5, 3.0, None]
    assert found["ok"].to_list() == [True, False, True]
    assert found["word"].to_list() == ["a", None, "b"]
    assert found["part"].to_list() == ["01", "1", "02"]


def test_like_a_csv_file(book, tmp_path):
    rows = [["q1", "q2"], ["yes", 3], ["no", 4], ["", 5]]
    csv = tmp_path / "t.csv"
    csv.write_text("\n".join(",".join(map(str, row)) for row in rows))
    assert ig.read_table(book(data=rows)).equals(ig.read_table(csv))


def test_blank_rows_and_columns_are_no_data(book):
    path = book(data=[["a", None, "b"], [None] * 3, [1, None, 2], [None] * 3, [3, None, 4]])
    assert ig.read_table(path).to_dict(as_series=False) == {"a": [1, 3], "b": [2, 4]}


def test_a_column_without_a_name(book):
    assert ig.read_table(book(data=[["a", None], [1, 2]])).columns == ["a", "x1"]
    assert ig.read_table(book(data=[[1, 2], [3, 4]]), header=False).rows() == [(1, 2), (3, 4)]


def test_sheets_by_name(book):
    path = book(first=[["a"], [1]], second=[["b"], [2]])
    assert ig.read_table(path).columns == ["a"]
    assert ig.read_table(path, sheet="second").columns == ["b"]
    with pytest.raises(SettingError, match="has the sheets 'first', 'second'"):
        ig.read_table(path, sheet="third")


def test_a_codebook_for_a_sheet(book):
    path = book(data=[["q"], [1], [3], [9], [2]])
    said = {"q": ig.Variable(values={1: "low", 2: "middle", 3: "high"}, missing=(9,))}
    assert ig.read_table(path, codebook=said)["q"].to_list() == ["low", "high", None, "middle"]


@pytest.mark.parametrize(
    ("rows", "kind", "words"),
    [
        ([["a", "a"], [1, 2]], DuplicateNames, "more than one column is named 'a'"),
        ([["a", "b"]], FileError, "has 2 column names but no rows"),
        ([], FileError, "the sheet is empty"),
    ],
)
def test_what_is_no_table(book, rows, kind, words):
    with pytest.raises(kind, match=words):
        ig.read_table(book(data=rows))


def test_broken_files(book, tmp_path):
    content = book(data=[["a"], [1]]).read_bytes()
    path = tmp_path / "broken.xlsx"
    for damaged in (content[:-300], b"no spreadsheet at all"):
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=r"broken\.xlsx is damaged, password-protected"):
            ig.read_table(path)


def test_a_sheet_that_unpacks_to_too_much(book):
    path = book(data=[["a"], *([0] for _ in range(5000))])
    with pytest.raises(FileError, match="unpacked"):
        ig.read_table(path, max_bytes=path.stat().st_size + 1000)


def test_without_the_library(book, monkeypatch):
    path = book(data=[["a"], [1]])
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(MissingExtra, match=r"pip install 'isinglass\[files\]'"):
        ig.read_table(path)


def test_polars_writes_what_we_read(tmp_path):
    pytest.importorskip("xlsxwriter")
    table = pl.DataFrame({"a": [1, 2], "b": ["x", None]})
    table.write_excel(tmp_path / "t.xlsx")
    assert ig.read_table(tmp_path / "t.xlsx").equals(table)
