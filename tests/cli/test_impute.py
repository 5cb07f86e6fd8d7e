"""`isinglass impute`: a completed table, or one line that says why not."""

import polars as pl
import pytest

from isinglass import GreedyGraph, read_table


@pytest.fixture
def survey_with_missing(survey, tmp_path):
    """A model of the survey, and the survey with question marks in it."""
    columns = ["a", "b", "c", "alone", "age"]
    table = read_table(survey).select(columns)
    GreedyGraph(bins={"age": 3}).fit(table).model_.save(tmp_path / "model.json")
    text = table.cast(pl.String).with_columns(
        pl.when(pl.int_range(300) % 7 == v).then(pl.lit("?")).otherwise(pl.col(name)).alias(name)
        for v, name in enumerate(columns)
    )
    text.write_csv(tmp_path / "incomplete.csv")
    return tmp_path / "model.json", tmp_path / "incomplete.csv"


def test_missing_values_are_filled_in(invoke, survey_with_missing, tmp_path):
    model, data = survey_with_missing
    out = tmp_path / "complete.csv"
    outcome = invoke("impute", model, data, "--na", "?", "--out", out)
    assert outcome.out.startswith(
        f"wrote {out}: 215 values filled in, 300 rows in all\nfor display: "
    )
    before, after = pl.read_csv(data, null_values="?"), pl.read_csv(out)
    assert after.columns == before.columns
    assert after.null_count().sum_horizontal()[0] == 0
    for name in ("a", "b", "c", "alone"):
        seen = before[name].is_not_null()
        assert (after[name].filter(seen) == before[name].filter(seen)).all()
    agree = (after["a"] == "yes") == (after["b"] == 1)
    assert agree.mean() > 0.8


def test_several_tables_and_seeds(invoke, survey_with_missing, tmp_path):
    model, data = survey_with_missing
    arguments = ("impute", model, data, "--na", "?", "--draws", 2)
    invoke(*arguments, "--out", tmp_path / "t.csv", "--seed", 4)
    first, second = ((tmp_path / f"t-{at}.csv").read_text() for at in (1, 2))
    assert first != second
    invoke(*arguments, "--out", tmp_path / "u.csv", "--seed", 4)
    assert (tmp_path / "u-2.csv").read_text() == second


def test_what_is_wrong_is_one_line(run_main, survey_with_missing, tmp_path):
    model, data = survey_with_missing
    outcome = run_main("impute", model, data, "--out", tmp_path / "t.csv")
    assert outcome.status == 2
    assert "holds '?', which fit never saw" in outcome.err
    assert not (tmp_path / "t.csv").exists()
    outcome = run_main("impute", data, data, "--out", tmp_path / "t.csv")
    assert "cannot be loaded" in outcome.err


@pytest.fixture
def odd_cells(tmp_path):
    """A model, and a file whose cells can be written in more than one way."""
    rows = [("01234", "true", "1.10", "NA"), ("1234", "false", "1.1", "x"), ("7", "true", "2", "x")]
    names = ["zip", "ok", "v", "note"]
    lines = [",".join(names), *(",".join(row) for row in rows * 40)]
    (tmp_path / "whole.csv").write_text("\n".join(lines) + "\n")
    table = read_table(tmp_path / "whole.csv", na="")
    GreedyGraph().fit(table.drop("note")).model_.save(tmp_path / "model.json")
    return tmp_path / "model.json", lines


def test_cells_that_are_there_come_back_as_they_were_written(invoke, odd_cells, tmp_path):
    model, lines = odd_cells
    incomplete = [*lines[:2], "1234,?,1.1,x", "?,true,1.10,NA", "01234,true,?,NA", *lines[3:]]
    data, out = tmp_path / "incomplete.csv", tmp_path / "complete.csv"
    data.write_text("\n".join(incomplete) + "\n")
    invoke("impute", model, data, "--na", "?", "--most-likely", "--out", out)
    after = out.read_text().splitlines()
    assert after[:2] == incomplete[:2]
    assert after[5:] == incomplete[5:]
    assert after[2:5] == ["1234,false,1.1,x", "01234,true,1.10,NA", "01234,true,1.10,NA"]


