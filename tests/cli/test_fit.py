"""`isinglass fit`: what it writes, what it prints, and its options."""

import json
import os
import signal
import sys
from contextlib import contextmanager
from dataclasses import replace

import networkx as nx
import numpy as np
import polars as pl
import pytest
from matplotlib.image import imread

from fit_commands import PLAIN, assert_one_line, edges_of
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

KEPT = ["a", "b", "c", "alone"]
FILES = ["edges.csv", "graph.graphml", "graph.png", "model.json", "nodes.csv", "report.html"]
WRITTEN = "report.html, edges.csv, nodes.csv, graph.graphml, model.json"


@pytest.fixture
def fit_json(invoke, survey):
    """The JSON of a fit of the survey with some options."""

    def run(*options, drop=PLAIN, quiet=True):
        outcome = invoke("fit", survey, *drop, "--json", *options)
        assert outcome.status == 0
        assert outcome.err == "" or not quiet
        return json.loads(outcome.out)

    return run


@pytest.fixture
def table(survey):
    return read_table(survey).select(KEPT)


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
    assert summarise(replace(record, findings=None), title="survey", paths=False) == fit_json()
    assert summarise(record, paths=False) == fit_json("--out", tmp_path / "again", quiet=False)


def test_no_model(invoke, run_main, survey, tmp_path):
    outcome = invoke("fit", survey, *PLAIN, "--out", tmp_path / "out", "--no-model")
    assert "no model: model.json holds the record of the fit alone" in outcome.out
    assert sorted(os.listdir(tmp_path / "out")) == FILES
    path = tmp_path / "out" / "model.json"
    assert FitRecord.load(path).graph.edges == [("a", "b"), ("b", "c")]
    (tmp_path / "out" / "report.html").unlink()
    assert run_main("report", path).status == 0
    assert (tmp_path / "out" / "report.html").exists()
    for command in (("ask", path), ("export", path, "--to", "uai", "--out", tmp_path / "m.uai")):
        assert_one_line(run_main(*command), "holds the record of a fit, but no model; fit the")


def stopping_at(when):
    """The line on the terminal, but Ctrl-C is pressed as soon as some work is begun or told of."""

    @contextmanager
    def working(what):
        yield lambda words: signal.raise_signal(signal.SIGINT) if what == when else None

    return working


def test_what_is_there_is_kept_when_the_model_is_stopped(run_main, survey, tmp_path, monkeypatch):
    monkeypatch.setattr("isinglass.cli.fit.working", stopping_at("fitting the model"))
    outcome = run_main("fit", survey, *PLAIN, "--out", tmp_path / "out")
    assert outcome.status == 130
    assert "2 edges of 6 possible" in outcome.out
    assert outcome.err.strip() == (
        f"isinglass: stopped; {WRITTEN} are in {tmp_path / 'out'}; model.json holds no model yet"
    )
    assert sorted(os.listdir(tmp_path / "out")) == [name for name in FILES if name != "graph.png"]
    assert FitRecord.load(tmp_path / "out" / "model.json").rows == 300


def test_no_bar_for_what_is_not_done(invoke, survey, tmp_path, monkeypatch):
    shown = []

    @contextmanager
    def recording(what, **_):
        shown.append(what)
        yield lambda done, total: None

    monkeypatch.setattr("isinglass.cli.fit.progress_bar", recording)
    invoke("fit", survey, *PLAIN, "--out", tmp_path / "out")
    assert "predicting" not in shown
    invoke("fit", survey, *PLAIN, "--out", tmp_path / "out", "--predictability")
    assert shown[-1] == "predicting"


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
    assert "no report: a report shows at most 3 columns" in outcome.out
    assert sorted(os.listdir(tmp_path / "out")) == [n for n in FILES if n != "report.html"]


# What is printed


def test_summary(invoke, survey):
    out = invoke("fit", survey, *PLAIN).out
    assert "300 rows, 4 columns, 2 to 3 states per column" in out
    assert "Auto(): an edge without effect passes with probability 0.05/(p(p-1))" in out
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
    assert "2 rows, 1 column, 2 states per column" in out
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
    path = write_csv(tmp_path / "incomplete.csv", table)
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


def test_own_cut_points(fit_json):
    drop = ("--drop", "id", "--drop", "count", "--drop", "share")
    nodes = fit_json("--bin", "age=25,45", drop=drop)["nodes"]
    age = next(node for node in nodes if node["name"] == "age")
    assert age["states"] == ["<= 25", "> 25 to 45", "> 45"]
    nodes = fit_json("--bin", "age=30,", drop=drop)["nodes"]
    assert next(node for node in nodes if node["name"] == "age")["high"] == "> 30"


