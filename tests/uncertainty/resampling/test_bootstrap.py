"""The bootstrap of parameters on a fixed graph."""

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import SettingError

CHAIN = ig.simulate.ising(ig.simulate.chain(4), coupling=0.5, seed=0)


def test_tables_are_those_of_the_model_fitted_to_each_resample():
    X = CHAIN.sample(200, seed=0)
    est = ig.GreedyGraph(n_jobs=1).fit(X)
    found = ig.bootstrap(est, n=3, seed=2)
    distinct, counts = np.unique(X, axis=0, return_counts=True)
    for i in range(3):
        drawn = np.random.default_rng([2, i]).multinomial(200, counts / 200)
        again = ig.GreedyGraph(require=est.graph_.edges, threshold=10.0)
        again.fit(np.repeat(distinct, drawn, axis=0))
        for pair, tables in found.tables.items():
            expected = again.model_.couplings[pair]
            np.testing.assert_allclose(tables[i], expected, atol=1e-6)


def test_intervals_tell_the_spread():
    """The spread over resamples is near that over tables drawn from the truth."""
    truth = CHAIN.couplings[0, 1][1, 1]
    est = ig.GreedyGraph().fit(CHAIN.sample(500, seed=1))
    found = ig.bootstrap(est, n=60)
    spread = found.tables[0, 1][:, 1, 1].std()
    fits = [ig.GreedyGraph().fit(CHAIN.sample(500, seed=s)).model_ for s in range(2, 32)]
    true_spread = np.std([model.couplings[0, 1][1, 1] for model in fits])
    assert 0.6 < spread / true_spread < 1.6
    low, high = found.interval("x0", "x1", 0.99)
    assert low[1, 1] < truth < high[1, 1]
    flipped = found.interval("x1", "x0", 0.99)
    np.testing.assert_array_equal(flipped[0], low.T)


def test_unbounded_edges_have_no_interval():
    x = np.random.default_rng(0).integers(0, 2, (100, 2))
    est = ig.GreedyGraph().fit(np.column_stack([x, x[:, 0]]))
    row = ig.bootstrap(est, n=4).to_frame().row(0, named=True)
    assert row["low"] is None
    assert np.isfinite(row["coupling"])


def test_a_state_that_is_not_drawn_is_a_failure_with_a_name():
    X = CHAIN.sample(100, seed=0).astype(str)
    X[0, 3] = "once"
    found = ig.bootstrap(ig.GreedyGraph().fit(X), n=20)
    assert 0 < len(found.failures) < 20
    assert set(found.failures.values()) == {"a state of column 'x3' was not drawn"}
    assert all(len(tables) == 20 - len(found.failures) for tables in found.tables.values())


def test_resumable(tmp_path):
    est = ig.GreedyGraph().fit(CHAIN.sample(100, seed=0))
    path = tmp_path / "records.jsonl"
    first = ig.bootstrap(est, n=3, path=path)
    again = ig.bootstrap(est, n=5, path=path)
    assert len(path.read_text().splitlines()) == 1 + 5
    for pair, tables in first.tables.items():
        np.testing.assert_array_equal(again.tables[pair][:3], tables)


def test_what_makes_no_sense():
    est = ig.GreedyGraph().fit(CHAIN.sample(100, seed=0))
    found = ig.bootstrap(est, n=2)
    with pytest.raises(SettingError, match="not linked"):
        found.interval("x0", "x3")
    with pytest.raises(SettingError, match="level"):
        found.interval("x0", "x1", 1.5)
    with pytest.raises(SettingError, match="n must be"):
        ig.bootstrap(est, n=0)
