import io
import json
import os
import sys
from itertools import pairwise

import networkx as nx
import numpy as np
import polars as pl
import pytest
from matplotlib.image import imread

from isinglass import (
    FitRecord,
    GreedyGraph,
    IsinglassError,
    MarkovField,
    read_table,
    summarise,
)
from isinglass.measures import nodes
from isinglass.selection import Auto, FalseEdges, LookBelow, Paper
from odd_names import ODD_NAMES

PLAIN = ("--drop", "id", "--drop", "age", "--drop", "count", "--drop", "share")
KEPT = ["a", "b", "c", "alone"]
FILES = ["edges.csv", "graph.graphml", "graph.png", "model.json", "nodes.csv", "report.html"]
WRITTEN = "report.html, edges.csv, nodes.csv, graph.graphml, model.json"


@pytest.fixture
def fit_json(invoke, survey):
    """The JSON of a fit of the survey with some options."""

    def run(*options, drop=PLAIN):
        outcome = invoke("fit", survey, *drop, "--json", *options)
        assert outcome.status == 0
        assert outcome.err == ""
        return json.loads(outcome.out)

    return run


@pytest.fixture
def table(survey):
    return read_table(survey).select(KEPT)


def edges_of(result) -> list[tuple[str, str]]:
    return sorted((edge["source"], edge["target"]) for edge in result["edges"])


# What is written


def test_files(invoke, survey, table, tmp_path):
    out = tmp_path / "new" / "result"
    outcome = invoke("fit", survey, *PLAIN, "--out", out)
    assert outcome.status == 0
    assert outcome.out.endswith(f"wrote {WRITTEN}, graph.png to {out}\n")
    assert sorted(os.listdir(out)) == FILES

    graph = GreedyGraph().fit(table).graph_
    assert graph.edges == [("a", "b"), ("b", "c")]
    frame = graph.to_frame()
    assert pl.read_csv(out / "edges.csv", schema=frame.schema).equals(frame)

    network = nx.read_graphml(out / "graph.graphml")
    assert list(network) == KEPT
    assert [tuple(edge) for edge in network.edges] == graph.edges
    assert [data["weight"] for *_, data in network.edges(data=True)] == [
        link.strength for link in graph
    ]
    assert imread(out / "graph.png").ndim == 3


def test_the_model_and_the_record_of_the_fit(invoke, survey, table, tmp_path, fit_json):
    invoke("fit", survey, *PLAIN, "--out", tmp_path)
    est = GreedyGraph(LookBelow(Auto())).fit(table)
    field = MarkovField.load(tmp_path / "model.json")
    assert field.states == est.model_.states
    for pair, coupling in est.model_.couplings.items():
        np.testing.assert_allclose(field.couplings[pair], coupling, rtol=0, atol=1e-12)
    record = FitRecord.load(tmp_path / "model.json")
    assert record.graph.links == est.graph_.links
    assert record.at(record.floor).links == est.at(est.floor_).links
    assert summarise(record, title="survey", paths=False) == fit_json()


def test_the_same_table_gives_the_same_files(invoke, survey, tmp_path):
    for folder in ("one", "two"):
        invoke("fit", survey, *PLAIN, "--out", tmp_path / folder)
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_nothing_is_written_without_out(invoke, survey, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = os.listdir(tmp_path)
    invoke("fit", survey, *PLAIN)
    assert os.listdir(tmp_path) == before


def test_without_matplotlib_all_but_the_picture_is_written(invoke, survey, tmp_path, monkeypatch):
    for module in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, module, None)
    outcome = invoke("fit", survey, *PLAIN, "--out", tmp_path / "out")
    assert outcome.status == 0
    *_, written, hint = outcome.out.splitlines()
    assert written == f"wrote {WRITTEN} to {tmp_path / 'out'}"
    assert hint == "no picture: pictures need matplotlib: pip install 'isinglass[plots]'"
    assert sorted(os.listdir(tmp_path / "out")) == [name for name in FILES if name != "graph.png"]

    quiet = invoke("fit", survey, *PLAIN, "--out", tmp_path / "out", "--json")
    assert json.loads(quiet.out)
    assert hint in quiet.err


