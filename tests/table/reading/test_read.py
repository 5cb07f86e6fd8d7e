"""Files of every format become the same frame."""

import datetime as dt
import gzip
import io
import tracemalloc

import polars as pl
import pytest

from isinglass.errors import FileError, SettingError
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
def test_na_of_every_format(write, na, name):
    frame = pl.DataFrame({"a": ["x", "?", None], "b": [1, -9, 2]})
    file = io.BytesIO()
    (frame.write_csv if name == "t.csv" else frame.write_parquet)(file)
    read = read_table(write(name, file.getvalue()), na)
    assert read["a"].to_list() == ["x", None, None]
    assert read["b"].to_list() == ([1, None, 2] if "-9" in na else [1, -9, 2])
    assert read["b"].dtype == pl.Int64


@pytest.mark.parametrize("na", [3, ["a", 3], None])
def test_na_must_be_text(write, na):
    with pytest.raises(SettingError, match="na must be a string or a list of strings"):
        read_table(write("t.csv", "a\n1\n"), na)


def test_from_file_to_table(write):
    table = encode(read_table(write("t.csv", "vote,age\nyes,31\nno,45\nyes,62\n")))
    assert table.columns[0].states == ("no", "yes")
    assert table.library == "polars"


def column(content, write, **reading):
    return read_table(write("t.csv", content), **reading)["a"]


def test_none_is_an_answer(write):
    assert column("a\nNone\nMinor\nnone\n", write).to_list() == ["None", "Minor", "none"]


def test_na_replaces_the_default(write):
    content = "a,b\nNA,1\n?,2\nnull,3\n,4\n"
    assert column(content, write).to_list() == [None, "?", None, None]
    assert column(content, write, na="?").to_list() == ["NA", None, "null", None]
    assert column(content, write, na=["?", "NA"]).to_list() == [None, None, "null", None]
    assert column(content, write, na="").to_list() == ["NA", "?", "null", None]
    assert column(content, write, na=()).to_list() == ["NA", "?", "null", None]


def test_na_of_numbers(write):
    content = "a\n1\n-9\n2\n"
    assert column(content, write, na="-9").to_list() == [1, None, 2]
    file = io.BytesIO()
    pl.DataFrame({"a": [1.0, -9.0], "b": ["NA", "x"], "c": [1, 2]}).write_parquet(file)
    frame = read_table(write("t.parquet", file.getvalue()), na=["-9", "NA"])
    assert frame.rows() == [(1.0, None, 1), (None, "x", 2)]


def test_na_leaves_alone_what_is_no_text(write):
    frame = pl.DataFrame(
        {
            "d": [dt.timedelta(1), None],
            "b": [b"\xff", b"9"],
            "t": [dt.time(1), None],
            "l": [[1], [9]],
            "s": ["9", "x"],
        }
    )
    file = io.BytesIO()
    frame.write_parquet(file)
    read = read_table(write("t.parquet", file.getvalue()), na="9")
    assert read.drop("s").equals(frame.drop("s"))
    assert read["s"].to_list() == [None, "x"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["01", "1"], ["01", "1"]),
        (["01", "02"], [1, 2]),
        (["1.10", "1.1"], ["1.10", "1.1"]),
        (["1.0", "1"], ["1.0", "1"]),
        (["1e3", "1000"], ["1e3", "1000"]),
        (["0", "-0"], ["0", "-0"]),
        (["+1", "1"], ["+1", "1"]),
        (["1.5", "2"], [1.5, 2.0]),
        (["true", "false"], [True, False]),
        (["True", "true"], ["True", "true"]),
        (["9007199254740993", "9007199254740992"], [9007199254740993, 9007199254740992]),
        (["92233720368547758080", "92233720368547758081"], None),
        (["0.12345678901234567890", "0.12345678901234567891"], None),
        (["1", " 1"], ["1", " 1"]),
        (["1", "NA"], [1, None]),
        (["NA", ""], [None, None]),
    ],
)
def test_cells_that_differ_stay_different(write, cells, values):
    read = column("a,b\n" + "".join(f"{cell},x\n" for cell in cells), write).to_list()
    assert read == (cells if values is None else values)
    assert list(map(type, read)) == list(map(type, cells if values is None else values))


