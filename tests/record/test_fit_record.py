"""The record of a fit comes back from its file as it was, and can be read as the fit."""

import json
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from instances import instance
from isinglass import GreedyGraph, measures, selection, simulate, summarise
from isinglass.engine import Value
from isinglass.errors import BelowFloor, FileError, SettingError
from isinglass.graph import NUMBERS, Link
from isinglass.model import FitRecord, MarkovField
from isinglass.record.findings import Findings, findings_of
from isinglass.report import to_html
from mutations import load_or_refuse, mutations
from report.pages import first_schema

FIELD = simulate.potts(simulate.chain(5), [2, 3, 2, 4, 2], coupling=0.8, seed=1)


def fitted(rows=400, **settings) -> GreedyGraph:
    return GreedyGraph(**({"floor": 1e-3} | settings)).fit(FIELD.sample(rows, seed=1))


def with_missing() -> GreedyGraph:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(FIELD.sample(300, seed=2)).astype(object)
    table = table.mask(rng.random(table.shape) < 0.1)
    table.columns = [f"q{j}" for j in table]
    table["constant"] = "x"
    return GreedyGraph(missing="available", floor=2e-3).fit(table)


FITS = {
    "plain": fitted,
    "no intercept": lambda: fitted(intercept=False, rule="and", max_degree=np.int64(2)),
    "a selector": lambda: fitted(threshold=selection.FalseEdges(2.0)),
    "both ends": lambda: fitted(60, rule="joint"),
    "incomplete": with_missing,
}


def assert_same_fit(a, b) -> None:
    assert a.loss == b.loss
    assert a.unbounded == b.unbounded
    assert np.array_equal(a.intercept, b.intercept)
    assert a.coef.keys() == b.coef.keys()
    assert all(np.array_equal(a.coef[j], b.coef[j]) for j in a.coef)


@pytest.mark.parametrize("name", FITS)
def test_round_trip(name, tmp_path):
    est = FITS[name]()
    est.record().save(tmp_path / "fit.json")
    record = FitRecord.load(tmp_path / "fit.json")
    assert record.graph == est.graph_
    assert record.graph.links == est.graph_.links
    assert record.graph.library == est.graph_.library
    assert (record.threshold, record.floor) == (est.threshold_, est.floor_)
    for key in ("column", "what", "done"):
        assert [getattr(note, key) for note in record.diagnostics] == est.diagnostics_[
            key
        ].to_list()
    assert sum(map(len, record.paths)) > 0
    for ours, theirs in zip(record.paths, est.paths_, strict=True):
        assert (ours.status, ours.names) == (theirs.status, theirs.names)
        assert repr(ours) == repr(theirs)
        assert_same_fit(ours.start, theirs.start)
        for a, b in zip(ours.steps, theirs.steps, strict=True):
            assert (a.kind, a.variable, a.gain, a.cost, a.support) == (
                *(b.kind, b.variable, b.gain, b.cost, b.support),
            )
            assert_same_fit(a.fit, b.fit)
        assert repr(ours.at(est.threshold_)) == repr(theirs.at(est.threshold_))


@pytest.mark.parametrize("name", FITS)
def test_summary_without_the_table(name, tmp_path):
    est = FITS[name]()
    est.record().save(tmp_path / "fit.json")
    assert summarise(FitRecord.load(tmp_path / "fit.json")) == summarise(est)


@pytest.mark.parametrize("name", FITS)
def test_tables_of_links_come_back(name, tmp_path):
    est = FITS[name]()
    est.record().save(tmp_path / "fit.json")
    ours, theirs = FitRecord.load(tmp_path / "fit.json").link_tables, est.record().link_tables
    assert list(ours) == list(theirs) == [(e.source, e.target) for e in est.graph_.links]
    for pair, table in theirs.items():
        np.testing.assert_array_equal(ours[pair].observed, table.observed)
        np.testing.assert_array_equal(ours[pair].expected, table.expected)


