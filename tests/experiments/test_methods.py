"""The methods of the experiment say what their estimators say, from one fit."""

import numpy as np
import pytest

from isinglass import ChowLiuTree, GreedyGraph, InteractionScreening, IsinglassError, L1Graph
from isinglass.experiments import methods
from isinglass.experiments.designs import chain_design, grid_design, regular_design, star_design
from isinglass.experiments.measure import edge_set
from isinglass.selection import Paper


@pytest.fixture(scope="module")
def table():
    return grid_design(9, (1.0,)).sample(180, seed=3)[0]


@pytest.mark.parametrize("rule", ["or", "and"])
@pytest.mark.parametrize("intercept", [True, False])
def test_greedy(table, rule, intercept):
    graphs = methods.greedy(table, intercept=intercept).graphs
    for c in (0.3, 0.8, 1.0):
        expected = GreedyGraph(Paper(c), rule=rule, intercept=intercept).fit(table).graph_
        assert edge_set(graphs[f"{rule} c={c:g}"]) == edge_set(expected)
    auto = GreedyGraph(rule=rule, intercept=intercept).fit(table).graph_
    assert edge_set(graphs[f"{rule} auto"]) == edge_set(auto)


def test_the_rank_of_a_pair_is_the_largest_threshold_that_lets_it_in(table):
    rank = methods.greedy(table, intercept=False).ranking
    estimator = GreedyGraph(1e-3, intercept=False).fit(table)
    rank = np.maximum(rank, rank.T)
    for a, b in [(0, 1), (3, 4), (7, 8)]:
        assert (a, b) in edge_set(estimator.at(rank[a, b] - 1e-9))
        assert (a, b) not in edge_set(estimator.at(rank[a, b] + 1e-9))


@pytest.mark.parametrize("rule", ["or", "and"])
def test_l1(table, rule):
    graphs = methods.l1(table, intercept=False).graphs
    for c in (methods.L1_CONSTANTS[0], methods.L1_CONSTANTS[12]):
        expected = L1Graph(f"rate:{c}", rule=rule, intercept=False).fit(table).graph_
        assert edge_set(graphs[f"{rule} c={c:g}"]) == edge_set(expected)


def test_l1_refitted(table):
    graphs = methods.l1_refitted(table, intercept=False).graphs
    settings = {"rule": "or", "refit": True, "threshold": 0.3, "intercept": False}
    expected = L1Graph("rate:1.4", **settings).fit(table).graph_
    assert edge_set(graphs["or c=1.4 cut=0.3"]) == edge_set(expected)


def test_screening_and_tree(table):
    graphs = methods.screening(table, objective="logrise", intercept=False).graphs
    for name, threshold in (("gap", "gap"), ("cut=0.3", 0.3)):
        expected = InteractionScreening(threshold=threshold, intercept=False).fit(table).graph_
        assert edge_set(graphs[name]) == edge_set(expected)
    assert edge_set(methods.tree(table).graphs["tree"]) == edge_set(ChowLiuTree().fit(table).graph_)


def test_cross_validation_chooses_one_constant(table):
    graphs = methods.l1_cross_validated(table, intercept=False).graphs
    assert edge_set(graphs["and cv"]) <= edge_set(graphs["or cv"])


def test_lines_know_their_methods():
    every = methods.lines(5, 2, also=methods.EXTRAS)
    assert every[0].method.ours
    assert [line.method.ours for line in every].count(True) == 3
    with pytest.raises(IsinglassError, match="no method 'magic'"):
        methods.lines(5, 2, also=["magic"])


def test_designs():
    assert chain_design(36, (1.0,)).rows(1.0) == round(20 * 2 * np.log(36))
    assert [star_design(p, ()).degree for p in (36, 64, 100)] == [4, 7, 10]
    with pytest.raises(IsinglassError, match="square number of columns, not 37"):
        grid_design(37, ())
    design = regular_design(12, 3, (1.0,), coupling=(0.1, 0.4), signs="positive", seed=5)
    assert design.name == "regular/p=12/d=3/coupling=0.1..0.4/positive/seed=5"
    (codes, edges), (same, _), (_, others) = (design.sample(20, seed) for seed in (1, 1, 2))
    assert (codes == same).all()
    assert len(edges) == 18
    assert edge_set(edges) != edge_set(others)
