"""A file that is read in chunks becomes the table that it becomes at once."""

import gzip
from datetime import date

import numpy as np
import polars as pl
import pytest

import isinglass as ig
from isinglass.errors import BadWeights, FileError, MissingValues, SettingError, TooManyStates
from isinglass.table import encode, read_table
from isinglass.table.packed import stream as streaming
from isinglass.table.packed.api import is_large, stream_table
from isinglass.table.packed.stream import Encoding, Reading
from isinglass.table.reading import blocks

ROWS = 1500


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(streaming, "CHUNK_ROWS", 128)
    monkeypatch.setattr(blocks, "BLOCK", 4096)
    monkeypatch.setattr(blocks, "FRAME_CELLS", 1)
    monkeypatch.setattr(blocks, "FRAME_ROWS", 200)


def frame(seed: int = 0) -> pl.DataFrame:
    """Columns of all kinds; some states come late, some values are missing."""
    rng = np.random.default_rng(seed)

    def some(values, share=0.03):
        cells = [values[i] for i in rng.integers(0, len(values), ROWS)]
        return [None if rng.random() < share else cell for cell in cells]

    late = ["calm"] * ROWS
    late[-2] = "storm"
    return pl.DataFrame(
        {
            "whole": rng.integers(-3, 4, ROWS),
            "far": rng.choice([-(10**15), 5, 10**15], ROWS),
            "yes": rng.choice(["no", "yes"], ROWS),
            "some": some([1, 2, 5]),
            "flag": some([True, False]),
            "long": some(["a", "a longer text than eight bytes", "ä", ""]),
            "late": late,
            "rare": [7 if i == ROWS - 1 else 3 for i in range(ROWS)],
            "real": some([0.5, -0.0, 0.0, 2.0]),
            "codes": rng.choice(["01", "1", "2"], ROWS),
            "measure": rng.normal(size=ROWS).round(2),
            "count": rng.integers(0, 5, ROWS),
        }
    )


def write(table: pl.DataFrame, path) -> None:
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(table.write_csv().encode()))
    else:
        writers = {".csv": "write_csv", ".parquet": "write_parquet", ".arrow": "write_ipc"}
        getattr(table, writers[path.suffix])(path)


SETTINGS = [
    {"missing": "state", "bins": {"measure": 4}},
    {"missing": "drop", "bins": {"measure": [-0.5, 0.5]}},
    {"missing": "drop", "bins": {"measure": 3}, "sample_weight": "count"},
    {"missing": "state", "bins": {"measure": 3}, "high": {"yes": "no"}, "sample_weight": "count"},
]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_the_same_table(tmp_path, name, settings):
    path = tmp_path / name
    write(frame(), path)
    whole = encode(read_table(path), **settings)
    packed = ig.pack(path, tmp_path / "t.bits", **settings)
    assert packed.columns == whole.columns
    np.testing.assert_array_equal(packed.codes, whole.codes)
    np.testing.assert_array_equal(packed.weights, whole.weights)
    assert packed.notes == whole.notes
    assert (packed.dropped, packed.fingerprint) == (whole.dropped, whole.fingerprint)
    far = stream_table(path, Reading(), Encoding(**settings))
    assert (far.columns, far.notes, far.n) == (whole.columns, whole.notes, whole.n)
    for j in range(len(whole.columns)):
        assert far.rows_of_states(j).tolist() == whole.rows_of_states(j).tolist()


@pytest.mark.parametrize(
    "kind", [pl.Categorical, pl.Enum(["low", "mid", "high"]), pl.Date, pl.Int8]
)
def test_types_of_parquet(tmp_path, kind):
    rng = np.random.default_rng(1)
    values = {pl.Date: [date(2020, 1, d) for d in (1, 2, 3)], pl.Int8: [-100, 0, 100]}
    labels = values.get(kind, ["low", "mid", "high"])
    cells = [labels[i] for i in rng.integers(0, 3, ROWS)]
    table = pl.DataFrame({"a": pl.Series(cells, dtype=kind), "b": rng.integers(0, 2, ROWS)})
    table.write_parquet(tmp_path / "t.parquet")
    whole = encode(read_table(tmp_path / "t.parquet"))
    far = stream_table(tmp_path / "t.parquet", Reading(), Encoding()) if kind != pl.Date else None
    if far is None:  # labels that a manifest cannot hold
        with pytest.raises(ig.IsinglassError, match=r"keeps texts, numbers and booleans"):
            stream_table(tmp_path / "t.parquet", Reading(), Encoding())
        return
    assert far.columns == whole.columns
    assert far.rows_of_states(0).tolist() == whole.rows_of_states(0).tolist()


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("a,b\n1,x\n\n2,y\n1,y", {}),
        ('a,b\n1,"x,\nz"\n2,y\n1,"say ""no"""\n', {}),
        ("a;b\r\n1;x\r\n2;?\r\n", {"na": ("?",)}),
        ("1\tx\n2\ty\n", {"header": False, "sep": "\t"}),
        ("\ufeffa,b\nä,x\nü,y\n", {}),
        ("a,b\nä,x\nü,y\n", {"encoding": "latin-1"}),
        ("a,b\n9,x\n1,y\n2,x\n", {"missing_codes": {"a": [9]}}),
        ("a,b\nbad,x\ngood,y\nfair,x\n", {"order": {"a": ["bad", "fair", "good"]}}),
        ("only\n1\n2\n\n1\n", {}),
        ("a,b\rx,1\ry,2\r", {}),
    ],
)
def test_texts_of_all_kinds(tmp_path, text, reading, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(reading.get("encoding", "utf-8")))
    whole = encode(read_table(path, **reading), missing="state")
    far = ig.pack(path, tmp_path / "t.bits", **reading, missing="state")
    assert far.columns == whole.columns
    np.testing.assert_array_equal(far.codes, whole.codes)