def test_nodes(invoke, survey, table, tmp_path):
    invoke("fit", survey, *PLAIN, "--out", tmp_path / "plain")
    est = GreedyGraph().fit(table)
    found = pl.read_csv(tmp_path / "plain" / "nodes.csv")
    assert found.to_dicts() == nodes(est, folds=None).to_dicts()
    invoke("fit", survey, *PLAIN, "--out", tmp_path / "full", "--predictability")
    found = pl.read_csv(tmp_path / "full" / "nodes.csv")
    assert found.to_dicts() == nodes(est).to_dicts()
    assert found["predictability"][1] > 0.5


def test_predictability_needs_a_folder(run_main, survey):
    assert_one_line(run_main("fit", survey, *PLAIN, "--predictability"), "--out")


def test_too_many_columns_for_a_page(invoke, survey, tmp_path, monkeypatch):
    monkeypatch.setattr("isinglass.cli.fit.MOST_COLUMNS", 3)
    outcome = invoke("fit", survey, *PLAIN, "--out", tmp_path / "out")
    assert "no report: it holds at most 3 columns" in outcome.out
    assert sorted(os.listdir(tmp_path / "out")) == [n for n in FILES if n != "report.html"]


# What is printed


def test_summary(invoke, survey):
    out = invoke("fit", survey, *PLAIN).out
    assert "300 rows, 4 columns, 2 to 3 states a column" in out
    assert "Auto(): an edge without effect passes with chance 0.05/(p(p-1))" in out
    assert "2 edges of 6 possible, strongest first" in out
    assert "a -- b" in out
    assert max(map(len, out.splitlines())) <= 80


def test_strongest_edges_come_first(invoke, survey, fit_json):
    rows = invoke("fit", survey, *PLAIN).out.split("strongest first")[1].splitlines()[2:]
    printed = [float(row.split()[0]) for row in rows]
    assert printed == [round(edge["strength"], 3) for edge in fit_json()["edges"]]
    assert printed == sorted(printed, reverse=True)


def test_what_was_odd(invoke, tmp_path, write_csv):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, 100)
    columns = {"x": x, "twin": x, **{f"flat{j}": np.ones(100) for j in range(5)}}
    out = invoke("fit", write_csv(tmp_path / "odd.csv", columns)).out
    assert "constant (5 times)" in out
    assert "'flat0': only" in out
    assert "and 2 more; --json lists all" in out
    assert "equal columns" in out
    assert "unbounded" in out
    assert max(map(len, out.splitlines())) <= 80


def test_top(invoke, survey):
    assert "and 1 weaker" in invoke("fit", survey, *PLAIN, "--top", 1).out
    assert "a -- b" not in invoke("fit", survey, *PLAIN, "--top", 0).out
    assert invoke("fit", survey, "--top", -1).status == 2


def test_no_edges(invoke, tmp_path, write_csv):
    columns = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9}
    outcome = invoke("fit", write_csv(tmp_path / "t.csv", columns), "--out", tmp_path / "out")
    assert "0 edges of 1 possible" in outcome.out
    assert sorted(os.listdir(tmp_path / "out")) == FILES


def test_one_column(invoke, tmp_path, write_csv):
    out = invoke("fit", write_csv(tmp_path / "t.csv", {"a": [0, 1]})).out
    assert "2 rows, 1 column, 2 states a column" in out
    assert "0 edges of 0 possible" in out


def test_json_is_the_fit(fit_json, table):
    result = fit_json()
    est = GreedyGraph().fit(table)
    assert edges_of(result) == est.graph_.edges
    assert result["rows"] == 300
    assert result["threshold"] == est.threshold_ == pytest.approx(4 * result["floor"])
    assert result["states"]["a"] == ["no", "yes"]
    assert {edge["strength"] for edge in result["edges"]} == {link.strength for link in est.graph_}


def test_json_with_files_is_clean(invoke, survey, tmp_path):
    outcome = invoke("fit", survey, *PLAIN, "--json", "--out", tmp_path / "out")
    assert edges_of(json.loads(outcome.out)) == [("a", "b"), ("b", "c")]
    assert outcome.err.startswith("wrote report.html, edges.csv")


# Options


@pytest.mark.parametrize(
    ("threshold", "value"),
    [
        ("auto", FalseEdges(0.05).threshold(300, 4)),
        ("paper", Paper().threshold(300, 4)),
        ("paper:0.9", Paper(0.9).threshold(300, 4)),
        ("0.01", 0.01),
    ],
)
def test_threshold(fit_json, threshold, value):
    result = fit_json("--threshold", threshold)
    assert result["threshold"] == pytest.approx(value)
    assert result["floor"] == pytest.approx(value / 4)


