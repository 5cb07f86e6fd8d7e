"""Rows observed and expected of each link, against fits by a general optimiser."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from instances import instance
from isinglass import GreedyGraph, simulate
from isinglass.record import tables as module
from isinglass.record.tables import link_tables


def one_hot(codes, states):
    return np.eye(states)[codes]


def predicted(codes, weights, r, others, sizes):
    """P(x_r | others) in each row, by maximum likelihood."""
    parts = (one_hot(codes[:, t], sizes[t]) for t in others)
    design = np.hstack([np.ones((len(codes), 1)), *parts])
    seen = one_hot(codes[:, r], sizes[r]) * weights[:, None]

    def loss(flat):
        scores = design @ flat.reshape(design.shape[1], -1)
        value = -np.sum(seen * log_softmax(scores, axis=1)) / weights.sum()
        slope = weights[:, None] * softmax(scores, axis=1) - seen
        return value, (design.T @ slope).ravel() / weights.sum()

    start = np.zeros(design.shape[1] * sizes[r])
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    return softmax(design @ found.x.reshape(design.shape[1], -1), axis=1)


def slow_tables(codes, weights, graph, sizes):
    tables = {}
    near = [np.flatnonzero(graph.adjacency.toarray()[r]) for r in range(len(sizes))]
    for link in graph.links:
        i, j = link.source, link.target
        own = [one_hot(codes[:, r], sizes[r]) * weights[:, None] for r in (i, j)]
        by_i = predicted(codes, weights, i, [t for t in near[i] if t != j], sizes).T @ own[1]
        by_j = own[0].T @ predicted(codes, weights, j, [t for t in near[j] if t != i], sizes)
        tables[i, j] = (by_i + by_j) / 2
    return tables


@pytest.mark.parametrize("seed", range(6))
def test_expected_is_what_a_general_optimiser_finds(seed):
    states = [2, 3, 2, 4, 3, 2]
    field = simulate.potts(simulate.small_world(6, 2, 0.3, seed=seed), states, seed=seed)
    codes = field.sample(500, seed=seed)
    weights = np.random.default_rng(seed).integers(1, 4, 500).astype(float)
    est = GreedyGraph(0.004, edges="table").fit(codes, sample_weight=weights)
    found = link_tables(est.table_, est.graph_)
    slow = slow_tables(est.table_.codes, est.table_.weights, est.graph_, est.table_.n_states)
    assert list(found) == list(slow) == [(e.source, e.target) for e in est.graph_.links]
    for pair, table in found.items():
        np.testing.assert_allclose(table.expected, slow[pair], atol=0.02)


@pytest.mark.parametrize("seed", range(24))
def test_both_margins_are_those_seen(seed):
    drawn = instance(seed)
    est = GreedyGraph(drawn.threshold).fit(drawn.codes, sample_weight=drawn.weights)
    table = est.table_
    for (i, j), link in link_tables(table, est.graph_).items():
        for axis in (0, 1):
            np.testing.assert_allclose(
                link.expected.sum(axis), link.observed.sum(axis), atol=1e-6 * table.n
            )
        for a, b in np.ndindex(link.observed.shape):
            rows = (table.codes[:, i] == a) & (table.codes[:, j] == b)
            assert link.observed[a, b] == pytest.approx(table.weights[rows].sum())


def test_a_lone_link_expects_independence():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 300)
    b = np.where(rng.random(300) < 0.6, a, rng.integers(0, 3, 300))
    est = GreedyGraph().fit(np.column_stack([a, b]))
    (link,) = link_tables(est.table_, est.graph_).values()
    independent = np.outer(link.observed.sum(1), link.observed.sum(0)) / 300
    np.testing.assert_allclose(link.expected, independent, atol=1e-5)


def test_a_combination_that_never_occurs_shifts_nothing_else():
    """A log-potential of minus eight in one cell used to raise all others of its row."""
    counts = np.array([[0, 40, 60], [50, 50, 100], [60, 30, 110]])
    rows = np.repeat(np.argwhere(counts >= 0), counts.ravel(), axis=0)
    est = GreedyGraph(1e-3).fit(rows)
    (link,) = link_tables(est.table_, est.graph_).values()
    np.testing.assert_array_equal(link.observed, counts)
    assert link.observed[0, 0] / link.expected[0, 0] == 0
    assert link.expected[0, 0] == pytest.approx(22.0, abs=1e-3)


def test_with_missing_values_a_table_counts_rows_in_which_both_are_seen(monkeypatch):
    field = simulate.potts(simulate.chain(4), [2, 3, 2, 3], coupling=0.8, seed=1)
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(field.sample(400, seed=2)).astype(object).add_prefix("c")
    frame = frame.mask(rng.random(frame.shape) < 0.15)
    est = GreedyGraph(missing="available").fit(frame)
    found = link_tables(est.table_, est.graph_)
    assert found
    for (i, j), link in found.items():
        both = frame.iloc[:, [i, j]].dropna().astype(int)
        seen = pd.crosstab(both.iloc[:, 0], both.iloc[:, 1]).to_numpy()
        np.testing.assert_array_equal(link.observed, seen)
        np.testing.assert_allclose(link.expected.sum(0), seen.sum(0), atol=1e-4)
        np.testing.assert_allclose(link.expected.sum(1), seen.sum(1), atol=1e-4)
    monkeypatch.setattr(module, "MOST_SECONDS", 0.0)
    assert link_tables(est.table_, est.graph_) == {}, "there is no time for any"


def test_the_weakest_are_left_out(monkeypatch):
    x = simulate.ising(simulate.grid(3, 3), coupling=0.6, seed=1).sample(1000, seed=1)
    est = GreedyGraph().fit(x)
    monkeypatch.setattr(module, "MOST_CELLS", 23)
    strongest = sorted(est.graph_.links, key=lambda link: -link.strength)[:5]
    kept = link_tables(est.table_, est.graph_)
    assert list(kept) == sorted((link.source, link.target) for link in strongest)


def test_both_ways_agree_where_nothing_is_missing():
    field = simulate.potts(simulate.small_world(6, 2, 0.3, seed=1), [2, 3, 2, 4, 3, 2], seed=1)
    est = GreedyGraph(0.004).fit(field.sample(500, seed=1))
    pairs = est.graph_.pairs
    for (i, j), ours in module._of_seen_rows(est.table_, est.graph_, pairs, True).items():
        theirs = link_tables(est.table_, est.graph_)[i, j]
        np.testing.assert_array_equal(ours.observed, theirs.observed)
        np.testing.assert_allclose(ours.expected, theirs.expected, atol=1e-3)
