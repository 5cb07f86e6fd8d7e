"""Every number of an edge is the same wherever it is shown."""

import csv
import io
import json
import subprocess
import sys

import networkx as nx
import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from isinglass import FitRecord, GreedyGraph, MarkovField, read_table
from isinglass.cli import group
from isinglass.exports import FORMATS, from_igraph, to_igraph
from isinglass.graph import NUMBERS
from isinglass.selection import look_below
from report.pages import chromium

WORDS = ("source_state", "target_state", "tier", "selected_by", "form")
TRUTHS = {"True": True, "False": False, "true": True, "false": False}


def answers(n: int = 900) -> pl.DataFrame:
    """Negative links, several states, a combination that never occurs, a link to be required."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.75, 1 - a, a)
    c = np.where(rng.random(n) < 0.7, 1 - b, b)
    pet = np.where(rng.random(n) < 0.6, 2 * c, rng.integers(0, 3, n))
    grade = np.clip(pet + rng.integers(-1, 2, n), 0, 3)
    never = np.where(a == 1, 1, rng.integers(0, 2, n))
    faint = np.where(rng.random(n) < 0.09, grade > 1, rng.integers(0, 2, n))
    return pl.DataFrame(
        {
            "fever": np.where(a, "yes", "no"),
            "cough": np.where(b, "present", "absent"),
            "vote": np.where(c, "yea", "nay"),
            "pet": np.array(["cat", "dog", "eel"])[pet],
            "grade": grade,
            "never": never,
            "weak": faint.astype(int),
            "alone": rng.integers(0, 2, n),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What `isinglass fit` leaves, its output, and every export of its model."""
    folder = tmp_path_factory.mktemp("fit")
    answers().write_csv(folder / "answers.csv")

    def run(*words: str) -> str:
        command = [sys.executable, "-c", "from isinglass.cli import main; main()", *words]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, env=ENVIRONMENT
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    asked = ("answers.csv", "--require", "fever", "alone")
    (folder / "terminal.txt").write_text(run("fit", *asked, "--out", "out"))
    (folder / "fit.json").write_text(run("fit", *asked, "--json"))
    model, exports = folder / "out" / "model.json", folder / "exports"
    for to in FORMATS:
        if to not in ("isingsampler", "uai"):
            words = "export", str(model), "--to", to, "--out", str(exports / to)
            done = CliRunner().invoke(group, words, catch_exceptions=False)
            assert done.exit_code == 0, done.output
    return folder


ENVIRONMENT = {"COLUMNS": "200", "PATH": "/usr/bin:/bin"}


@pytest.fixture(scope="module")
def truth(folder):
    """The edges of the same fit in Python: from names to numbers."""
    est = GreedyGraph(look_below("auto"), require=[("fever", "alone")])
    est.fit(read_table(folder / "answers.csv"))
    found = {
        "graph": numbers_of(est.graph_),
        "tentative": {
            ends: numbers
            for ends, numbers in numbers_of(est.tentative_).items()
            if ends not in est.graph_.edges
        },
    }
    chosen = found["graph"].values()
    assert {numbers["sign"] for numbers in chosen} == {1, -1, 0}
    assert {numbers["unbounded"] for numbers in chosen} == {True, False}
    assert {numbers["tier"] for numbers in chosen} == {"firm", "required"}
    assert {numbers["log_odds"] is None for numbers in chosen} == {True, False}
    assert found["tentative"]
    return found


def numbers_of(graph) -> dict:
    return {
        ends: {key: getattr(link, key) for key in NUMBERS}
        for ends, link in zip(graph.edges, graph, strict=True)
    }


def assert_same(found: dict, expected: dict, *, without=(), rel=1e-12) -> None:
    assert found.keys() == expected.keys()
    for ends, numbers in expected.items():
        for key in set(NUMBERS).difference(without):
            if isinstance(numbers[key], float):
                assert found[ends].get(key) == pytest.approx(numbers[key], rel=rel), (ends, key)
            else:
                assert found[ends].get(key) == numbers[key], (ends, key)


def read_rows(text: str) -> dict:
    """The rows of a CSV of edges, as values."""

    def value(key: str, cell: str):
        if key in WORDS:
            return cell or (None if key.endswith("state") else "")
        if cell in TRUTHS:
            return TRUTHS[cell]
        return float(cell) if cell else None

    rows = csv.DictReader(io.StringIO(text, newline=""))
    return {
        (row.pop("source"), row.pop("target")): {k: value(k, cell) for k, cell in row.items()}
        for row in rows
    }


