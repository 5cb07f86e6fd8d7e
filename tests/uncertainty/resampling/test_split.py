"""Split tests: halves that share no row, p-values joined as the paper says, few false finds."""

import math
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from isinglass import ChowLiuTree, GreedyGraph, simulate, split_test
from isinglass.errors import BadClusters, SettingError
from isinglass.uncertainty.resampling.split import NULL, Halves, false_discoveries, half_of, joined

CHAIN = simulate.ising(simulate.chain(6), signs="positive")


def test_halves():
    rng = np.random.default_rng(0)
    counts = np.array([3.0, 0, 1, 5, 2, 0, 7])
    for _ in range(20):
        half = half_of(counts, None, rng)
        assert half.sum() == 9
        assert ((half >= 0) & (half <= counts)).all()
    ones = half_of(np.ones(11), None, rng)
    assert sorted(ones) == [0] * 6 + [1] * 5
    shares = np.array([0.5, 1.5, 2.5, 0.1])
    half = half_of(shares, None, rng)
    assert (half > 0).sum() == 2
    assert set(half[half > 0]) <= set(shares)
    clusters = np.repeat(np.arange(4), 3)
    half = half_of(np.ones(12), clusters, rng)
    assert [set(half[clusters == g]) for g in range(4)].count({1.0}) == 2


def literal_joined(p_values, least=0.05):
    """The aggregated p-value of Meinshausen, Meier and Bühlmann, their equation 2.3."""
    count = len(p_values)
    best = 1.0
    for gamma in np.arange(least, 1.0 + 1e-12, 1e-4):
        ordered = sorted(p / gamma for p in p_values)
        quantile = ordered[max(math.ceil(gamma * count - 1e-9), 1) - 1]
        best = min(best, quantile)
    return min(1.0, (1 - math.log(least)) * best)


def test_joined_p_values():
    rng = np.random.default_rng(0)
    for count in (1, 7, 40):
        p_values = np.where(rng.random(count) < 0.5, 1.0, 10.0 ** -rng.uniform(1, 6, count))
        splits = [{(0, 1): p} if p < 1 else {} for p in p_values]
        found = joined(splits, (0, 1))
        assert found == pytest.approx(literal_joined(p_values.tolist()), rel=1e-2, abs=1e-12)
    assert joined([{}, {}], (0, 1)) == 1.0


def test_false_discoveries():
    p_values = {(0, 1): 0.004, (0, 2): 0.03, (0, 3): 0.5, (1, 2): 0.012}
    harmonic = sum(1 / k for k in range(1, 7))
    assert harmonic == pytest.approx(2.45)
    assert list(false_discoveries(p_values, 6, 0.05)) == [(0, 1), (1, 2), (0, 2)]
    assert list(false_discoveries(p_values, 6, 0.01)) == [(0, 1)]
    assert list(false_discoveries(p_values, 6, 0.005)) == []
    assert list(false_discoveries({}, 6, 0.05)) == []


def test_links_are_found():
    test = split_test(GreedyGraph(), CHAIN.sample(1500, seed=0), splits=8)
    assert test.edges == CHAIN.graph.edges
    frame = test.to_frame()
    assert frame["p_value"].is_sorted()
    assert set(frame["chosen"].head(5)) == {1.0}
    assert frame["found"].sum() == 5
    assert test.null == NULL
    assert "5 edges" in repr(test)
    again = split_test(GreedyGraph(), CHAIN.sample(1500, seed=0), splits=8)
    assert again.p_values == test.p_values


def test_nothing_is_found_where_nothing_is():
    false = 0
    for seed in range(10):
        rows = np.random.default_rng(seed).integers(0, 2, (300, 8))
        # A generous threshold chooses many false edges; the other half must not confirm them.
        test = split_test(GreedyGraph(0.003), rows, splits=4, level=0.1, seed=seed)
        assert test.p_values
        false += bool(test.edges)
    assert false <= 2


def test_weights_are_copies_and_may_stand_in_a_column():
    rows = pl.DataFrame(CHAIN.sample(600, seed=0), schema=list(CHAIN.names))
    counts = np.random.default_rng(0).integers(0, 4, 600)
    in_column = rows.with_columns(count=pl.Series(counts))
    a = split_test(GreedyGraph(), rows, counts, splits=3)
    b = split_test(GreedyGraph(), in_column, "count", splits=3)
    assert a.p_values == b.p_values
    assert a.names == CHAIN.names
    shares = counts + 0.5
    assert split_test(GreedyGraph(n_eff="kish"), rows, shares, splits=3).edges
    assert split_test(GreedyGraph(n_eff=500.0), rows, shares, splits=3).edges


