"""Files of every format become the same frame."""

import gzip
import io

import polars as pl
import pytest

from isinglass.errors import SettingError
from isinglass.table import DEFAULT_NA, encode, read_table

FRAME = pl.DataFrame(
    {"city": ["Voss", 'Å, "b"\nc', None], "n": [1, 2, 3], "ok": [True, False, True]}
)
WRITERS = {
    "t.csv": FRAME.write_csv,
    "t.tsv": lambda file: FRAME.write_csv(file, separator="\t"),
    "t.tab": lambda file: FRAME.write_csv(file, separator="\t"),
    "T.CSV": FRAME.write_csv,
    "t.parquet": FRAME.write_parquet,
    "t.arrow": FRAME.write_ipc,
    "t.feather": FRAME.write_ipc,
    "t.ipc": FRAME.write_ipc_stream,
}


@pytest.fixture
def write(tmp_path):
    """Write bytes or text to a file of that name, and return its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzipped"])
@pytest.mark.parametrize("name", WRITERS)
def test_formats(write, name, packed):
    file = io.BytesIO()
    WRITERS[name](file)
    content = file.getvalue()
    path = write(f"{name}.gz", gzip.compress(content)) if packed else write(name, content)
    assert read_table(path).equals(FRAME)
    assert read_table(str(path)).equals(FRAME)


def test_gzip_is_known_by_its_content_not_its_name(write):
    assert read_table(write("t.csv", gzip.compress(b"a\n1\n"))).rows() == [(1,)]
    assert read_table(write("t.csv.gz", b"a\n1\n")).rows() == [(1,)]


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("a,b\n1,x\n", {"a": [1], "b": ["x"]}),
        ("\ufeffa,b\n1,x\n", {"a": [1], "b": ["x"]}),
        ("a;b\n1,5;x\n", {"a": ["1,5"], "b": ["x"]}),
        ("a\tb\n1\tx\n", {"a": [1], "b": ["x"]}),
        ("a,b\r\n1,x\r\n", {"a": [1], "b": ["x"]}),
        ("a,b\r1,x\r", {"a": [1], "b": ["x"]}),
        ("a,b\n1,x", {"a": [1], "b": ["x"]}),
        ("a , b\n1,x\n", {"a": [1], "b": ["x"]}),
        ('"a\nc","b,d"\n1,x\n', {"a\nc": [1], "b,d": ["x"]}),
        ('a,b\n"1,\n\n""2""",x\n', {"a": ['1,\n\n"2"'], "b": ["x"]}),
        ('a,b\n5" pipe,1\nx,2\n', {"a": ['5" pipe', "x"], "b": [1, 2]}),
        ("\n\na,b\n1,x\n\n2,y\n\n\n", {"a": [1, 2], "b": ["x", "y"]}),
        ("a,b\n1,\n\n2,y\n", {"a": [1, 2], "b": [None, "y"]}),
        (",b\nr1,x\n", {"x0": ["r1"], "b": ["x"]}),
        ("a,\n1,x\n", {"a": [1], "x1": ["x"]}),
        ("a,b\n2020-01-01,x\n", {"a": ["2020-01-01"], "b": ["x"]}),
    ],
)
def test_shapes_of_csv(write, content, columns):
    assert read_table(write("t.csv", content)).to_dict(as_series=False) == columns


def test_types_are_inferred_from_the_whole_file(write):
    content = "a,b\n" + "1,0\n" * 5000 + "late,0.5\n"
    frame = read_table(write("t.csv", content))
    assert frame.dtypes == [pl.String, pl.Float64]


def test_without_header(write):
    frame = read_table(write("t.csv", "1,x\n2,y\n"), header=False)
    assert frame.to_dict(as_series=False) == {"x0": [1, 2], "x1": ["x", "y"]}


def test_default_na(write):
    content = "a,b\n" + "".join(f"{word},1\n" for word in DEFAULT_NA) + "2,1\n"
    frame = read_table(write("t.csv", content))
    assert frame["a"].null_count() == len(DEFAULT_NA)
    assert frame["a"].dtype == pl.Int64


@pytest.mark.parametrize("na", ["?", ["?", "-9"], ("?",)])
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_na_adds_to_the_default(write, na, name):
    frame = pl.DataFrame({"a": ["x", "?", None], "b": [1, -9, 2]})
    file = io.BytesIO()
    (frame.write_csv if name == "t.csv" else frame.write_parquet)(file)
    read = read_table(write(name, file.getvalue()), na)
    assert read["a"].to_list() == ["x", None, None]
    assert read["b"].to_list() == ([1, None, 2] if "-9" in na else [1, -9, 2])
    assert read["b"].dtype == pl.Int64


@pytest.mark.parametrize("na", [3, ["a", 3], None])
def test_na_must_be_text(write, na):
    with pytest.raises(SettingError, match="na must be text, or a list of values, each text"):
        read_table(write("t.csv", "a\n1\n"), na)


def test_from_file_to_table(write):
    table = encode(read_table(write("t.csv", "vote,age\nyes,31\nno,45\nyes,62\n")))
    assert table.columns[0].states == ("no", "yes")
    assert table.library == "polars"
