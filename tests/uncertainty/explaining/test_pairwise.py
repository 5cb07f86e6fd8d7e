"""The check of the pairwise form: its statistic row by row, what it names, how seldom it errs."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from isinglass import GreedyGraph, check_pairwise, simulate
from isinglass.errors import SettingError


def xor_table(n, seed, clear=0.85):
    """C is a xor b, mostly; a and b are uneven, so that pairs of columns are linked too."""
    rng = np.random.default_rng(seed)
    a, b = rng.random((2, n)) < 0.3
    c = np.where(rng.random(n) < clear, a ^ b, rng.random(n) < 0.5)
    d = np.where(rng.random(n) < 0.8, c, ~c)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d})


def literal_statistic(y, s, t, others):
    """Rao's score test of the product s t in a logistic regression, row by row, coding 0/1."""
    X = np.column_stack([np.ones(len(y)), s, t, *others]).astype(float)
    beta = np.zeros(X.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-X @ beta))
        beta += np.linalg.solve((X * (p * (1 - p))[:, None]).T @ X, X.T @ (y - p))
    p = 1 / (1 + np.exp(-X @ beta))
    z = (s * t).astype(float)
    weight = p * (1 - p)
    across = (X * weight[:, None]).T @ z
    information = (X * weight[:, None]).T @ X
    variance = weight @ z**2 - across @ np.linalg.solve(information, across)
    return (z @ (y - p)) ** 2 / variance


def test_the_statistic_is_the_literal_one():
    true = simulate.ising(nx.complete_graph(4), coupling=(0.3, 0.6), seed=1)
    rows = (true.sample(1500, seed=0) + 1) // 2
    est = GreedyGraph().fit(rows)
    assert len(est.graph_) == 6
    check = check_pairwise(est)
    assert len(check.interactions) == 4 * 3
    for each in check.interactions:
        r, s, t = (int(name[1:]) for name in (each.column, *each.neighbours))
        rest = [rows[:, v] for v in range(4) if v not in (r, s, t)]
        expected = literal_statistic(rows[:, r], rows[:, s], rows[:, t], rest)
        assert each.statistic == pytest.approx(expected, rel=1e-4)
        assert each.df == 1


def test_holm():
    check = check_pairwise(GreedyGraph().fit(xor_table(600, 0)))
    p = np.array([each.p_value for each in check.interactions])
    assert (np.diff(p) >= 0).all()
    expected = np.maximum.accumulate(np.minimum(p * np.arange(len(p), 0, -1), 1))
    np.testing.assert_allclose([each.adjusted for each in check.interactions], expected)


def test_the_third_column_is_named():
    check = check_pairwise(GreedyGraph().fit(xor_table(1500, 0)))
    assert len(check.missed) == 1
    named = check.missed[0]
    assert {named.column, *named.neighbours} == {"a", "b", "c"}
    assert "a pairwise model misses it" in named.sentence
    gap = {gap.column: gap for gap in check.gaps}["c"]
    assert gap.gain > 20 * gap.by_chance
    assert list(check.to_frame().columns[:3]) == ["column", "first", "second"]
    assert "1 interaction missed" in repr(check)


def test_an_interaction_without_any_trace_in_pairs():
    rng = np.random.default_rng(0)
    a, b, d = rng.integers(0, 2, (3, 800))
    c = np.where(rng.random(800) < 0.8, a ^ b, rng.integers(0, 2, 800))
    est = GreedyGraph().fit(np.column_stack([a, b, c, d]))
    assert not len(est.graph_)
    assert not check_pairwise(est).interactions
    beyond = check_pairwise(est, beyond=True)
    assert len(beyond.missed) == 1
    assert {beyond.missed[0].column, *beyond.missed[0].neighbours} == {"x0", "x1", "x2"}


def test_pairwise_tables_seldom_raise_an_alarm():
    alarms = 0
    for seed in range(40):
        true = simulate.ising(simulate.grid(3, 3), coupling=(0.2, 0.6), seed=seed)
        est = GreedyGraph(n_jobs=1).fit(true.sample(800, seed=seed))
        alarms += bool(check_pairwise(est).missed)
    assert alarms <= 6  # 2 are expected at level 0.05; more than 6 have probability 0.003


def test_several_states_weights_and_constant_columns():
    true = simulate.potts(simulate.chain(4), [3, 2, 4, 2], coupling=0.8, seed=0)
    rows = np.column_stack([true.sample(3000, seed=0), np.zeros(3000, dtype=int)])
    counts = np.random.default_rng(0).integers(0, 3, 3000)
    weighted = check_pairwise(GreedyGraph().fit(rows, sample_weight=counts))
    copied = check_pairwise(GreedyGraph().fit(np.repeat(rows, counts, axis=0)))
    assert {each.df for each in weighted.interactions} <= {1, 2, 3, 6, 12}
    assert [e.column for e in weighted.interactions] == [e.column for e in copied.interactions]
    for one, other in zip(weighted.interactions, copied.interactions, strict=True):
        assert one.statistic == pytest.approx(other.statistic, rel=1e-6)


def test_too_few_rows_are_said():
    rows = xor_table(60, 0)
    check = check_pairwise(GreedyGraph(0.02).fit(rows))
    tested = {(e.column, *e.neighbours) for e in check.interactions}
    assert check.untested
    assert not tested & set(check.untested)


def test_missing_values_in_rows_are_left_out():
    rows = xor_table(1500, 0).astype(object)
    rows.iloc[::11, 0] = None
    check = check_pairwise(GreedyGraph(missing="available").fit(rows))
    assert {check.missed[0].column, *check.missed[0].neighbours} == {"a", "b", "c"}


def test_a_level_that_makes_no_sense():
    with pytest.raises(SettingError, match="level must be a number strictly between 0 and 1"):
        check_pairwise(GreedyGraph().fit(xor_table(100, 0)), level=5)