def test_clusters_stay_together():
    """Every row thirty times: honest as clusters, hopelessly sure as rows."""
    rng = np.random.default_rng(1)
    rows = np.repeat(rng.integers(0, 2, (60, 6)), 30, axis=0)
    ids = np.repeat(np.arange(60), 30)
    fooled = split_test(GreedyGraph(), rows, splits=4)
    honest = split_test(GreedyGraph(), rows, splits=4, clusters=ids)
    assert fooled.edges
    assert not honest.edges


def test_splits_that_fail_are_counted():
    """A column that is all but never seen vanishes from most halves."""
    rows = CHAIN.sample(300, seed=0).astype(object)
    rows[1:, 5] = None
    test = split_test(GreedyGraph(missing="available"), rows, splits=6)
    assert test.splits + sum(test.failures.values()) == 6
    rows[:, 5] = None
    with pytest.raises(SettingError, match="all 3 splits failed"):
        split_test(GreedyGraph(missing="error"), rows, splits=3)


KILLED = """
import os, signal, sys
from isinglass import GreedyGraph, simulate, split_test

def stop(done, splits):
    if done == 3:
        os.kill(os.getpid(), signal.SIGKILL)

rows = simulate.ising(simulate.chain(6), signs="positive").sample(800, seed=0)
split_test(GreedyGraph(), rows, splits=6, path=sys.argv[1], n_jobs=1, progress=stop)
"""


def test_a_killed_run_goes_on_with_the_same_answer(tmp_path, monkeypatch):
    path, rows = tmp_path / "splits.jsonl", CHAIN.sample(800, seed=0)
    run = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert run.returncode == -signal.SIGKILL
    kept = len(path.read_text().splitlines()) - 1
    assert 3 <= kept < 6
    with path.open("a") as file:
        file.write('{"key": "splits/half a li')
    whole = split_test(GreedyGraph(), rows, splits=6)
    made = counted(monkeypatch)
    again = split_test(GreedyGraph(), rows, splits=6, path=path)
    assert len(made) == 6 - kept
    assert again.p_values == whole.p_values
    assert again.chosen == whole.chosen
    split_test(GreedyGraph(n_jobs=1), rows, splits=7, path=path, n_jobs=1)
    assert len(made) == 7 - kept


def test_records_of_other_work_are_not_taken(tmp_path, monkeypatch):
    path, rows = tmp_path / "splits.jsonl", CHAIN.sample(300, seed=0).astype(object)
    made = counted(monkeypatch)
    incomplete, later = rows.copy(), rows.copy()
    incomplete[4, 0] = later[9, 0] = None
    drop = GreedyGraph(missing="drop")
    for est, table, settings in [
        (GreedyGraph(), rows, {}),
        (GreedyGraph(), rows[::-1], {}),
        (GreedyGraph(rule="and"), rows, {}),
        (ChowLiuTree(), rows, {}),
        (GreedyGraph(), rows, {"seed": 1}),
        (GreedyGraph(), rows, {"sample_weight": np.arange(300) % 3}),
        (GreedyGraph(), rows, {"clusters": np.arange(300) // 2}),
        (drop, incomplete, {}),
        (drop, later, {}),
    ]:
        made.clear()
        here = split_test(est, table, splits=1, path=path, **settings)
        assert len(made) == 1
        assert here.p_values == split_test(est, table, splits=1, **settings).p_values


def test_what_failed_is_tried_again(tmp_path, monkeypatch):
    path, rows = tmp_path / "splits.jsonl", CHAIN.sample(300, seed=0)
    whole = split_test(GreedyGraph(), rows, splits=3)
    made = counted(monkeypatch, fails_at=1)
    assert split_test(GreedyGraph(), rows, splits=3, path=path, n_jobs=1).failures == {
        "not today": 1
    }
    again = split_test(GreedyGraph(), rows, splits=3, path=path)
    assert len(made) == 4
    assert not again.failures
    assert again.p_values == whole.p_values


def counted(monkeypatch, fails_at=None):
    """A list that grows whenever a split is tested."""
    made, tested = [], Halves.tested

    def counting(self, state):
        made.append(state)
        if len(made) - 1 == fails_at:
            raise SettingError("not today")
        return tested(self, state)

    monkeypatch.setattr(Halves, "tested", counting)
    return made


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"splits": 0}, "splits must be a whole number"),
        ({"level": 2.0}, "level must be a number strictly between 0 and 1"),
        ({"clusters": [1, 2]}, "one label for each row"),
        ({"clusters": [1, 2, 3] * 100}, "at least four clusters"),
    ],
)
def test_settings_that_make_no_sense(settings, said):
    with pytest.raises((SettingError, BadClusters), match=said):
        split_test(GreedyGraph(), CHAIN.sample(300, seed=0), **settings)
