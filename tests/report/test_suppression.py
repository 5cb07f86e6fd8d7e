"""Small cells are not in the summary, nor can they be had by subtraction."""

import json

import numpy as np
import polars as pl
import pytest

from isinglass import GreedyGraph, summarise
from isinglass.errors import SettingError
from isinglass.model import FitRecord


@pytest.fixture
def est():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    b = np.where(rng.random(400) < 0.8, a, 1 - a)
    rare = (np.arange(400) < 3).astype(int)
    three = np.where(np.arange(400) < 4, "odd", np.where(b == 1, "x", "y"))
    return GreedyGraph(floor=1e-3).fit(pl.DataFrame({"a": a, "b": b, "rare": rare, "three": three}))


def test_counts(est):
    nodes = {node["name"]: node for node in summarise(est, suppress=5)["nodes"]}
    open_nodes = {node["name"]: node for node in summarise(est)["nodes"]}
    assert open_nodes["rare"]["counts"] == [397, 3]
    assert nodes["rare"]["counts"] == [None, None]
    assert nodes["a"] == open_nodes["a"]
    hidden = nodes["three"]["counts"]
    assert hidden.count(None) == 2, "one alone could be had by subtraction"
    assert open_nodes["three"]["counts"].index(4) in [i for i, c in enumerate(hidden) if c is None]


def test_what_would_give_a_count_away(est):
    summary = summarise(est, suppress=5)
    rare = summary["paths"][2]
    assert rare["start"]["loss"] is None
    assert all(step["loss"] is None for step in rare["steps"])
    counts = pair_cells(est)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    for pair, size in zip(pairs, summary["pairs"]["information"], strict=True):
        assert (size is None) == (counts[pair] < 5)
    for r, path in enumerate(summary["paths"]):
        for step in path["steps"]:
            for t, table in zip(step["support"], step["tables"], strict=True):
                assert (table is None) == (counts[min(r, t), max(r, t)] < 5)
    notes = [note for note in summary["diagnostics"] if note["what"] == "rare level"]
    assert all("fewer than 5 rows are hidden" in note["done"] for note in notes)


def pair_cells(est):
    codes = est._table.codes
    return {
        (a, b): np.min(
            [
                [
                    np.sum((codes[:, a] == i) & (codes[:, b] == j))
                    for j in range(codes[:, b].max() + 1)
                ]
                for i in range(codes[:, a].max() + 1)
            ]
        )
        for a in range(4)
        for b in range(a + 1, 4)
    }


def test_edges_with_small_cells_are_rough(est):
    cells = pair_cells(est)
    names = list(est.graph_.names)
    exact = {(e["source"], e["target"]): e for e in summarise(est)["edges"]}
    for edge in summarise(est, suppress=5)["edges"]:
        ends = edge["source"], edge["target"]
        if cells[names.index(ends[0]), names.index(ends[1])] < 5:
            assert edge["log_odds"] is None
            assert edge["strength"] == float(f"{exact[ends]['strength']:.2g}")
        else:
            assert edge == exact[ends]


def test_without_counts_it_is_refused(est, tmp_path):
    path = tmp_path / "fit.json"
    est.record().save(path)
    document = json.loads(path.read_text())
    document["fit"]["tally"] = None
    path.write_text(json.dumps(document))
    record = FitRecord.load(path)
    assert summarise(record)["nodes"][0]["counts"] is None
    with pytest.raises(SettingError, match="small ones cannot be hidden"):
        summarise(record, suppress=5)