def test_rule(fit_json, table):
    for rule in ("or", "and"):
        result = fit_json("--rule", rule, "--threshold", "0.0005")
        assert result["rule"] == rule
        expected = GreedyGraph(0.0005, rule=rule).fit(table).graph_
        assert edges_of(result) == sorted(expected.edges)


def test_missing_and_na(invoke, tmp_path, write_csv, survey):
    table = read_table(survey).select(KEPT).to_dict(as_series=False)
    table["a"][:10] = ["?"] * 10
    path = write_csv(tmp_path / "gaps.csv", table)
    assert json.loads(invoke("fit", path, "--json").out)["states"]["a"] == ["?", "no", "yes"]
    dropped = json.loads(invoke("fit", path, "--na", "?", "--missing", "drop", "--json").out)
    assert dropped["rows"] == 290
    assert dropped["states"]["a"] == ["no", "yes"]
    kept = json.loads(invoke("fit", path, "--na", "?", "--missing", "state", "--json").out)
    assert kept["rows"] == 300
    assert kept["states"]["a"] == ["no", "yes", None]


def test_drop_twice_is_dropping_once(fit_json):
    assert list(fit_json("--drop", "id")["states"]) == KEPT


def test_bin(fit_json):
    result = fit_json("--bin", "age=3", drop=("--drop", "id", "--drop", "count", "--drop", "share"))
    assert len(result["states"]["age"]) == 3


def test_weight_column_of_counts(fit_json, survey):
    drop = ("--drop", "id", "--drop", "age", "--drop", "share")
    result = fit_json("--weight-column", "count", drop=drop)
    assert list(result["states"]) == KEPT
    assert result["rows"] == read_table(survey)["count"].sum()


def test_n_eff(fit_json, survey):
    drop = ("--drop", "id", "--drop", "age", "--drop", "count")
    weights = read_table(survey)["share"].to_numpy()
    kish = fit_json("--weight-column", "share", "--n-eff", "kish", drop=drop)
    assert kish["rows"] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    number = fit_json("--weight-column", "share", "--n-eff", "123.5", drop=drop)
    assert number["rows"] == pytest.approx(123.5)


def test_no_header(invoke, tmp_path):
    (tmp_path / "bare.csv").write_text("0,1\n1,0\n" * 30)
    result = json.loads(invoke("fit", tmp_path / "bare.csv", "--no-header", "--json").out)
    assert result["rows"] == 60
    assert edges_of(result) == [("x0", "x1")]


def test_max_states(invoke, survey):
    drop = ("--drop", "age", "--drop", "count", "--drop", "share")
    with pytest.raises(IsinglassError, match="column 'id' has 300 distinct values"):
        invoke("fit", survey, *drop)
    out = invoke("fit", survey, *drop, "--max-states", 300, "--max-degree", 1, "--json").out
    assert len(json.loads(out)["states"]["id"]) == 300


def test_nu_no_intercept_max_degree_and_jobs(fit_json, table):
    options = ("--nu", "0.9", "--no-intercept", "--max-degree", "1", "--jobs", "1")
    est = GreedyGraph(nu=0.9, intercept=False, max_degree=1).fit(table)
    result = fit_json(*options)
    assert edges_of(result) == sorted(est.graph_.edges)
    assert any(note["what"] == "search cut short" for note in result["diagnostics"])


# Errors


