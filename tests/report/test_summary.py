import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isinglass import GreedyGraph, summarise
from isinglass.errors import SettingError
from isinglass.selection import FalseEdges, LookBelow, Paper


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
    assert set(est.graph_.to_frame().columns) <= set(edges[0])


def test_diagnostics_are_listed(table):
    notes = summarise(GreedyGraph().fit(table))["diagnostics"]
    assert {"column": "constant", "what": "constant"}.items() <= notes[0].items()


def test_weights_that_are_not_whole(table):
    est = GreedyGraph(n_eff=150.5).fit(table, sample_weight=np.full(200, 0.3))
    assert summarise(est)["rows"] == pytest.approx(150.5)


def test_without_the_run_it_is_short(table):
    est = GreedyGraph(LookBelow(Paper())).fit(table)
    short, whole = summarise(est, paths=False), summarise(est)
    assert set(whole) - set(short) == {
        *("paths", "pairs", "stops", "stop", "kept_fewer", "link_tables", "values"),
        *("explanations", "verdicts", "frequencies", "information_lost", "found_alone"),
    }
    assert short["edges"] == whole["edges"]


def test_nodes(table):
    est = GreedyGraph().fit(table)
    measures = pl.DataFrame({"name": ["a"], "community": [1], "predictability": [0.5]})
    nodes = {node["name"]: node for node in summarise(est, measures=measures)["nodes"]}
    assert nodes["constant"]["counts"] == [200]
    assert nodes["constant"]["explained"] is None
    assert nodes["a"]["counts"] == table["a"].value_counts().sort_index().tolist()
    assert nodes["a"]["degree"] == len(est.graph_.neighbors("a"))
    assert nodes["a"]["predictability"] == 0.5
    assert (nodes["a"]["community"], nodes["b"]["community"]) == (1, None)
    assert 0 < nodes["c"]["explained"] < 1


def test_tiers_and_selectors(table):
    est = GreedyGraph(FalseEdges(5.0), floor=1e-4).fit(table)
    summary = summarise(est)
    p, n = 5, 200
    firm, tentative = (est.at(FalseEdges(e).threshold(n, p)) for e in (0.05, 1.0))
    for edge in summary["edges"]:
        ends = edge["source"], edge["target"]
        assert edge["tier"] == (
            "firm" if ends in firm.edges else "tentative" if ends in tentative.edges else ""
        )
    rules = {rule["name"]: rule for rule in summary["selectors"]}
    assert rules["chosen"]["edges"] == len(est.graph_)
    assert rules["firm"]["edges"] == len(firm)
    assert rules["paper"]["threshold"] == Paper().threshold(n, p)
    for rule in rules.values():
        stop = summary["stops"][rule["stop"]]
        assert est.at(stop) == est.at(rule["threshold"])
    assert summary["stops"][summary["stop"]] == est.threshold_


def test_what_the_search_did_not_reach_is_not_named(table):
    names = [rule["name"] for rule in summarise(GreedyGraph(0.2).fit(table))["selectors"]]
    assert names == ["chosen"]


def test_what_others_know_of_pairs(table):
    summary = summarise(
        GreedyGraph().fit(table),
        frequencies={("b", "a"): 0.75},
        explanations={("a", "when"): "nothing to explain"},
        verdicts=pl.DataFrame(
            {
                "verdict": ["linked"] * 9 + ["cannot tell"],
                "odds_ratio": [1.5] * 9 + [float("inf")],
                "rows_needed": [None] * 9 + [800.0],
            }
        ),
    )
    edges = {(edge["source"], edge["target"]): edge["frequency"] for edge in summary["edges"]}
    assert edges["a", "b"] == 0.75
    assert summary["frequencies"] == {"0,1": 0.75}
    assert summary["explanations"] == {"0,3": "nothing to explain"}
    assert summary["verdicts"]["odds_ratio"] == [1.5] * 9 + [None]
    with pytest.raises(SettingError, match="one row for each of 10 pairs, not 1"):
        summarise(GreedyGraph().fit(table), verdicts=pl.DataFrame({"verdict": ["linked"]}))


def test_paragraphs(table):
    texts = summarise(GreedyGraph(Paper(), rule="and", missing="drop").fit(table))["texts"]
    for part in ("5 variables", "200 observations", "(AND)", "1 log(np)/n", "isinglass 0.1.0"):
        assert part in texts["methods"]
    assert "No observation had missing values." in texts["methods"]
    assert "Jalali, Johnson and Ravikumar (2011)" in texts["methods"]
    assert "among 10 pairs of variables (n = 200)" in texts["results"]
    weighted = GreedyGraph(n_eff="kish", bins={"a": 2}).fit(table, sample_weight=np.full(200, 0.5))
    said = summarise(weighted)["texts"]["methods"]
    assert "by Kish's formula" in said
    assert "(a into 2 parts)" in said
    assert "uses no random numbers" in said
    drawn = summarise(GreedyGraph("cv:3").fit(table))["texts"]["methods"]
    assert "had the seed 0" in drawn
    nothing = summarise(GreedyGraph(3.0).fit(table))["texts"]
    assert "No edge was found among 10 pairs" in nothing["results"]


def test_rows_are_called_independent_only_where_they_are_taken_so(table):
    alone = summarise(GreedyGraph().fit(table))["texts"]["limits"]
    clusters = np.arange(200) // 4
    together = summarise(GreedyGraph().fit(table, clusters=clusters))["texts"]["limits"]
    assert alone[-1].startswith("Rows are treated as independent.")
    assert together[-1] == "Rows of different clusters are treated as independent."


def test_rows_that_were_left_out_are_counted(table):
    table.loc[:2, "a"] = None
    table.loc[7, "b"] = None
    summary = summarise(GreedyGraph(missing="drop").fit(table))
    assert (summary["rows"], summary["dropped"]) == (196, 4)
    assert "4 observations with missing values were dropped." in summary["texts"]["methods"]


def test_states_are_counted_alike_everywhere(table):
    from isinglass.cli.terminal import new_console, print_summary

    table.loc[:20, "a"] = None
    summary = summarise(GreedyGraph(missing="available").fit(table[["a", "b"]]))
    assert "(2 states each)" in summary["texts"]["methods"], "a missing value is no state here"
    console = new_console()
    with console.capture() as said:
        print_summary(console, summary, 5)
    assert "2 states per column" in said.get()


def test_links_without_a_sign_are_counted_as_such():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    shape = np.where(rng.random(300) < 0.8, colour, rng.permutation(colour))
    summary = summarise(GreedyGraph().fit(pl.DataFrame({"colour": colour, "shape": shape})))
    assert [edge["sign"] for edge in summary["edges"]] == [0]
    assert "(n = 300): 1 without a sign;" in summary["texts"]["results"]


def test_a_selector_that_keeps_fewer_edges(table):
    est = GreedyGraph("stability:1").fit(table)
    summary = summarise(est)
    at_threshold = est.at(est.threshold_)
    assert summary["kept_fewer"] == (len(est.graph_) < len(at_threshold))
    assert summary["selectors"][0]["edges"] == len(est.graph_)