def found_out(est: GreedyGraph) -> Findings:
    names = est.graph_.names
    pairs = len(names) * (len(names) - 1) // 2
    return findings_of(
        names,
        title="a table",
        measures=measures.nodes(est),
        frequencies={(names[1], names[0]): 0.25},
        explanations={(names[0], names[2]): "because"},
        verdicts=pl.DataFrame(
            {
                "verdict": ["cannot tell"] * pairs,
                "odds_ratio": [1.5] * (pairs - 1) + [float("inf")],
                "rows_needed": [None, *([800.0] * (pairs - 1))],
            }
        ),
    )


def test_what_was_found_out_comes_back(tmp_path):
    est = fitted()
    found = found_out(est)
    record = replace(est.record(), findings=found)
    record.save(tmp_path / "fit.json")
    again = FitRecord.load(tmp_path / "fit.json")
    assert again.findings == found
    assert summarise(again) == summarise(record)
    assert summarise(again)["title"] == "a table"
    assert summarise(again, title="another")["title"] == "another"
    assert summarise(again, frequencies={})["frequencies"] == {}
    assert summarise(again)["verdicts"]["odds_ratio"][-1] is None


ODD = {
    "a share above one": lambda fit: fit["findings"]["frequencies"][0].__setitem__(2, 1.5),
    "an unknown verdict": lambda fit: fit["findings"]["verdicts"]["verdict"].__setitem__(0, "?"),
    "too few verdicts": lambda fit: fit["findings"]["verdicts"]["rows_needed"].pop(),
    "an unknown measure": lambda fit: fit["findings"]["measures"].update(other=[1] * 5),
    "a measure that is text": lambda fit: fit["findings"]["measures"].update(accuracy=["x"] * 5),
    "a pair twice": lambda fit: fit["findings"]["explanations"].append([0, 2, "so"]),
    "no title": lambda fit: fit["findings"].pop("title"),
    "a negative count": lambda fit: fit["link_tables"][0]["observed"][0].__setitem__(0, -1),
    "a table of another shape": lambda fit: fit["link_tables"][0]["expected"].pop(),
    "a table twice": lambda fit: fit["link_tables"].append(fit["link_tables"][0]),
    "rows left out, negative": lambda fit: fit.update(dropped=-1),
    "a column that found itself": lambda fit: fit.update(found_alone=[[0, 0, None]]),
    "a neighbour that was found twice": lambda fit: fit.update(found_alone=[[0, 1, None]] * 2),
    "a threshold that is not positive": lambda fit: fit.update(found_alone=[[0, 1, 0.0]]),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_findings_are_refused(what, tmp_path):
    est = fitted()
    path = tmp_path / "fit.json"
    replace(est.record(), findings=found_out(est)).save(path)
    document = json.loads(path.read_text())
    ODD[what](document["fit"])
    path.write_text(json.dumps(document))
    with pytest.raises(FileError, match="cannot be loaded"):
        FitRecord.load(path)


def test_files_without_tables_and_findings_load(tmp_path):
    path = tmp_path / "fit.json"
    fitted().record().save(path)
    document = json.loads(path.read_text())
    for key in ("link_tables", "dropped", "findings"):
        del document["fit"][key]
    path.write_text(json.dumps(document))
    record = FitRecord.load(path)
    assert (record.link_tables, record.dropped, record.findings) == (None, None, None)
    assert summarise(record)["link_tables"] is None
    to_html(summarise(record))


def test_an_edge_that_nobody_found_does_no_harm(tmp_path):
    path = tmp_path / "fit.json"
    fitted(rule="joint").record().save(path)
    document = json.loads(path.read_text())
    document["fit"]["found_alone"] = []
    path.write_text(json.dumps(document))
    record = FitRecord.load(path)
    assert {link.selected_by for link in record.at(record.threshold)} == {"both"}


def value_of(link: Link) -> Value:
    return Value(link.strength, link.relative_strength, link.evidence)


def unvalued(link: Link) -> Link:
    """All but what depends on the rest of the graph."""
    return link._replace(strength=None, relative_strength=None, evidence=None)


def assert_same_graphs(est: GreedyGraph, path) -> None:
    est.record().save(path)
    record = FitRecord.load(path)
    gains = sorted({s.gain for p in est.paths_ for s in p.steps if s.gain is not None})
    thresholds = [est.floor_, est.threshold_, *gains, *(1.0001 * gain for gain in gains), 10.0]
    for threshold in thresholds:
        ours, theirs = record.at(threshold), est.at(threshold)
        assert list(map(unvalued, ours)) == list(map(unvalued, theirs)), "to the last digit"
        assert all(value_of(link) == record.values[link[:2]] for link in ours)
        assert (ours.names, ours.library) == (theirs.names, theirs.library)
    assert record.at(est.threshold_).links == est.graph_.links or est.selection_.kept is not None


@pytest.mark.parametrize("name", FITS)
def test_graphs_at_every_threshold_without_the_table(name, tmp_path):
    assert_same_graphs(FITS[name](), tmp_path / "fit.json")


@pytest.mark.parametrize("seed", range(24))
def test_graphs_of_random_tables_without_the_table(seed, tmp_path):
    drawn = instance(seed)
    rule = ("or", "and", "joint")[seed % 3]
    est = GreedyGraph(drawn.threshold, rule=rule, nu=drawn.nu, intercept=drawn.intercept)
    est.fit(drawn.codes, sample_weight=drawn.weights)
    assert_same_graphs(est, tmp_path / "fit.json")


@pytest.mark.parametrize("seed", range(4))
def test_graphs_of_random_tables_with_missing(seed, tmp_path):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(instance(seed).codes).astype(object).add_prefix("c")
    table = table.mask(rng.random(table.shape) < 0.1)
    assert_same_graphs(GreedyGraph(0.01, missing="available").fit(table), tmp_path / "fit.json")


def test_below_the_floor():
    record = fitted(floor=1e-3).record()
    with pytest.raises(BelowFloor, match=r"ran to floor = 0.001, so 1e-05 is out of reach"):
        record.at(1e-5)


def test_values_are_those_of_the_first_graph_that_has_an_edge():
    weak = simulate.ising(simulate.grid(3, 3), coupling=0.2, seed=2).sample(300, seed=4)
    est = GreedyGraph(floor=1e-4).fit(weak)
    values = est.record().values
    tentative = est.tentative_
    assert 0 < len(est.graph_) < len(tentative) < len(values)
    for link in est.graph_:
        assert values[link[:2]] == value_of(link)
    for link in tentative:
        if link[:2] not in est.graph_.pairs:
            assert values[link[:2]] == value_of(link)
    listed = est.record().with_tentative
    assert set(listed.pairs) == set(est.graph_.pairs) | set(tentative.pairs)


def test_the_first_schema_has_no_values(tmp_path):
    """Its strength was of another kind; it only says how wide edges are drawn."""
    est = fitted()
    record = first_schema(est, tmp_path / "old.json")
    assert record.graph == est.graph_
    for link, now in zip(record.graph, est.graph_, strict=True):
        assert value_of(link) == Value()
        assert (link.size, link.coupling) == (now.strength, now.coupling)
    assert len(record.paths[0].steps) == len(est.paths_[0].steps)
    assert record.at(0.01) == est.at(0.01)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda fit: fit.pop("values"), "values"),
        (lambda fit: fit["values"].append(fit["values"][0]), "be there once"),
        (lambda fit: fit["values"][0].update(columns=[1, 0]), "in column order"),
        (lambda fit: fit["values"][0].update(columns=[0, 9]), "from 0 to 4"),
        (lambda fit: fit["values"][0].update(evidence=-1), "not be negative"),
        (lambda fit: fit["values"][0].pop("strength"), "strength"),
        (lambda fit: fit["columns"][0].update(answers=3), "from 0 to 2"),
        (lambda fit: fit["columns"][0].update(answers=0), "at least one answer"),
        (lambda fit: fit["columns"][0].update(ordered=1), "one of"),
    ],
)
def test_what_is_wrong_with_values_is_said(damage, words, tmp_path):
    path = tmp_path / "fit.json"
    fitted().record().save(path)
    document = json.loads(path.read_text())
    damage(document["fit"])
    path.write_text(json.dumps(document))
    with pytest.raises(FileError, match=words):
        FitRecord.load(path)