def test_the_separator_and_the_header_stay(invoke, odd_cells, tmp_path):
    model, lines = odd_cells
    lines = [" zip;ok ;v;note", *(line.replace(",", ";") for line in lines[1:])]
    lines[1] = lines[1].replace("true", "")
    data, out = tmp_path / "incomplete.csv", tmp_path / "complete.csv"
    data.write_text("\n".join(lines) + "\n")
    invoke("impute", model, data, "--na", "", "--most-likely", "--out", out)
    lines[1] = lines[1].replace(";;", ";true;")
    assert out.read_text().splitlines() == lines
    invoke("impute", model, data, "--na", "", "--most-likely", "--out", tmp_path / "c.tsv")
    assert (tmp_path / "c.tsv").read_text().startswith(" zip\tok \tv\tnote\n01234\ttrue\t1.10\t")


def test_other_formats_keep_their_types(invoke, tmp_path):
    frame = pl.DataFrame(
        {
            "a": pl.Series([1, 2, None] * 40, dtype=pl.Int16),
            "b": pl.Series(["x", "y", "x"] * 40, dtype=pl.Categorical),
            "c": [0.5, None, 1.0] * 40,
        }
    )
    GreedyGraph(missing="available").fit(frame).model_.save(tmp_path / "model.json")
    frame.write_parquet(tmp_path / "incomplete.parquet")
    out = tmp_path / "complete.parquet"
    invoke("impute", tmp_path / "model.json", tmp_path / "incomplete.parquet", "--out", out)
    after = pl.read_parquet(out)
    assert after.schema == frame.schema
    assert after.null_count().sum_horizontal().item() == 0
    for name in frame.columns:
        assert after[name].filter(frame[name].is_not_null()).equals(frame[name].drop_nulls())


def test_a_binned_column_keeps_what_was_seen(invoke, survey_with_missing, tmp_path):
    model, data = survey_with_missing
    out = tmp_path / "complete.csv"
    invoke("impute", model, data, "--na", "?", "--out", out)
    before, after = (pl.read_csv(path, infer_schema=False)["age"] for path in (data, out))
    seen = before != "?"
    assert after.filter(seen).equals(before.filter(seen))
    assert after.filter(~seen).str.contains("^(<=|>) ").all()


def test_a_column_of_text_may_hold_nothing_but_numbers_here(invoke, odd_cells, tmp_path):
    model, lines = odd_cells
    rows = [line for line in lines[1:] if line.startswith("1234,")]
    data, out = tmp_path / "incomplete.csv", tmp_path / "complete.csv"
    data.write_text("\n".join([lines[0], "1234,,1.1,x", *rows]) + "\n")
    invoke("impute", model, data, "--na", "", "--most-likely", "--out", out)
    assert out.read_text().splitlines() == [lines[0], "1234,false,1.1,x", *rows]


def test_tables_of_somebody_else_are_not_replaced(run_main, survey_with_missing, tmp_path):
    model, data = survey_with_missing
    mine = tmp_path / "complete-2.csv"
    mine.write_text("mine")
    impute = ("impute", model, data, "--na", "?", "--draws", 2, "--out", tmp_path / "complete.csv")
    refused = run_main(*impute)
    assert refused.status == 2
    assert "give --overwrite" in refused.err
    assert mine.read_text() == "mine"
    assert not (tmp_path / "complete-1.csv").exists()
    assert run_main(*impute, "--overwrite").status == 0
    assert mine.read_text() != "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--use", "inference"), "Leave out --use inference"),
        (("--draws", 10**9), "--draws must be a whole number from 1 to 100,000"),
    ],
)
def test_errors_are_in_the_words_of_the_shell(run_main, survey_with_missing, tmp_path, words, said):
    outcome = run_main("impute", *survey_with_missing, *words, "--out", tmp_path / "complete.csv")
    assert outcome.status == 2
    assert said in outcome.err
    assert "with_errors" not in outcome.err


def test_a_format_that_is_not_written_is_refused_before_the_work(run_main, survey_with_missing):
    model, data = survey_with_missing
    outcome = run_main("impute", model, data, "--na", "?", "--out", "complete.sav")
    assert "tables are written as CSV, TSV, Parquet or Arrow" in outcome.err
