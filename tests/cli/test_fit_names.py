"""Names that break careless code, from a file to every output of `isinglass fit`."""

import io
import json
from itertools import pairwise

import networkx as nx
import numpy as np
import polars as pl
import pytest
from matplotlib.image import imread

from fit_commands import assert_one_line
from odd_names import ODD_NAMES


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
    firm = frame.filter(pl.col("tier") == "firm")
    assert list(zip(firm["source"], firm["target"], strict=True)) == chain
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