def test_quotes_in_the_middle_of_a_long_file(tmp_path):
    rows = [f"{i % 3},word {i % 2}" for i in range(3000)]
    rows[1500] = '"1","word, quoted\nover two lines"'
    rows[2900] = '2,"word 1"'
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "\n".join(rows) + "\n")
    whole, far = encode(read_table(path)), ig.pack(path, tmp_path / "t.bits")
    assert far.columns == whole.columns
    np.testing.assert_array_equal(far.codes, whole.codes)


def test_a_folder_is_one_table(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    table = frame().select("whole", "yes", "late")
    for k in range(3):
        table[500 * k : 500 * (k + 1)].write_csv(folder / f"part-{k}.csv")
    whole, far = encode(table), ig.pack(folder, tmp_path / "t.bits")
    np.testing.assert_array_equal(far.codes, whole.codes)
    assert is_large(folder)
    table[:10].rename({"yes": "no"}).write_csv(folder / "part-9.csv")
    with pytest.raises(FileError, match=r"part-9.csv has other columns than"):
        ig.pack(folder, tmp_path / "u.bits")
    (folder / "part-9.csv").unlink()
    table.write_parquet(folder / "x.parquet")
    with pytest.raises(FileError, match=r"files of several kinds"):
        ig.pack(folder, tmp_path / "u.bits")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n" + "1,2\n" * 3000 + "1\n", r"row 3002 \(the header is row 1\): 1 cell where"),
        ("a,b\n" + "1,2\n" * 3000 + "1,2,3\n", r"row 3002 \(the header is row 1\): 3 cells"),
        ("a,b\n" + "1,2\n" * 2000 + '1,"2\n', r"row 2002 .*a quote \(\"\) opens there"),
        ("a,b\n1,2\n1,\0\n", "a NUL byte"),
        ("a,a\n1,2\n", "more than one column is named 'a'"),
        ("a,b\n", "no rows"),
        ("", "is empty"),
    ],
)
def test_broken_text_is_one_sentence(tmp_path, text, said):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(ig.IsinglassError, match=said):
        ig.pack(path, tmp_path / "t.bits")
    assert [each.name for each in tmp_path.iterdir()] == ["t.csv"]


def test_bytes_that_are_not_utf8(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,2\n\xff,2\n")
    with pytest.raises(FileError, match=r"column 'a': bytes that are not UTF-8"):
        ig.pack(path, tmp_path / "t.bits")


def test_truncated_files(tmp_path):
    table = frame()
    table.write_parquet(tmp_path / "t.parquet")
    data = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(FileError, match=r"is damaged, or not in the format that .parquet"):
        ig.pack(tmp_path / "t.parquet", tmp_path / "t.bits")
    write(table, tmp_path / "t.csv.gz")
    data = (tmp_path / "t.csv.gz").read_bytes()
    (tmp_path / "t.csv.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(FileError, match=r"the gzip data is cut short"):
        ig.pack(tmp_path / "t.csv.gz", tmp_path / "t.bits", drop=["measure"])
    assert not (tmp_path / "t.bits").exists()


def test_a_file_that_changes_while_it_is_read(tmp_path):
    path = tmp_path / "t.csv"
    frame().write_csv(path)

    def progress(done, total):
        with path.open("a") as file:
            file.write("1\n")

    with pytest.raises(FileError, match=r"changed while it was read"):
        ig.pack(path, tmp_path / "t.bits", missing="state", drop=["measure"], progress=progress)
    assert [each.name for each in tmp_path.iterdir()] == ["t.csv"]


def test_settings_that_cannot_be(tmp_path):
    path = tmp_path / "t.csv"
    frame().write_csv(path)
    out = tmp_path / "t.bits"
    with pytest.raises(MissingValues, match=r"missing values .* in 4 columns") as error:
        ig.pack(path, out, drop=["measure"])
    truth = read_table(path).drop("measure")
    with pytest.raises(MissingValues) as whole:
        encode(truth)
    assert (error.value.columns, error.value.complete_rows) == (
        whole.value.columns,
        whole.value.complete_rows,
    )
    with pytest.raises(SettingError, match=r"missing must be 'error', 'drop' or 'state'"):
        ig.pack(path, out, missing="model")
    with pytest.raises(TooManyStates, match=r"column 'measure' has more than"):
        ig.pack(path, out, missing="drop")
    with pytest.raises(TooManyStates, match=r"'whole' has 7 distinct values; at most 4"):
        ig.pack(path, out, missing="drop", drop=["measure"], max_states=4)
    with pytest.raises(SettingError, match=r"no column 'nobody' to drop"):
        ig.pack(path, out, drop=["nobody"])
    with pytest.raises(BadWeights, match=r"names 'nobody'"):
        ig.pack(path, out, sample_weight="nobody")
    with pytest.raises(BadWeights, match=r"whole numbers from 0"):
        ig.pack(path, out, sample_weight="measure")
    assert not out.exists()


def test_progress_counts_rows(tmp_path):
    frame().write_parquet(tmp_path / "t.parquet")
    seen = []
    ig.pack(
        tmp_path / "t.parquet",
        tmp_path / "t.bits",
        missing="state",
        drop=["measure"],
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (ROWS, ROWS)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
