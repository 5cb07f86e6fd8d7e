"""`isinglass groups`, and `--adjust` of other commands: terminal, files, JSON."""

import csv
import json
import os

import numpy as np
import polars as pl
import pytest
from matplotlib.image import imread

import isinglass as ig

CHAIN = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, signs="positive")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Two groups that differ in one link; names that HTML has to escape."""
    weak = {**CHAIN.couplings, (1, 2): 0.05 * CHAIN.couplings[1, 2]}
    other = ig.MarkovField(CHAIN.names, CHAIN.states, CHAIN.intercepts, weak)
    items = np.vstack([CHAIN.sample(500, seed=1), other.sample(500, seed=2)])
    names = ["<b>a</b>", "b & c", "x", "=1+2"]
    columns = {name: items[:, k] for k, name in enumerate(names)}
    age = np.random.default_rng(0).integers(18, 80, 1000)
    path = tmp_path_factory.mktemp("groups") / "survey.csv"
    pl.DataFrame(columns | {"sex": np.repeat(["m", "f<i>"], 500), "age": age}).write_csv(path)
    return path


def test_files_and_terminal(invoke, table, tmp_path):
    out = tmp_path / "out"
    outcome = invoke("groups", table, "--by", "sex", "--adjust", "age", "--out", out)
    assert outcome.status == 0
    assert "2 groups by sex: f<i> (500 rows), m (500 rows)" in outcome.out
    assert "b & c -- x" in outcome.out
    names = ["differences.csv", "differences.png", "exploratory.csv", "groups.html"]
    assert sorted(os.listdir(out)) == [*names, "networks.png", "paragraph.txt"]
    for picture in ("networks.png", "differences.png"):
        assert imread(out / picture).ndim == 3
    page = (out / "groups.html").read_text()
    assert "<b>a</b>" not in page
    assert "&lt;b&gt;a&lt;/b&gt;" in page
    assert "f<i>" not in page
    assert page.count("data:image/svg+xml") == 2
    assert "adjusted for sex and age" in (out / "paragraph.txt").read_text()
    rows = list(csv.DictReader((out / "differences.csv").read_text().splitlines()))
    assert [row["differs"] for row in rows] == ["False", "True", "False"]
    assert rows[-1]["target"] == "'=1+2"  # no formula


def test_json_is_clean(invoke, table):
    outcome = invoke("groups", table, "--by", "sex", "--drop", "age", "--json")
    found = json.loads(outcome.out)
    assert outcome.err == ""
    assert [group["label"] for group in found["groups"]] == ["f<i>", "m"]
    assert [edge["differs"] for edge in found["edges"]] == [False, True, False]
    assert found["omnibus"]["p_value"] < 0.001
    low, high = (found["edges"][1][end] for end in ("low", "high"))
    assert low < found["edges"][1]["difference"] < high


def test_numbers_are_cut_into_groups_as_asked(invoke, run_main, table):
    refused = run_main("groups", table, "--by", "age", "--drop", "sex")
    assert refused.status == 2
    assert "--bin age=2" in refused.err
    assert refused.err.count("\n") == 1
    outcome = invoke("groups", table, "--by", "age", "--bin", "age=40,", "--drop", "sex")
    assert "<= 40" in outcome.out
    assert "> 40" in outcome.out


def test_a_column_that_is_not_there_is_one_line(run_main, table):
    outcome = run_main("groups", table, "--by", "sexx", "--drop", "age")
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "--by names 'sexx'" in outcome.err


def test_fit_adjusts(invoke, table, tmp_path):
    out = tmp_path / "fit"
    outcome = invoke("fit", table, "--adjust", "age,sex", "--out", out)
    assert "4 columns, 2 states per column, adjusted for" in outcome.out.replace("\n", " ")
    record = ig.FitRecord.load(out / "model.json")
    assert record.adjusted == ("sex", "age")
    model = ig.MarkovField.load(out / "model.json")
    assert model.adjusted.names == ("sex", "age")
    page = (out / "report.html").read_text()
    assert "adjusted for sex and age" in page
    known = ("--given", "sex=m", "--given", "age=30", "--given", "x=1", "--of", "b & c")
    asked = json.loads(invoke("ask", out / "model.json", *known, "--json").out)
    there = model.given({"sex": "m", "age": 30})
    states = asked["answers"][0]["states"]
    assert states[1]["probability"] == pytest.approx(there.conditional("b & c", {"x": 1})[1])
    assert states[1]["before"] == pytest.approx(there.marginals()["b & c"][1])
    drawn = invoke("sample", out / "model.json", "--rows", 5, "--out", tmp_path / "drawn.csv")
    assert f"given {model.adjusted.words}" in drawn.out


def test_a_settings_file_may_adjust(invoke, table, tmp_path):
    settings = tmp_path / "survey.toml"
    settings.write_text("[columns.age]\nadjust = true\n\n[columns.sex]\ndrop = true\n")
    found = json.loads(invoke("fit", table, "--settings", settings, "--json").out)
    assert found["adjusted"] == ["age"]


def test_small_groups_are_not_hidden_by_an_adjustment(run_main, table, tmp_path):
    outcome = run_main("fit", table, "--adjust", "age,sex", "--suppress", "5", "--out", tmp_path)
    assert outcome.status == 2
    assert "--adjust" in outcome.err