def test_settings_are_plain():
    settings = fitted(threshold=selection.FalseEdges(2.0), max_degree=np.int64(3)).record().settings
    assert settings["threshold"] == repr(selection.FalseEdges(2.0))
    assert settings["nu"] == 0.5
    assert type(settings["max_degree"]) is int


def test_fingerprint_is_of_the_table():
    table = pd.DataFrame(FIELD.sample(50, seed=1), columns=list("abcde"))

    def fingerprint(of, **fit):
        return GreedyGraph().fit(of, **fit).record().fingerprint

    one = fingerprint(table)
    assert fingerprint(pl.DataFrame(table.to_dict("list"))) == one
    changed = table.copy()
    changed.loc[7, "b"] = (changed.loc[7, "b"] + 1) % 3
    others = [changed, table.rename(columns={"a": "z"}), table.replace({"a": {0: 5}}), table[::-1]]
    different = {fingerprint(other) for other in others}
    different.add(fingerprint(table, sample_weight=np.full(50, 2)))
    assert len(different | {one}) == 6


def test_beside_a_model(tmp_path):
    path = tmp_path / "model.json"
    FIELD.save(path, fit=fitted().record())
    assert MarkovField.load(path).graph == FIELD.graph
    assert FitRecord.load(path).names == FIELD.names
    FIELD.save(path)
    with pytest.raises(FileError, match="it holds no fit, only model"):
        FitRecord.load(path)
    fitted().record().save(path)
    with pytest.raises(FileError, match="holds the record of a fit, but no model; fit the"):
        MarkovField.load(path)


