"""ChowLiuTree against brute force, and the forests a threshold leaves."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import mutual_info_score
from sklearn.utils.estimator_checks import check_estimator

import isinglass as ig
from instances import sample
from isinglass.selection import FalseEdges
from rival_references import all_trees


def mixed(n=200, seed=0):
    return sample(np.random.default_rng(seed), [2, 3, 2, 4, 2], n)


@pytest.mark.long  # tables of as many states as rows, refitted for every score
def test_scikit_learn_accepts_the_estimator():
    check_estimator(ig.ChowLiuTree(), on_skip=None)


def test_parameters_survive_cloning():
    assert clone(ig.ChowLiuTree("paper")).threshold == "paper"


def test_mutual_information_against_scikit_learn():
    data = mixed()
    found = ig.ChowLiuTree().fit(data).mutual_information_
    for a in range(5):
        for b in range(5):
            expected = 0.0 if a == b else mutual_info_score(data[:, a], data[:, b])
            assert found[a, b] == pytest.approx(expected, abs=1e-12)


def test_there_are_125_trees_over_five_columns():
    assert len({tuple(sorted(edges)) for edges in all_trees(5)}) == 125


@pytest.mark.parametrize("seed", range(10))
def test_no_tree_fits_better(seed):
    data = mixed(n=60, seed=seed)
    est = ig.ChowLiuTree().fit(data)
    weights = est.mutual_information_
    found = sum(weights[link.source, link.target] for link in est.graph_)
    assert len(est.graph_) == 4
    best = max(sum(weights[a, b] for a, b in edges) for edges in all_trees(5))
    assert found == pytest.approx(best, abs=1e-12)


def test_threshold_leaves_a_forest():
    rng = np.random.default_rng(0)
    data = np.column_stack([mixed(n=500)[:, :3], rng.integers(0, 3, (500, 2))])
    forest = ig.ChowLiuTree(FalseEdges(0.05)).fit(data)
    tree = ig.ChowLiuTree().fit(data)
    assert 0 < len(forest.graph_) < len(tree.graph_) == 4
    assert set(forest.graph_.edges) <= set(tree.graph_.edges)


def test_weights_labels_and_constant_columns():
    data = np.column_stack([mixed(), np.zeros(200, int)])
    weights = np.random.default_rng(1).integers(0, 4, 200)
    weighted = ig.ChowLiuTree().fit(data, sample_weight=weights)
    copied = ig.ChowLiuTree().fit(np.repeat(data, weights, axis=0).astype(str))
    assert weighted.graph_ == copied.graph_
    np.testing.assert_allclose(weighted.mutual_information_, copied.mutual_information_)
    assert weighted.graph_.neighbors("x5") == []
    assert np.isfinite(weighted.score(data))
