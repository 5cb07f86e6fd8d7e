"""Two tiers of edges from one run, and links that must or must not be."""

import numpy as np
import pytest

from graphs_by_hand import make_link
from isinglass import GreedyGraph, simulate
from isinglass.errors import BelowFloor, SettingError
from isinglass.record.fit_record import FitRecord
from isinglass.selection import FalseEdges

FIELD = simulate.ising(simulate.grid(3, 3), coupling=0.2, seed=2)


def table(n: int = 300) -> np.ndarray:
    return FIELD.sample(n, seed=4)


def test_tiers_are_the_graphs_of_two_fits():
    est = GreedyGraph().fit(table())
    firm = GreedyGraph(FalseEdges(0.05)).fit(table()).graph_
    tentative = GreedyGraph(FalseEdges(1)).fit(table()).graph_
    assert est.graph_ == firm
    assert est.tentative_ == tentative
    assert est.floor_ == FalseEdges(1).threshold(300, 9)
    assert len(firm) < len(tentative)
    assert {link.tier for link in est.graph_} == {"firm"}
    frame = est.tentative_.to_frame()
    for source, target, tier in frame.select("source", "target", "tier").rows():
        assert tier == ("firm" if (source, target) in firm.edges else "tentative")


def test_edges_below_both_tiers_have_none():
    est = GreedyGraph(floor=1e-4).fit(table())
    tiers = [link.tier for link in est.at(1e-4)]
    assert set(tiers) == {"firm", "tentative", ""}


def test_a_run_that_stopped_earlier():
    est = GreedyGraph("paper").fit(table())
    assert {link.tier for link in est.graph_} == {"firm"}
    with pytest.raises(BelowFloor, match="refit with GreedyGraph"):
        _ = est.tentative_


def test_required_and_forbidden_links():
    x = table()
    links = {"require": [("x0", "x8")], "forbid": [("x0", "x1"), (["x2"], ["x4", "x5"])]}
    est = GreedyGraph(**links).fit(x)
    for graph in (est.graph_, est.tentative_, est.at(1.0)):
        assert ("x0", "x8") in graph.edges
        assert not {("x0", "x1"), ("x2", "x4"), ("x2", "x5")} & set(graph.edges)
    assert est.at(1.0).edges == [("x0", "x8")]
    required = next(link for link in est.graph_ if (link.source, link.target) == (0, 8))
    assert (required.tier, required.selected_by) == ("required", "required")
    assert np.isfinite(required.evidence)


def test_groups_by_name_and_by_position():
    x = table()
    by_name = GreedyGraph(forbid=[("x0", "x1", "x3")]).fit(x)
    by_position = GreedyGraph(forbid=[(0, 1, 3)]).fit(x)
    in_pairs = GreedyGraph(forbid=[("x0", "x1"), ("x1", "x3"), ("x0", "x3")]).fit(x)
    assert by_name.graph_ == by_position.graph_ == in_pairs.graph_


def test_a_required_link_to_a_constant_column_is_noted():
    x = np.column_stack([table(), np.zeros(300, int)])
    est = GreedyGraph(require=[("x0", "x9")]).fit(x)
    assert ("x0", "x9") not in est.graph_.edges
    assert "required link" in est.diagnostics_["what"].to_list()


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ({"require": [("x0", "x1")], "forbid": [("x1", "x0")]}, "both required and forbidden"),
        ({"forbid": [("x0", "y")]}, "forbid: there is no column 'y'"),
        ({"require": [("x0", "x0")]}, "to itself"),
        ({"require": "x0"}, "takes a list of links"),
        ({"require": ["x0"]}, "takes a list of links"),
        ({"forbid": [("x0",)]}, "takes a list of links"),
        ({"require": [make_link(0, 1)]}, "takes a list of links"),
        ({"forbid": [(["x0"], ["x1"], ["x2"])]}, "takes a list of links"),
    ],
)
def test_links_that_make_no_sense(links, said):
    with pytest.raises(SettingError, match=said):
        GreedyGraph(**links).fit(table(50))


def test_the_record_keeps_what_was_required(tmp_path):
    est = GreedyGraph(require=[("x0", "x8")], forbid=[("x0", "x1")]).fit(table())
    est.record().save(tmp_path / "fit.json")
    record = FitRecord.load(tmp_path / "fit.json")
    assert record.paths[0].required == (8,)
    assert record.paths[0].at(1.0).support == (8,)
    assert [link.tier for link in record.graph] == [link.tier for link in est.graph_]


def test_missing_values_left_out_and_links_required():
    rng = np.random.default_rng(0)
    x = table().astype(float)
    x[rng.random(x.shape) < 0.1] = np.nan
    links = {"require": [("x0", "x8")], "forbid": [("x0", "x1")]}
    est = GreedyGraph(missing="available", **links).fit(x)
    assert ("x0", "x8") in est.graph_.edges
    assert ("x0", "x1") not in est.graph_.edges
