import os
import re
import sys

import networkx as nx
import pytest
from click.testing import CliRunner
from matplotlib.image import imread

import isinglass.cli
from isinglass.cli.demo import SIDE, touching_shares
from isinglass.graph import Graph, Link


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """One run of the demo for all tests: what it printed, and where it wrote."""
    out = tmp_path_factory.mktemp("demo") / "out"
    result = CliRunner(env={"COLUMNS": "80"}).invoke(
        isinglass.cli.group, ["demo", "--out", str(out)], catch_exceptions=False
    )
    assert result.exit_code == 0
    return result.stdout, out


def test_says_what_share_touches(demo):
    text, _ = demo
    found, expected = map(int, re.findall(r"(\d+)%", text))
    assert found > 40
    assert 10 <= expected <= 13
    assert "1,797 handwritten digits" in text
    assert "isinglass fit your.csv" in text
    assert max(map(len, text.splitlines()[:-4])) <= 80


def test_writes_the_graph(demo):
    text, out = demo
    assert sorted(os.listdir(out)) == ["digits.png", "edges.csv", "graph.graphml"]
    network = nx.read_graphml(out / "graph.graphml")
    assert network.number_of_nodes() == SIDE * SIDE
    assert network.number_of_edges() == int(re.search(r"(\d+) links", text)[1])


def test_draws_the_graph(demo):
    image = imread(demo[1] / "digits.png")
    assert image.shape[1] > image.shape[0] > 500
    assert (demo[1] / "digits.png").stat().st_size < 400_000


def test_shares_by_hand():
    numbers = (0.5, 1, None, None, 1.0, "both", False)
    names = tuple(f"x{j}" for j in range(64))
    links = tuple(Link(a, b, *numbers) for a, b in [(0, 1), (0, 9), (7, 8), (0, 2)])
    everywhere = [[0, 1]] * 64
    found, expected = touching_shares(Graph(names, links), everywhere)
    assert found == 0.5, "7 and 8 are neighbours in the table, not on the paper"
    # 7 * 8 across, as many down, 2 * 49 aslant, of 64 * 63 / 2 pairs
    assert expected == pytest.approx((56 + 56 + 98) / 2016)
    assert touching_shares(Graph(names, ()), everywhere) == (0.0, expected)


def test_refuses_a_file_before_it_learns(run_main, tmp_path):
    (tmp_path / "taken").write_text("mine")
    outcome = run_main("demo", "--out", tmp_path / "taken")
    assert outcome.status == 2
    assert outcome.out == ""
    assert "is a file; name a folder" in outcome.err


def test_without_matplotlib(invoke, tmp_path, monkeypatch):
    class Quick:
        """Stands in for the search: this test is about files."""

        graph_ = Graph(tuple(f"x{j}" for j in range(64)), ())
        states_ = ((0, 1),) * 64

        def fit(self, *_, **__):
            return self

    monkeypatch.setattr("isinglass.cli.demo.GreedyGraph", Quick)
    for module in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, module, None)
    outcome = invoke("demo", "--out", tmp_path / "out")
    assert outcome.status == 0
    assert "no picture: pictures need matplotlib: pip install" in outcome.out
    assert sorted(os.listdir(tmp_path / "out")) == ["edges.csv", "graph.graphml"]


def test_help(invoke):
    text = invoke("demo", "--help").out
    assert "isinglass demo --out demo/" in text
    assert "1797 handwritten digits" in text
