import json

import numpy as np
import pandas as pd
import pytest

from isinglass import GreedyGraph, summarise
from isinglass.selection import LookBelow, Paper


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 200)
    return pd.DataFrame(
        {
            "a": a,
            "b": np.where(rng.random(200) < 0.8, a, 1 - a),
            "c": np.where(rng.random(200) < 0.9, a, 1 - a).astype(bool),
            "when": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 3, 200), "D"),
            "constant": "same",
        }
    )


def test_is_plain(table):
    summary = summarise(GreedyGraph(LookBelow(Paper())).fit(table))
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_says_what_was_fitted(table):
    est = GreedyGraph(LookBelow(Paper()), rule="and").fit(table)
    summary = summarise(est)
    assert summary["rows"] == 200
    assert summary["columns"] == 5
    assert summary["rule"] == "and"
    assert summary["selector"] == "Paper(c=1): an edge must gain more than 1 log(np)/n"
    assert summary["threshold"] == est.threshold_ == 4 * summary["floor"]
    assert summary["states"]["constant"] == ["same"]


def test_edges_are_the_frame_strongest_first(table):
    est = GreedyGraph().fit(table)
    edges = summarise(est)["edges"]
    strengths = [edge["strength"] for edge in edges]
    assert strengths == sorted(strengths, reverse=True)
    assert {(e["source"], e["target"]) for e in edges} == set(est.graph_.edges)
    assert sorted(edges[0]) == sorted(est.graph_.to_frame().columns)


def test_diagnostics_are_listed(table):
    notes = summarise(GreedyGraph().fit(table))["diagnostics"]
    assert {"column": "constant", "what": "constant"}.items() <= notes[0].items()


def test_weights_that_are_not_whole(table):
    est = GreedyGraph(n_eff=150.5).fit(table, sample_weight=np.full(200, 0.3))
    assert summarise(est)["rows"] == pytest.approx(150.5)