BAD_SETTINGS = {
    "threshold": (("--threshold", "nonsense"), "'paper', 'paper:0.9'"),
    "threshold of nothing": (("--threshold", "0"), "must be a positive number"),
    "paper": (("--threshold", "paper:x"), "'paper', 'paper:0.9'"),
    "drop": (("--drop", "nobody"), "--drop: there is no column 'nobody'; the columns are 'a', "),
    "bin": (("--bin", "age"), "--bin takes NAME=K, as age=4, not 'age'"),
    "bin without a name": (("--bin", "=4"), "--bin takes NAME=K"),
    "bin of a fraction": (("--bin", "age=2.5"), "--bin takes NAME=K"),
    "bin of a strange digit": (("--bin", "age=²"), "--bin takes NAME=K"),
    "bin unknown": (("--bin", "nobody=4"), "'nobody', which is no column"),
    "bin words": (("--bin", "c=2"), "which is no number"),
    "weight column": (("--weight-column", "nobody"), "--weight-column names 'nobody'"),
    "weights": (("--weight-column", "share"), "--n-eff kish"),
    "n-eff": (("--n-eff", "many"), "--n-eff must be"),
    "nu": (("--nu", "1"), "nu must lie strictly between 0 and 1"),
    "max-degree": (("--max-degree", "-1"), "--max-degree must not be negative"),
    "max-states": (("--max-states", "1"), "--max-states must be"),
    "too many states": ((), "Bin it (--bin age=4), drop it (--drop)"),
}


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_bad_settings_are_one_line(run_main, survey, tmp_path, case):
    options, message = BAD_SETTINGS[case]
    drop = () if case.startswith("bin") else ("--drop", "id")
    if case not in ("too many states", "weights"):
        drop = (*drop, "--drop", "age") if "--bin" not in options else drop
    outcome = run_main("fit", survey, *drop, *options, "--out", tmp_path / "out")
    assert_one_line(outcome, message)
    assert not (tmp_path / "out").exists()