def test_of_other_columns(tmp_path):
    with pytest.raises(SettingError, match="different columns"):
        FIELD.save(tmp_path / "model.json", fit=with_missing().record())


def test_before_fit():
    with pytest.raises(NotFittedError):
        GreedyGraph().record()


def usable(path) -> bool:
    """Whether a record that loads can be read."""
    record = FitRecord.load(path)
    with suppress(SettingError):  # of the first schema, or of no known rule
        assert repr(record.at(record.floor).to_frame())
    assert to_html(summarise(record))
    return all(map(repr, (record, record.graph, record.graph.to_frame(), *record.paths)))


def fuzz(path, seed: int, count: int) -> None:
    FIELD.save(path, fit=fitted(floor=None, threshold=0.05).record())
    valid = json.loads(path.read_text())
    loaded = [load_or_refuse(usable, path, content) for content in mutations(valid, seed, count)]
    assert 0 < loaded.count(True) < count


def test_damaged_files(tmp_path):
    fuzz(tmp_path / "model.json", 0, 300)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 6))
def test_thousands_of_damaged_files(seed, tmp_path):
    fuzz(tmp_path / "model.json", seed, 2000)


def test_every_number_of_an_edge_is_kept():
    edge = fitted().record().to_json()["edges"][0]
    assert {"source", "target", *NUMBERS, "size"} == set(edge)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"require": [("x0", "x5")], "forbid": [("x0", "x1")]},
        {"require": [("x0", "x1"), ("x1", "x2")], "threshold": 0.3},
        {"require": [("x0", "x5")], "rule": "and", "max_degree": 1},
        {"threshold": "ebic"},
        {"threshold": "stability"},
        {"missing": "available", "require": [("x0", "x5")]},
    ],
    ids=str,
)
def test_links_are_equal_at_every_threshold(settings, tmp_path):
    rows = simulate.ising(simulate.chain(6), coupling=0.6).sample(400, seed=1)
    rows = np.asarray(rows, dtype=float)
    if settings.get("missing") == "available":
        rows[np.random.default_rng(0).random(rows.shape) < 0.05] = np.nan
    est = GreedyGraph(floor=1e-3, **settings).fit(rows)
    est.record().save(tmp_path / "fit.json")
    record = FitRecord.load(tmp_path / "fit.json")
    for threshold in (est.floor_, est.threshold_, 2 * est.threshold_):
        expected = list(map(unvalued, est.at(threshold)))
        for graph in (est.record().at(threshold), record.at(threshold)):
            assert list(map(unvalued, graph)) == expected
    assert record.graph.links == est.graph_.links
