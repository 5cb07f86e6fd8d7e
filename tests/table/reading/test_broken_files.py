"""A broken file is one line: what, where, and what to do; never a word from polars."""

import gzip
import io
import os

import polars as pl
import pytest

from isinglass.errors import DuplicateNames, FileError
from isinglass.table import read_table


def complaint(path, error=FileError, **settings):
    with pytest.raises(error) as raised:
        read_table(path, **settings)
    message = str(raised.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message.replace(f"{path.parent}{os.sep}", "")


@pytest.fixture
def broken(tmp_path):
    """The complaint about a file with that content."""

    def broken(content, name="votes.csv", **settings):
        path = tmp_path / name
        path.write_bytes(content)
        return complaint(path, **settings)

    return broken


QUOTE = (
    'a quote (") opens there and is not closed, or text follows where it closes. Correct that row.'
)


@pytest.mark.parametrize(
    ("content", "row", "says"),
    [
        (b"a,b,c\n1,2,3\n1,2\n4,5,6\n", 3, "2 cells where the header has 3. Correct that row."),
        (b"a,b,c\n1,2,3\n1,2,3,4,5\n", 3, "5 cells where the header has 3. Correct that row."),
        (
            b"a,b\nr1,1,2\n",
            2,
            "3 cells where the header has 2. Correct that row, or name the column of row names in "
            "the header.",
        ),
        (b'a,b\n"1\n\n2",3\n\n4\n', 6, "1 cell where the header has 2. Correct that row."),
        (b'a,b\n1,2\n3,"4\n5,6\n', 3, QUOTE),
        (b'a,b\n1,2\n3,"4\n5,6\n"7",8\n', 3, QUOTE),
        (b'a,b\n1,2\n"3"x,4\n', 3, QUOTE),
        (b'"a,b\n1,2\n', 1, QUOTE),
    ],
)
def test_broken_rows(broken, content, row, says):
    assert broken(content) == f"votes.csv, row {row} (the header is row 1): {says}"


NOT_UTF8 = (
    'bytes that are not UTF-8. Save the file in UTF-8, or give its encoding (encoding="latin-1").'
)


@pytest.mark.parametrize(
    ("content", "row", "column", "says"),
    [
        (b"a,b\n1,x\n2,\xff\n", 3, "'b'", NOT_UTF8),
        (b"a,\xe5\n1,x\n", 1, "2", NOT_UTF8),
        (b"a,b\n1,x\n2\0,y\n", 3, "'a'", "a NUL byte. Save the file as plain text."),
    ],
)
def test_broken_cells(broken, content, row, column, says):
    assert broken(content) == (
        f"votes.csv, row {row} (the header is row 1), column {column}: {says}"
    )


def test_a_short_row_without_header(broken):
    assert broken(b"1,2\n3\n", header=False) == (
        "votes.csv, row 2 (the first line is row 1): 1 cell where the first row has 2. Correct "
        "that row."
    )


def test_a_short_row_far_down(broken):
    content = b"a,b\n" + b"1,\n" * 20_000 + b"1\n"
    assert broken(content).startswith("votes.csv, row 20002 ")


@pytest.mark.parametrize(
    "content", [b"", b" \n\n", gzip.compress(b"", mtime=0)], ids=["nothing", "blank", "gzipped"]
)
def test_empty_file(broken, content):
    assert broken(content) == "votes.csv is empty; a table needs a header and at least one row."


@pytest.mark.parametrize("content", [b"a,b\n", b"a,b", b"a,b\n\n\n"])
def test_header_only(broken, content):
    assert broken(content).startswith("votes.csv has 2 column names but no rows;")


def test_utf16(broken):
    content = "a,b\n1,2\n".encode("utf-16")
    says = 'votes.csv is written in UTF-16; save it as UTF-8, or give encoding="utf-16".'
    assert broken(content) == says


def test_duplicate_names(broken):
    message = broken(b"a,b,a\n1,2,3\n", error=DuplicateNames)
    assert message.startswith("more than one column is named 'a'; every column needs a name")


def test_no_file(tmp_path):
    message = complaint(tmp_path / "votes.csv")
    assert message == "votes.csv does not exist; check the name and the folder."


@pytest.mark.parametrize("name", ["folder", "folder.csv"])
def test_a_folder(tmp_path, name):
    (tmp_path / name).mkdir()
    assert complaint(tmp_path / name) == f"{name} is a folder; name a file in it."


def test_a_file_as_a_folder(tmp_path):
    (tmp_path / "votes.csv").write_text("a\n1\n")
    assert "cannot be opened" in complaint(tmp_path / "votes.csv" / "other.csv")


def test_no_permission(tmp_path, monkeypatch):
    def refuse(path, mode):
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.open", refuse)
    message = complaint(tmp_path / "votes.csv")
    assert message == "votes.csv cannot be read: permission denied; change its permissions."


@pytest.mark.parametrize("name", ["votes.doc", "votes", "votes.pdf.gz"])
def test_unknown_ending(broken, name):
    message = broken(b"a\n1\n", name=name)
    assert "known are .csv, .tsv, .tab, " in message
    assert ".parquet, .arrow, .feather, .ipc, .sav, " in message
    assert ".ods, each also with .gz" in message


@pytest.mark.parametrize("name", ["votes.csv.gz", "votes.parquet.gz"])
def test_broken_gzip(broken, name):
    packed = gzip.compress(b"a,b\n1,2\n" * 1000)
    assert broken(packed[:-12], name=name) == (
        f"{name}: the gzip data is cut short; copy the file again."
    )
    damaged = packed[:-8] + bytes(4) + packed[-4:]
    assert broken(damaged, name=name) == f"{name}: the gzip data is damaged; copy the file again."


def columnar(name):
    file = io.BytesIO()
    frame = pl.DataFrame({"a": ["x", "y"] * 50, "b": range(100)})
    {"parquet": frame.write_parquet, "arrow": frame.write_ipc, "ipc": frame.write_ipc_stream}[name](
        file
    )
    return file.getvalue()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "ipc"])
@pytest.mark.parametrize("spoil", [lambda data: data[: len(data) // 2], lambda data: b"hello"])
def test_damaged_columnar_files(broken, ending, spoil):
    name = f"votes.{ending}"
    assert broken(spoil(columnar(ending)), name=name) == (
        f"{name} is damaged, or not in the format that .{ending} stands for; write it again."
    )
