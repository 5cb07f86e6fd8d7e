"""`isinglass inspect`, settings files, labels in results, and refusals that name all reasons."""

import csv
import json
import shlex

import polars as pl
import pyreadstat
import pytest

from isinglass import FitRecord, summarise
from isinglass.errors import FileError, IsinglassError, SettingError, SeveralProblems


def test_what_is_printed(invoke, survey):
    out = invoke("inspect", survey).out
    assert out.startswith("300 rows, 8 columns")
    for words in ("looks like", "Why", "--drop id", "cut into 4 bins", "The command"):
        assert words in out
    assert out.splitlines()[-1].startswith(f"isinglass fit {survey} --drop id --bin age=4")


def test_json_is_the_same_for_programs(invoke, survey):
    said = json.loads(invoke("inspect", survey, "--json").out)
    assert said["rows"] == 300
    assert [column["name"] for column in said["columns"]][:2] == ["a", "b"]
    assert said["columns"][4]["fit"] == "refuses it: 300 distinct values"
    assert {reason["option"] for reason in said["reasons"]} == {
        "--drop id",
        "--bin age=4 and share=4",
    }
    assert shlex.split(said["command"])[3:5] == said["options"][:2]


def test_nothing_is_left(invoke, write_csv, tmp_path):
    path = write_csv(tmp_path / "t.csv", {"id": range(50), "same": ["x"] * 50})
    assert "No column is left to learn from." in invoke("inspect", path).out
    assert json.loads(invoke("inspect", path, "--json").out)["command"] is None


def test_hostile_names_are_shown_in_one_line(invoke, write_csv, tmp_path):
    path = write_csv(tmp_path / "t.csv", {"[red]a\x1b[31m\n": [0, 1] * 20, "b": [0, 1] * 20})
    out = invoke("inspect", path).out
    assert "\x1b[31m" not in out.rpartition("The command")[0]
    assert "[red]a" in out


def test_a_broken_file_is_one_line(run_main, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2,3\n")
    outcome = run_main("inspect", path)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1


SETTINGS = """
[fit]
threshold = 0.02
rule = "and"
[columns.id]
drop = true
[columns.count]
drop = true
[columns.share]
drop = true
[columns.age]
label = "Age in years"
bins = [30, 60]
[columns.b]
label = "The second question"
values = { 0 = "never", 1 = "always" }
[columns.alone]
order = ["z", "y", "x"]
[columns.a]
high = "no"
"""


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(SETTINGS)
    return path


def test_fit_obeys_a_settings_file(invoke, survey, settings):
    found = json.loads(invoke("fit", survey, "--settings", settings, "--json").out)
    nodes = {node["name"]: node for node in found["nodes"]}
    assert list(nodes) == ["a", "b", "c", "alone", "age"]
    assert nodes["age"]["states"] == ["<= 30", "> 30 to 60", "> 60"]
    assert nodes["age"]["label"] == "Age in years"
    assert nodes["b"]["states"] == ["never", "always"]
    assert nodes["alone"]["states"] == ["z", "y", "x"]
    assert nodes["alone"]["ordered"]
    assert nodes["a"]["high"] == "no"
    assert (found["threshold"], found["rule"]) == (0.02, "and")


def test_what_is_typed_comes_first(invoke, survey, settings):
    typed = ("--threshold", "0.05", "--bin", "age=2", "--settings", settings)
    found = json.loads(invoke("fit", survey, *typed, "--json").out)
    assert found["threshold"] == 0.05
    assert len(found["nodes"][-1]["states"]) == 2
    assert found["rule"] == "and"


def test_other_commands_obey_too(invoke, survey, settings):
    out = invoke("compare", survey, "--settings", _without_threshold(settings), "--folds", 2).out
    assert "greedy" in out


def _without_threshold(path):
    path.write_text(path.read_text().replace("threshold = 0.02\n", "").replace('rule = "and"', ""))
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[fit\n", "is not written in TOML"),
        ("colour = 1", "'colour' is not known; known are reading, fit, groups, columns"),
        ("[fit]\nmissing = 3", r"in \[fit\], missing cannot be 3"),
        ("[fit]\nadjust = ['age']", r"in \[fit\], 'adjust' is not known"),
        ("[columns]\nage = 3", r"\[columns.'age'\] must be a section"),
        ("[columns.age]\nbin = 3", "of column 'age', 'bin' is not known"),
        ("[columns.age]\nbins = 'four'", "of column 'age', bins cannot be 'four'"),
        ("fit = 3", r"fit must be a section, \[fit\]"),
    ],
)
def test_settings_that_are_none(invoke, survey, tmp_path, text, words):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(FileError, match=words):
        invoke("fit", survey, "--settings", path)


