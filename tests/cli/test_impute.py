"""`isinglass impute`: a completed table, or one line that says why not."""

import polars as pl
import pytest

from isinglass import GreedyGraph, read_table


@pytest.fixture
def survey_with_gaps(survey, tmp_path):
    """A model of the survey, and the survey with question marks in it."""
    columns = ["a", "b", "c", "alone", "age"]
    table = read_table(survey).select(columns)
    GreedyGraph(bins={"age": 3}).fit(table).model_.save(tmp_path / "model.json")
    text = table.cast(pl.String).with_columns(
        pl.when(pl.int_range(300) % 7 == v).then(pl.lit("?")).otherwise(pl.col(name)).alias(name)
        for v, name in enumerate(columns)
    )
    text.write_csv(tmp_path / "gaps.csv")
    return tmp_path / "model.json", tmp_path / "gaps.csv"


def test_the_gaps_are_filled(invoke, survey_with_gaps, tmp_path):
    model, data = survey_with_gaps
    out = tmp_path / "complete.csv"
    outcome = invoke("impute", model, data, "--na", "?", "--out", out)
    assert outcome.out.startswith(f"wrote {out}: 215 cells filled in 300 rows\nfor display: ")
    before, after = pl.read_csv(data, null_values="?"), pl.read_csv(out)
    assert after.columns == before.columns
    assert after.null_count().sum_horizontal()[0] == 0
    for name in ("a", "b", "c", "alone"):
        seen = before[name].is_not_null()
        assert (after[name].filter(seen) == before[name].filter(seen)).all()
    agree = (after["a"] == "yes") == (after["b"] == 1)
    assert agree.mean() > 0.8


def test_several_tables_and_seeds(invoke, survey_with_gaps, tmp_path):
    model, data = survey_with_gaps
    arguments = ("impute", model, data, "--na", "?", "--draws", 2)
    invoke(*arguments, "--out", tmp_path / "t.csv", "--seed", 4)
    first, second = ((tmp_path / f"t-{at}.csv").read_text() for at in (1, 2))
    assert first != second
    invoke(*arguments, "--out", tmp_path / "u.csv", "--seed", 4)
    assert (tmp_path / "u-2.csv").read_text() == second


def test_what_is_wrong_is_one_line(run_main, survey_with_gaps, tmp_path):
    model, data = survey_with_gaps
    outcome = run_main("impute", model, data, "--out", tmp_path / "t.csv")
    assert outcome.status == 2
    assert "holds '?', which fit never saw" in outcome.err
    assert not (tmp_path / "t.csv").exists()
    outcome = run_main("impute", data, data, "--out", tmp_path / "t.csv")
    assert "cannot be loaded" in outcome.err


def test_tables_of_somebody_else_are_not_replaced(run_main, survey_with_gaps, tmp_path):
    model, data = survey_with_gaps
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
def test_errors_are_in_the_words_of_the_shell(run_main, survey_with_gaps, tmp_path, words, said):
    outcome = run_main("impute", *survey_with_gaps, *words, "--out", tmp_path / "complete.csv")
    assert outcome.status == 2
    assert said in outcome.err
    assert "with_errors" not in outcome.err
