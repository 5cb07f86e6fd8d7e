"""The bootstrap of parameters on the fixed graph."""

import numpy as np
import pytest

from isinglass import GreedyGraph, bootstrap, simulate, with_errors
from isinglass.errors import SettingError
from isinglass.uncertainty.bootstrap import Resample

CHAIN = simulate.ising(simulate.chain(4), signs="positive")


def test_errors_agree_with_the_sandwich():
    est = GreedyGraph().fit(CHAIN.sample(1500, seed=0))
    boot = bootstrap(est, resamples=100, n_jobs=1)
    assert boot.failures == {}
    model = with_errors(est)
    for a, b in est.graph_.edges:
        assert boot.errors(a, b)[1, 1] == pytest.approx(model.edge(a, b).error[1, 1], rel=0.25)
        low, high = boot.interval(a, b)
        assert low[1, 1] < model.edge(a, b)[1, 1] < high[1, 1]
        np.testing.assert_allclose(boot.errors(b, a), boot.errors(a, b).T)
    table = boot.to_frame()
    assert table.columns == model.intervals().columns
    assert len(table) == 3


@pytest.mark.long
def test_the_same_whatever_the_number_of_jobs():
    est = GreedyGraph().fit(CHAIN.sample(300, seed=0))
    done = []
    one = bootstrap(est, resamples=6, seed=3, n_jobs=1, progress=lambda at, of: done.append(at))
    two = bootstrap(est, resamples=6, seed=3, n_jobs=2)
    assert done == [1, 2, 3, 4, 5, 6]
    for pair, tables in one.tables.items():
        np.testing.assert_array_equal(two.tables[pair], tables)


def test_resamples_are_as_many_rows_again():
    est = GreedyGraph().fit(CHAIN.sample(300, seed=0), sample_weight=np.arange(300) % 3)
    rng = np.random.default_rng(0)
    weights = Resample(est._table, est.graph_, None, False, True).weights(rng)
    assert weights.sum() == 300
    groups = np.arange(len(est._table.weights)) // 10
    weights = Resample(est._table, est.graph_, groups, False, True).weights(rng)
    times = weights / est._table.weights
    assert all(len(set(times[groups == g])) == 1 for g in range(20))


def test_failures_are_counted_and_named():
    """A cell of two rows is empty in one resample of seven."""
    rng = np.random.default_rng(0)
    a = np.repeat([0, 1], 60)
    b = np.r_[np.zeros(58), 1, 1, np.ones(60)].astype(int)
    b[60:80] = rng.integers(0, 2, 20)
    est = GreedyGraph().fit(np.column_stack([a, b]))
    boot = bootstrap(est, resamples=80, n_jobs=1)
    assert set(boot.failures) == {"'x0' -- 'x1' unbounded"}
    failed = boot.failures["'x0' -- 'x1' unbounded"]
    assert 2 < failed < 30
    assert np.isnan(boot.tables[0, 1][:, 0, 0]).sum() == failed
    assert np.isfinite(boot.errors("x0", "x1")).all()
    assert f"80 resamples, {failed} failures, given this graph" in repr(boot)
    with pytest.raises(SettingError, match="there is no edge"):
        bootstrap(GreedyGraph().fit(CHAIN.sample(300, seed=0)), resamples=2, n_jobs=1).errors(
            "x0", "x3"
        )