def test_high(invoke, survey, tmp_path):
    invoke("fit", survey, *PLAIN, "--out", tmp_path / "usual")
    invoke("fit", survey, *PLAIN, "--high", "a=no", "--out", tmp_path / "other")
    usual, other = (
        pl.read_csv(tmp_path / name / "edges.csv").filter(pl.col("source") == "a")
        for name in ("usual", "other")
    )
    assert usual.height > 0
    assert (usual["sign"] == -other["sign"]).all()
    assert (usual["target"] == other["target"]).all()
    highs = [
        pl.read_csv(tmp_path / name / "nodes.csv")["high"].to_list() for name in ("usual", "other")
    ]
    assert [of[:4] for of in highs] == [["yes", "1", "high", None], ["no", "1", "high", None]]


def test_separators_and_encodings(invoke, tmp_path):
    rows = ["größe|b", *(["groß|ja", "klein|nein"] * 20)]
    (tmp_path / "t.csv").write_bytes("\n".join(rows).encode("cp1252"))
    options = ("--sep", "|", "--encoding", "cp1252", "--json")
    found = json.loads(invoke("fit", tmp_path / "t.csv", *options).out)
    assert [node["name"] for node in found["nodes"]] == ["größe", "b"]
    assert [node["high"] for node in found["nodes"]] == ["klein", "ja"]
    (tmp_path / "u.csv").write_text("\n".join(rows).replace("|", "\t"))
    found = json.loads(invoke("fit", tmp_path / "u.csv", "--sep", "tab", "--json").out)
    assert [node["name"] for node in found["nodes"]] == ["größe", "b"]


def test_none_is_an_answer(invoke, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "None,1\nMinor,0\n" * 20)
    found = json.loads(invoke("fit", tmp_path / "t.csv", "--json").out)
    assert found["nodes"][0]["states"] == ["None", "Minor"]


def test_weight_column_of_counts(fit_json, survey):
    drop = ("--drop", "id", "--drop", "age", "--drop", "share")
    result = fit_json("--weight-column", "count", drop=drop)
    assert list(result["states"]) == KEPT
    assert result["rows"] == read_table(survey)["count"].sum()


def test_cluster_column(fit_json, invoke, survey):
    drop = ("--drop", "id", "--drop", "share", "--drop", "count")
    result = fit_json("--cluster-column", "age", drop=drop)
    assert list(result["states"]) == KEPT
    (note,) = (note for note in result["diagnostics"] if note["what"] == "clusters")
    ages = read_table(survey)["age"].n_unique()
    assert f"300 rows in {ages} clusters" in note["done"]
    halves = ("resample", survey, *drop, "--cluster-column", "age", "--samples", 2, "--json")
    found = json.loads(invoke(*halves).out)
    assert (found["rows"], found["drawn"]) == (ages // 2, "cluster")


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
    drop = ("--drop", "id", "--drop", "count", "--drop", "share")
    with pytest.raises(IsinglassError, match="column 'age' has 71 distinct values"):
        invoke("fit", survey, *drop)
    out = invoke("fit", survey, *drop, "--max-states", 300, "--max-degree", 1, "--json").out
    assert len(json.loads(out)["states"]["age"]) == 71
    with pytest.raises(IsinglassError, match="column 'id' has 300 distinct values; at most 256"):
        invoke("fit", survey, *drop[2:], "--max-states", 300)


def test_nu_no_intercept_max_degree_and_jobs(fit_json, table):
    options = ("--nu", "0.9", "--no-intercept", "--max-degree", "1", "--jobs", "1")
    est = GreedyGraph(nu=0.9, intercept=False, max_degree=1).fit(table)
    result = fit_json(*options)
    assert edges_of(result) == sorted(est.graph_.edges)
    assert any(note["what"] == "search cut short" for note in result["diagnostics"])


def test_links_required_and_forbidden(invoke, survey):
    links = ("--require", "a", "alone", "--forbid", "a", "b")
    out = invoke("fit", str(survey), *PLAIN, *links, "--json").out
    edges = {(e["source"], e["target"]): e for e in json.loads(out)["edges"]}
    assert edges["a", "alone"]["tier"] == "required"
    assert ("a", "b") not in edges
    assert ("b", "c") in edges


def test_a_group_without_links(invoke, survey):
    out = invoke("fit", str(survey), *PLAIN, "--forbid-group", 'a, "b",c', "--json").out
    assert json.loads(out)["edges"] == []


@pytest.mark.parametrize("name", ["ebic:0.25", "cv:3", "stars"])
def test_thresholds_chosen_on_the_table(invoke, survey, name):
    out = invoke("fit", str(survey), *PLAIN, "--threshold", name, "--json").out
    edges = {(e["source"], e["target"]) for e in json.loads(out)["edges"]}
    assert {("a", "b"), ("b", "c")} <= edges
