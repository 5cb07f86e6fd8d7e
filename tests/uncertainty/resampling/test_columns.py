"""Intervals of strength and expected influence, from half-samples."""

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import SettingError

STAR = ig.simulate.ising(ig.simulate.star(5, 3), coupling=0.6, signs="mixed", seed=1)


def rows(frame, measure):
    return {row["name"]: row for row in frame.iter_rows(named=True) if row["measure"] == measure}


def test_values_are_those_of_the_whole_table():
    est = ig.GreedyGraph().fit(STAR.sample(500, seed=0))
    found = ig.column_intervals(est, n=6)
    nodes = ig.measures.nodes(est, folds=None)
    for measure in ("strength", "expected_influence"):
        own = rows(found.to_frame(), measure)
        assert [row["value"] for row in own.values()] == nodes[measure].to_list()
        assert found.draws[measure].shape == (6, 5)


def test_draws_are_those_of_fits_to_the_halves():
    X = STAR.sample(300, seed=0)
    est = ig.GreedyGraph(n_jobs=1).fit(X)
    found = ig.column_intervals(est, n=2, seed=3)
    halves = ig.resample(est, n=2, seed=3).halves
    linked = [{name for edge in half for name in edge} for half in halves]
    for draw, names in zip(found.draws["strength"], linked, strict=True):
        assert {f"x{j}" for j in np.flatnonzero(draw)} == names


def test_columns_without_a_sign_have_no_influence():
    rng = np.random.default_rng(0)
    a = rng.choice(["red", "green", "blue"], 300)
    b = np.where(rng.random(300) < 0.8, a, "red")
    found = ig.column_intervals(ig.GreedyGraph().fit(np.column_stack([a, b])), n=4)
    influence = rows(found.to_frame(), "expected_influence")
    assert all(row["value"] is None and row["low"] is None for row in influence.values())
    strength = rows(found.to_frame(), "strength")
    assert all(row["low"] <= row["value"] <= row["high"] for row in strength.values())


def test_resumable_and_seeded(tmp_path):
    est = ig.GreedyGraph().fit(STAR.sample(200, seed=0))
    path = tmp_path / "columns.jsonl"
    some = ig.column_intervals(est, n=4, path=path)
    more = ig.column_intervals(est, n=8, path=path)
    whole = ig.column_intervals(est, n=8)
    assert np.array_equal(more.draws["strength"][:4], some.draws["strength"])
    assert np.array_equal(more.draws["strength"], whole.draws["strength"])
    with pytest.raises(SettingError, match="even"):
        ig.column_intervals(est, n=3)


@pytest.mark.long
def test_intervals_hold_the_value_of_the_population():
    """Nineteen in twenty, about: strengths of a very large table, from 150 tables of 800 rows."""
    field = ig.simulate.ising(ig.simulate.star(6, 4), coupling=0.5, seed=2)
    population = ig.GreedyGraph().fit(field.sample(10**6, seed=0)).graph_
    truth = np.array(ig.measures.sums(population)["strength"])
    held = []
    for seed in range(150):
        found = ig.column_intervals(ig.GreedyGraph().fit(field.sample(800, seed=seed + 1)), n=100)
        own = list(rows(found.to_frame(), "strength").values())
        held.append([row["low"] <= t <= row["high"] for row, t in zip(own, truth, strict=True)])
    assert 0.90 < np.mean(np.array(held)[:, truth > 0]) < 0.985