def test_text_that_reads_as_numbers_can_be_binned(write):
    frame = read_table(write("t.csv", "a,b\n1.10,x\n1.1,x\n2.5,x\n3,y\n"))
    assert frame["a"].dtype == pl.String
    table = encode(frame, bins={"a": 2})
    assert table.columns[0].states == ("<= 1.1", "> 1.1")
    assert table.codes[:, 0].tolist() == [0, 0, 1, 1]


def packed_zeros(megabytes):
    file = io.BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb") as packed:
        packed.write(b"a\n")
        for _ in range(megabytes):
            packed.write(b"0\n" * 500_000)
    return file.getvalue()


@pytest.mark.parametrize("packed", [False, True])
def test_no_more_is_unpacked_than_may_be(write, packed):
    data = packed_zeros(20)
    path = write("t.csv.gz", data if packed else gzip.decompress(data))
    with pytest.raises(FileError) as error:
        read_table(path, max_bytes=5e6)
    assert str(error.value) == (
        f"{path} holds more than 0.005 GB when it is unpacked, the most that may be read. Take "
        "fewer rows or columns, or raise max_bytes."
    )


def test_unpacking_stops_at_the_limit(write):
    path = write("t.csv.gz", packed_zeros(100))
    tracemalloc.start()
    with pytest.raises(FileError):
        read_table(path, max_bytes=1e6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


def test_a_small_file_of_a_billion_cells(write):
    file = io.BytesIO()
    pl.DataFrame({"a": pl.repeat(1, 3_000_000, eager=True)}).write_parquet(file)
    assert len(file.getvalue()) < 100_000
    with pytest.raises(FileError, match="raise max_bytes"):
        read_table(write("t.parquet", file.getvalue()), max_bytes=1e6)


@pytest.mark.parametrize("max_bytes", [0, -1, "many", True, float("nan")])
def test_max_bytes_must_make_sense(write, max_bytes):
    with pytest.raises(SettingError, match="max_bytes must be a number of bytes"):
        read_table(write("t.csv", "a\n1\n"), max_bytes=max_bytes)


def test_separators(write):
    path = write("t.csv", "a|b,c\n1|x,y\n")
    assert read_table(path, sep="|").to_dict(as_series=False) == {"a": [1], "b,c": ["x,y"]}
    assert read_table(write("t.tsv", "a,b\n1,2\n"), sep=",").rows() == [(1, 2)]
    for sep in ("", "::", "ß", '"', "\n", 1):
        with pytest.raises(SettingError, match="sep must be one character"):
            read_table(path, sep=sep)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig", "UTF8"])
def test_encodings(write, encoding):
    path = write("t.csv", "ort,n\nKöln,1\nSæby,2\n".encode(encoding))
    assert read_table(path, encoding=encoding).rows() == [("Köln", 1), ("Sæby", 2)]


def test_wrong_encodings(write):
    path = write("t.csv", "ort\nKöln\n".encode("latin-1"))
    with pytest.raises(FileError, match="is not written in utf-16"):
        read_table(path, encoding="utf-16")
    for encoding in ("klingon", None, "base64"):
        with pytest.raises(SettingError, match="encoding must name an encoding of text"):
            read_table(path, encoding=encoding)


def test_nothing_but_a_byte_order_mark(write):
    for content in ("\ufeff", "\ufeff\n\n", "\ufeff\r\n"):
        with pytest.raises(FileError, match=r"is empty; a table needs a header"):
            read_table(write("t.csv", content))
    with pytest.raises(FileError, match="is empty"):
        read_table(write("t.csv", "".encode("utf-16")), encoding="utf-16")