BROKEN = {
    "ragged row": ("a,b\n0,1\n1,0\n1,0,1\n", "row 4 (the header is row 1): 3 cells"),
    "open quote": ('a,b\n0,1\n"1,0\n', "row 3"),
    "no rows": ("a,b\n", "no rows"),
    "empty": ("", "is empty"),
    "two columns of one name": ("a,a\n0,1\n", "'a'"),
    "gaps": ("a,b\n0,1\n,0\n1,NA\n", "--missing drop uses only complete rows"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_one_line(run_main, tmp_path, case):
    text, message = BROKEN[case]
    (tmp_path / "broken.csv").write_text(text)
    outcome = run_main("fit", tmp_path / "broken.csv", "--out", tmp_path / "out")
    assert_one_line(outcome, message)
    assert not (tmp_path / "out").exists()


def test_no_such_file_and_no_table(run_main, tmp_path):
    assert_one_line(run_main("fit", tmp_path / "none.csv"), "does not exist")
    assert_one_line(run_main("fit", tmp_path), "is a folder")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF")
    assert_one_line(run_main("fit", tmp_path / "paper.pdf"), "the ending '.pdf' is not known")
    (tmp_path / "fake.parquet").write_bytes(b"not a table")
    assert_one_line(run_main("fit", tmp_path / "fake.parquet"), "is damaged")


def test_all_columns_dropped(run_main, tmp_path, write_csv):
    path = write_csv(tmp_path / "t.csv", {"a": [0, 1]})
    assert_one_line(run_main("fit", path, "--drop", "a"), "--drop leaves no column")


def test_out_is_a_file(run_main, survey, tmp_path):
    (tmp_path / "taken").write_text("mine")
    outcome = run_main("fit", survey, *PLAIN, "--out", tmp_path / "taken")
    assert_one_line(outcome, "'taken' is a file; name a folder")
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_full_disk_leaves_nothing(run_main, survey, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    outcome = run_main("fit", survey, *PLAIN, "--out", tmp_path / "out")
    assert_one_line(outcome, "No space left on device")
    assert os.listdir(tmp_path / "out") == []


def assert_one_line(outcome, message: str) -> None:
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("isinglass: ")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert "Traceback" not in outcome.err


# In a process of its own


def test_shell_statuses(shell, survey, tmp_path):
    good = shell("fit", survey, *PLAIN, "--json")
    assert good.status == 0
    assert good.err == ""
    assert edges_of(json.loads(good.out)) == [("a", "b"), ("b", "c")]

    assert_one_line(shell("fit", tmp_path / "none.csv"), "does not exist")
    usage = shell("fit", survey, "--rule", "xor")
    assert usage.status == 2
    assert "'or', 'and'" in usage.err


def test_shell_that_cannot_show_a_name(shell, tmp_path, write_csv):
    path = write_csv(tmp_path / "t.csv", {"größe 😀": [0, 1] * 30, "b": [0, 1] * 30})
    outcome = shell("fit", path, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert outcome.status == 0
    assert "gr??e ? -- b" in outcome.out
    as_json = shell("fit", path, "--json", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert edges_of(json.loads(as_json.out)) == [("größe 😀", "b")]


# Names


@pytest.fixture
def odd_table(tmp_path, write_csv):
    """A chain of columns whose names and labels break careless code."""
    rng = np.random.default_rng(0)
    state = rng.integers(0, 2, 400)
    columns = {}
    for name in ODD_NAMES:
        state = np.where(rng.random(400) < 0.9, state, 1 - state)
        columns[name] = np.array([f"{name} no", f"{name} yes"], dtype=object)[state]
    return write_csv(tmp_path / "odd.csv", columns)


def test_odd_names_break_nothing(invoke, odd_table, tmp_path):
    outcome = invoke("fit", odd_table, "--out", tmp_path / "out")
    assert "12 edges of 78 possible" in outcome.out
    for shown in ("a,b -- say", "[bold]red[/]", ":warning:", "two lines", "$x_1$", "back\\"):
        assert shown in outcome.out
    assert "\x1b" not in outcome.out

    chain = list(pairwise(ODD_NAMES))
    frame = pl.read_csv(tmp_path / "out" / "edges.csv")
    assert list(zip(frame["source"], frame["target"], strict=True)) == chain
    network = nx.read_graphml(tmp_path / "out" / "graph.graphml")
    assert len(network) == len(ODD_NAMES)
    assert set(ODD_NAMES) - set(network) == {"\x1b[31mescape"}
    assert imread(io.BytesIO((tmp_path / "out" / "graph.png").read_bytes())).ndim == 3


def test_odd_names_in_json(invoke, odd_table):
    result = json.loads(invoke("fit", odd_table, "--json").out)
    assert tuple(result["states"]) == ODD_NAMES
    assert result["states"]["two\nlines"] == ["two\nlines no", "two\nlines yes"]


def test_odd_names_in_an_error(run_main, tmp_path, write_csv):
    path = write_csv(tmp_path / "t.csv", {"two\nlines \x1b[31m": range(100)})
    assert_one_line(run_main("fit", path), "has 100 distinct values")


# Help


def test_help(invoke):
    top = invoke("--help").out
    assert "isinglass demo" in top
    assert "isinglass fit your.csv --out result/" in top
    text = invoke("fit", "--help").out
    assert "isinglass fit votes.csv --out votes/" in text
    assert "--weight-column weight --n-eff kish" in text
    assert invoke("fit", "-h").out == text


def test_version(invoke):
    assert invoke("--version").out.startswith("isinglass, version 0.")


def test_unknown_command(run_main):
    outcome = run_main("fitt")
    assert outcome.status == 2
    assert "No such command 'fitt'" in outcome.err


def test_interrupted(run_main, survey, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(GreedyGraph, "fit", interrupt)
    outcome = run_main("fit", survey, *PLAIN)
    assert outcome.status == 130
    assert outcome.err.strip() == "isinglass: stopped"


def test_links_required_and_forbidden(invoke, survey):
    dropped = [word for name in ("id", "age", "count", "share") for word in ("--drop", name)]
    links = ("--require", "a", "alone", "--forbid", "a", "b")
    out = invoke("fit", str(survey), *dropped, *links, "--json").out
    edges = {(e["source"], e["target"]): e for e in json.loads(out)["edges"]}
    assert edges["a", "alone"]["tier"] == "required"
    assert ("a", "b") not in edges
    assert ("b", "c") in edges


def test_a_group_without_links(invoke, survey):
    dropped = [word for name in ("id", "age", "count", "share") for word in ("--drop", name)]
    out = invoke("fit", str(survey), *dropped, "--forbid-group", 'a, "b",c', "--json").out
    assert json.loads(out)["edges"] == []


def test_a_link_to_no_column_is_one_line(run_main, survey):
    dropped = [word for name in ("id", "age", "count", "share") for word in ("--drop", name)]
    done = run_main("fit", str(survey), *dropped, "--forbid", "a", "bb")
    assert done.status == 2
    assert done.err == "isinglass: --forbid: there is no column 'bb'; did you mean 'b'?\n"


@pytest.mark.parametrize("name", ["ebic:0.25", "cv:3", "stars"])
def test_thresholds_chosen_on_the_table(invoke, survey, name):
    dropped = [word for name in ("id", "age", "count", "share") for word in ("--drop", name)]
    out = invoke("fit", str(survey), *dropped, "--threshold", name, "--json").out
    edges = {(e["source"], e["target"]) for e in json.loads(out)["edges"]}
    assert {("a", "b"), ("b", "c")} <= edges
