"""SPSS, Stata and SAS: labels, order and codes for missing values arrive with the table."""

import datetime as dt
import gzip
import sys

import numpy as np
import polars as pl
import pytest

import isinglass as ig
from isinglass.errors import FileError, MissingExtra
from isinglass.table import encode

pyreadstat = pytest.importorskip("pyreadstat")

MOOD = {1: "bad", 2: "fair", 3: "good", 98: "refused", 99: "don't know"}
PLACE = {1: "town", 2: "village", 3: "farm"}
LABELS = {"mood": "How are you?", "sleep": "How did you sleep?", "place": "Where do you live?"}


@pytest.fixture
def survey():
    """A chain mood - sleep - pain, in codes, some of them for refused answers; and a place."""
    rng = np.random.default_rng(3)
    n = 800
    mood = rng.integers(1, 4, n)
    sleep = np.where(rng.random(n) < 0.7, mood, rng.integers(1, 4, n))
    pain = np.where(rng.random(n) < 0.8, sleep > 2, rng.random(n) < 0.5).astype(int)
    refused = rng.random(n) < 0.02
    return pl.DataFrame(
        {
            "mood": np.where(refused, rng.choice([98, 99], n), mood),
            "sleep": sleep,
            "pain": pain,
            "place": rng.integers(1, 4, n),
        }
    )


@pytest.fixture
def plain(survey):
    """The same table as one would write it in Python."""
    words = {1: "bad", 2: "fair", 3: "good"}
    scale = pl.Enum(list(words.values()))
    return survey.with_columns(
        *(
            pl.col(name).replace_strict(words, default=None).cast(scale)
            for name in ("mood", "sleep")
        ),
        pl.col("pain").replace_strict({0: "no", 1: "yes"}).cast(pl.Enum(["no", "yes"])),
        pl.col("place").replace_strict(PLACE).cast(pl.Categorical()),
    )


VALUES = {
    "mood": MOOD,
    "sleep": {code: MOOD[code] for code in (1, 2, 3)},
    "pain": {0: "no", 1: "yes"},
    "place": PLACE,
}


def write_spss(survey, path, **settings):
    pyreadstat.write_sav(
        survey,
        path,
        column_labels=LABELS,
        variable_value_labels=VALUES,
        missing_ranges={"mood": [{"lo": 98, "hi": 99}]},
        variable_measure={
            "mood": "ordinal",
            "sleep": "ordinal",
            "pain": "nominal",
            "place": "nominal",
        },
        **settings,
    )
    return path


def graph(table):
    return ig.GreedyGraph(missing="drop").fit(table)


@pytest.mark.parametrize("name", ["s.sav", "s.zsav", "S.SAV"])
def test_spss_round_trip(survey, plain, tmp_path, name):
    path = write_spss(survey, tmp_path / name, compress=name.endswith("zsav"))
    from_file, from_frame = graph(ig.read_table(path)), graph(plain)
    assert from_file.table_.columns == from_frame.table_.columns
    assert from_file.graph_.links == from_frame.graph_.links
    assert from_file.graph_.edges == [("mood", "sleep"), ("sleep", "pain")]
    assert from_file.table_.ordered == (True, True, True, False)
    assert {link.sign for link in from_file.graph_.links} == {1}


def test_stata_round_trip(survey, plain, tmp_path):
    path = tmp_path / "s.dta"
    pyreadstat.write_dta(survey, path, column_labels=LABELS, variable_value_labels=VALUES)
    # Stata has no levels of measurement, and no codes of the user's own among the numbers.
    table = ig.read_table(path, missing_codes={"mood": ["refused", 99]})
    from_file, from_frame = graph(table), graph(plain)
    assert from_file.graph_.links == from_frame.graph_.links
    assert from_file.table_.states[:3] == from_frame.table_.states[:3]
    assert from_file.table_.states[3] == tuple(PLACE.values())


def test_a_codebook_corrects_the_file(survey, tmp_path):
    path = write_spss(survey, tmp_path / "s.sav")
    book = {"place": ig.Variable(order=("farm", "village", "town"))}
    assert encode(ig.read_table(path, codebook=book), missing="drop").states[3] == (
        "farm",
        "village",
        "town",
    )


@pytest.mark.parametrize("ending", ["xpt", "por"])
def test_other_formats(survey, tmp_path, ending):
    path = tmp_path / f"s.{ending}"
    writer = {"xpt": pyreadstat.write_xport, "por": pyreadstat.write_por}[ending]
    writer(survey, path, column_labels=LABELS)
    found = ig.read_table(path)
    assert [name.lower() for name in found.columns] == survey.columns
    assert found.rows() == survey.rows()
    if ending == "xpt":
        assert ig.read_codebook(path).labels == LABELS


def test_codebook_of_a_file(survey, tmp_path):
    path = write_spss(survey, tmp_path / "s.sav")
    book = ig.read_codebook(path)
    assert book.labels == LABELS
    assert book["mood"].values == MOOD
    assert book["mood"].missing == ((98.0, 99.0),)
    assert (book["mood"].order, book["place"].order) == (True, False)
    again = tmp_path / "codebook.csv"
    again.write_text(book.to_csv())
    assert dict(ig.read_codebook(again)) == dict(book)


def test_open_ended_ranges_text_and_empty_cells(tmp_path):
    path = tmp_path / "s.sav"
    table = pl.DataFrame(
        {
            "score": [-5.0, 1.5, None, 3.0],
            "word": ["a", "zz", "", "b"],
            "day": [dt.date(2020, 1, 31)] * 4,
        }
    )
    ranges = {"score": [{"lo": -sys.float_info.max, "hi": -1}, 3], "word": ["zz"]}
    pyreadstat.write_sav(table, path, missing_ranges=ranges)
    assert ig.read_table(path).rows() == [
        (None, "a", dt.date(2020, 1, 31)),
        (1.5, None, dt.date(2020, 1, 31)),
        (None, None, dt.date(2020, 1, 31)),
        (None, "b", dt.date(2020, 1, 31)),
    ]


def test_stata_s_own_missing_values(tmp_path):
    path = tmp_path / "s.dta"
    table = pl.DataFrame({"q": pl.Series([1, "a", 2, None], dtype=pl.Object)})
    pyreadstat.write_dta(table.to_pandas(), path, missing_user_values={"q": ["a"]})
    assert ig.read_table(path).rows() == [(1,), (None,), (2,), (None,)]


def test_gzipped_and_broken_files(survey, tmp_path):
    path = write_spss(survey, tmp_path / "s.sav")
    content = path.read_bytes()
    packed = tmp_path / "s.sav.gz"
    packed.write_bytes(gzip.compress(content))
    assert ig.read_table(packed).equals(ig.read_table(path))
    broken = tmp_path / "broken.sav"
    for damaged in (content[:700], b"no file of SPSS at all", content[:-200]):
        broken.write_bytes(damaged)
        with pytest.raises(FileError, match=r"broken\.sav is damaged, or not in the format"):
            ig.read_table(broken)


def test_a_file_that_unpacks_to_too_much(survey, tmp_path):
    path = tmp_path / "s.zsav"
    pyreadstat.write_sav(pl.DataFrame({"a": [0.0] * 200_000}), path, compress=True)
    with pytest.raises(FileError, match="unpacked"):
        ig.read_table(path, max_bytes=100_000)


def test_without_the_library(survey, tmp_path, monkeypatch):
    path = write_spss(survey, tmp_path / "s.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(MissingExtra, match=r"pip install 'isinglass\[files\]'"):
        ig.read_table(path)