def test_settings_that_a_command_has_no_option_for(invoke, survey, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('[fit]\nrule = "and"\n')
    with pytest.raises(
        SettingError, match="sets 'rule', for which isinglass compare has no option"
    ):
        invoke("compare", survey, "--settings", path)


def test_labels_are_in_every_result(invoke, tmp_path):
    rows = [0, 1] * 60
    path = tmp_path / "s.sav"
    pyreadstat.write_sav(
        pl.DataFrame({"q1": rows, "q2": rows}),
        path,
        column_labels={"q1": "Do you smoke?", "q2": "Do you <b>cough</b>?"},
        variable_value_labels={"q1": {0: "no", 1: "yes"}},
    )
    out = tmp_path / "out"
    invoke("fit", path, "--out", out)
    nodes, edges = (
        list(csv.DictReader((out / name).read_text().splitlines()))
        for name in ("nodes.csv", "edges.csv")
    )
    assert [row["label"] for row in nodes] == ["Do you smoke?", "Do you <b>cough</b>?"]
    assert (edges[0]["source_label"], edges[0]["target_label"]) == (
        "Do you smoke?",
        "Do you <b>cough</b>?",
    )
    page = (out / "report.html").read_text()
    assert "Do you smoke?" in page
    assert "<b>cough" not in page
    invoke("report", out / "model.json", "--out", tmp_path / "again.md")
    assert "Do you smoke?" in (tmp_path / "again.md").read_text()


def test_all_reasons_at_once(invoke, run_main, write_csv, tmp_path):
    path = write_csv(
        tmp_path / "t.csv",
        {"id": range(50), "age": [*range(49), ""], "a": [0, 1] * 25, "size": ["inf", *[1] * 49]},
    )
    with pytest.raises(SeveralProblems) as raised:
        invoke("fit", path)
    assert [type(error).__name__ for error in raised.value.errors] == [
        "MissingValues",
        "TableError",
        "TooManyStates",
    ]
    said = run_main("fit", path).err
    assert "refused for 3 reasons. (1) missing values" in said
    assert "(3) column 'id' has 50 distinct values" in said
    assert f"`isinglass inspect {path}` shows every column" in said
    assert said.count("\n") == 1


def test_a_single_reason_points_to_inspect_too(run_main, survey):
    said = run_main("fit", survey, "--drop", "id", "--drop", "share").err
    assert said.startswith("isinglass: column 'age' has")
    assert f"`isinglass inspect {survey}`" in said


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--missing-code", "b"), "--missing-code takes NAME=CODE"),
        (("--missing-code", "b="), "--missing-code takes NAME=CODE"),
        (("--order", "b"), "--order takes NAME=STATES"),
        (("--order", "alone=x"), "--order takes NAME=STATES"),
    ],
)
def test_options_that_are_none(invoke, survey, option, words):
    with pytest.raises(SettingError, match=words):
        invoke("fit", survey, *option)


def test_codes_and_orders_that_are_typed(invoke, survey):
    plain = ("--drop", "id", "--drop", "age", "--drop", "count", "--drop", "share")
    typed = ("--missing-code", "alone=z", "--order", "alone=y,x", "--missing", "drop")
    found = json.loads(invoke("fit", survey, *plain, *typed, "--json").out)
    assert found["nodes"][3]["states"] == ["y", "x"]


GROUPS = """
[groups.mood]
columns = ["a", "b"]
colour = "#d55e00"

[groups."<b>rest"]
columns = ["alone", "id"]

[columns.id]
drop = true
[columns.age]
drop = true
bins = 4
[columns.share]
drop = true
"""


def test_groups_with_colours_reach_the_record_and_the_report(invoke, survey, tmp_path):
    path = tmp_path / "survey.toml"
    path.write_text(GROUPS)
    found = invoke("fit", survey, "--settings", path, "--json", "--out", tmp_path / "out").out
    groups = [
        {"name": "mood", "colour": "#d55e00", "columns": ["a", "b"]},
        {"name": "<b>rest", "colour": None, "columns": ["alone"]},
    ]
    assert json.loads(found)["groups"] == groups
    assert summarise(FitRecord.load(tmp_path / "out" / "model.json"))["groups"] == groups
    hidden = summarise(FitRecord.load(tmp_path / "out" / "model.json"), suppress=5)
    assert hidden["groups"] == groups
    assert "#d55e00" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("groups = 3", r"groups must be a section, \[groups\]"),
        ("[groups]\nmood = 3", r"\[groups.'mood'\] must be a section of its own"),
        ("[groups.mood]\ncolor = 'red'", "of group 'mood', 'color' is not known"),
        ("[groups.mood]\ncolour = '#00f'", r"\[groups.'mood'\] needs columns"),
        ("[groups.mood]\ncolumns = ['a']\ncolour = 'red'", "colour must be like"),
        ("[groups.x]\ncolumns=['a']\n[groups.y]\ncolumns=['b', 'a']", "is in 'x' already"),
        ("[groups.x]\ncolumns = ['none']", "which is not in the table"),
    ],
)
def test_groups_that_are_none(invoke, survey, tmp_path, text, words):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(IsinglassError, match=words):
        invoke("fit", survey, "--settings", path)
