"""Errors and areas against hand-worked cases and another library."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score

from isinglass import GreedyGraph
from isinglass.experiments import Found
from isinglass.experiments.measure import (
    area_under_precision_recall,
    as_found,
    edge_set,
    errors,
    f1,
)


def test_area_by_hand():
    rank = np.zeros((4, 4))
    rank[1, 0], rank[0, 2], rank[1, 2] = 4, 3, 3  # the last two come together
    # true 0-1 comes first (1/1), true 1-2 comes with one false (2/3), true 2-3 with all (3/6)
    area = area_under_precision_recall(rank, [(0, 1), (1, 2), (2, 3)])
    assert area == pytest.approx((1 + 2 / 3 + 3 / 6) / 3)


def test_no_true_edge_has_no_area():
    assert np.isnan(area_under_precision_recall(np.ones((3, 3)), []))


@given(st.integers(0, 500))
def test_area_is_average_precision(seed):
    rng = np.random.default_rng(seed)
    rank = rng.integers(0, 4, (6, 6)).astype(float)
    true = np.triu(rng.random((6, 6)) < 0.4, 1)
    true[0, 1] = True
    upper = np.triu_indices(6, 1)
    expected = average_precision_score(true[upper], np.maximum(rank, rank.T)[upper])
    found = area_under_precision_recall(rank, list(zip(*np.nonzero(true), strict=True)))
    assert found == pytest.approx(expected)


@given(st.integers(0, 500))
def test_f1_is_that_of_another_library(seed):
    rng = np.random.default_rng(seed)
    true, got = rng.random((2, 12)) < 0.5
    false, missed = (got & ~true).sum(), (true & ~got).sum()
    expected = f1_score(true, got, zero_division=1.0)
    assert f1(false, missed, true.sum()) == pytest.approx(expected)


def test_every_form_of_answer():
    x = np.random.default_rng(0).integers(0, 2, (60, 1)) * np.ones((1, 2), int)
    graph = GreedyGraph().fit(x).graph_
    for answer in (graph, [(1, 0)], {(0, 1)}, {"": [(0, 1)]}, Found({"": graph})):
        (edges,) = as_found(answer).graphs.values()
        assert edge_set(edges) == {(0, 1)}
    assert errors(graph, [(0, 1)]) == errors([(0, 1)], [(0, 1)])