def test_json(folder, truth):
    summary = json.loads((folder / "fit.json").read_text())
    for part, key in (("graph", "edges"), ("tentative", "tentative")):
        found = {(edge["source"], edge["target"]): edge for edge in summary[key]}
        assert_same(found, truth[part])


def test_edges_csv_has_tentative_links_too(folder, truth):
    found = read_rows((folder / "out" / "edges.csv").read_text())
    assert_same(found, truth["graph"] | truth["tentative"])
    assert {found[ends]["tier"] for ends in truth["tentative"]} == {"tentative"}


def test_the_model_file(folder, truth):
    record = FitRecord.load(folder / "out" / "model.json")
    assert_same(numbers_of(record.graph), truth["graph"])
    assert_same(numbers_of(record.with_tentative), truth["graph"] | truth["tentative"])


def test_csv_exported(folder):
    exported = (folder / "exports" / "csv").read_text()
    assert exported == (folder / "out" / "edges.csv").read_text()


READERS = {
    "graphml": nx.read_graphml,
    "gexf": nx.read_gexf,
    "cytoscape": lambda path: nx.cytoscape_graph(json.loads(path.read_text())),
}


@pytest.mark.parametrize("to", READERS)
def test_networks(folder, truth, to):
    network = READERS[to](folder / "exports" / to)
    found = {tuple(sorted(ends)): numbers for *ends, numbers in network.edges(data=True)}
    assert_same(found, {tuple(sorted(ends)): n for ends, n in truth["graph"].items()})
    for numbers in found.values():
        assert numbers["weight"] == numbers["strength"]


def test_graphml_of_the_fit(folder):
    fitted, exported = folder / "out" / "graph.graphml", folder / "exports" / "graphml"
    assert fitted.read_text() == exported.read_text()


def test_qgraph(folder, truth):
    with (folder / "exports" / "qgraph").open(newline="") as file:
        (_, *names), *rows = csv.reader(file)
    weights = {
        (row[0], name): float(cell)
        for row in rows
        for name, cell in zip(names, row[1:], strict=True)
    }
    for (a, b), numbers in truth["graph"].items():
        signed = -numbers["strength"] if numbers["sign"] < 0 else numbers["strength"]
        assert weights[a, b] == weights[b, a] == pytest.approx(signed, rel=1e-12)
    assert sum(weight != 0 for weight in weights.values()) == 2 * len(truth["graph"])
    assert sum(weight < 0 for weight in weights.values()) == 2 * sum(
        numbers["sign"] < 0 for numbers in truth["graph"].values()
    )


def test_igraph(folder, truth):
    graph = FitRecord.load(folder / "out" / "model.json").graph
    assert_same(numbers_of(from_igraph(to_igraph(graph))), truth["graph"])


def test_the_terminal(folder, truth):
    shown = (folder / "terminal.txt").read_text()
    for (a, b), numbers in truth["graph"].items():
        (line,) = [line for line in shown.splitlines() if f"{a} -- {b}" in line]
        words = line.split()
        for key, digits in (("strength", 3), ("relative_strength", 3), ("evidence", 1)):
            assert f"{numbers[key]:.{digits}f}" in words
        if numbers["entry_evidence"] is not None:
            assert f"{numbers['entry_evidence']:.1f}" in words
        if numbers["log_odds"] is not None:
            size = "unbounded" if numbers["unbounded"] else f"{numbers['log_odds']:+.2f}"
            assert size in words
        if numbers["sign"]:
            assert {1: "+", -1: "-"}[numbers["sign"]] in words


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium here")
def test_the_page(folder, truth):
    pytest.importorskip("playwright", reason="playwright is not installed here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((folder / "out" / "report.html").as_uri())
        with page.expect_download() as saved:
            page.get_by_role("button", name="CSV").first.click()
        found = read_rows(saved.value.path().read_text())
        browser.close()
    assert_same(found, truth["graph"], rel=1e-4)


def test_a_model_alone_leaves_out_what_it_cannot_know(folder, tmp_path):
    field = MarkovField.load(folder / "out" / "model.json")
    field.save(tmp_path / "model.json")
    command = [sys.executable, "-c", "from isinglass.cli import main; main()", "export"]
    words = [tmp_path / "model.json", "--to", "csv", "--out", tmp_path / "edges.csv"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=True)
    assert "holds no record of a fit: strength, evidence and tier are not known" in done.stderr
    found = read_rows((tmp_path / "edges.csv").read_text())
    for numbers in found.values():
        known = {key for key, value in numbers.items() if value not in (None, "")}
        own = {"sign", "coupling", "log_odds", "unbounded"}
        assert known <= {*own, "source_state", "target_state", "form"}
