"""A fit that fails leaves the estimator as it was; one that succeeds leaves nothing old."""

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import IsinglassError

X = ig.simulate.ising(ig.simulate.chain(4), coupling=0.8, signs="positive").sample(200, seed=0)
OTHER = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive").sample(99, seed=1)
ESTIMATORS = {
    "greedy": ig.GreedyGraph(n_jobs=1),
    "stability": ig.GreedyGraph("stability", n_jobs=1),
    "l1": ig.L1Graph(n_jobs=1),
    "cross-validated l1": ig.L1Graph("cv", n_jobs=1),
    "screening": ig.InteractionScreening(n_jobs=1),
    "tree": ig.ChowLiuTree(n_jobs=1),
}


class Stop(Exception):
    pass


def incomplete():
    table = OTHER.astype(object)
    table[0, 0] = None
    return table


def stop(done, total):
    raise Stop


#: Settings, a table and other arguments that do not fit together.
FAILURES = {
    "a missing value": ({}, incomplete(), {}),
    "no table": ({}, 5, {}),
    "weights": ({}, OTHER, {"sample_weight": [1.0]}),
    "a setting": ({"n_jobs": 1.5}, OTHER, {}),
    "too many states": ({"max_states": 2}, np.arange(30).reshape(10, 3), {}),
}


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return type(ESTIMATORS[request.param])(**ESTIMATORS[request.param].get_params()).fit(X)


def state_of(estimator) -> dict:
    fitted = {k: v for k, v in vars(estimator).items() if k not in estimator.get_params()}
    return {key: id(value) for key, value in fitted.items()}


@pytest.mark.parametrize("how", FAILURES)
def test_nothing_changes(estimator, how):
    settings, table, more = FAILURES[how]
    model, graph, score = estimator.model_, estimator.graph_, estimator.score(X)
    before = state_of(estimator)
    with pytest.raises(IsinglassError):
        estimator.set_params(**settings).fit(table, **more)
    assert state_of(estimator) == before
    assert estimator.model_ is model
    assert estimator.graph_ is graph
    assert estimator.score(X) == score
    assert estimator.n_features_in_ == 4


def test_nothing_changes_when_it_is_stopped_in_the_middle(estimator, monkeypatch):
    before = state_of(estimator)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(estimator), "_graph", interrupted)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(OTHER)
    assert state_of(estimator) == before


def test_a_first_fit_that_fails_leaves_an_unfitted_estimator():
    est = ig.GreedyGraph()
    with pytest.raises(IsinglassError):
        est.fit(incomplete())
    assert state_of(est) == {}


def test_progress_may_stop_a_fit():
    est = ig.GreedyGraph(n_jobs=1).fit(X)
    before = state_of(est)
    with pytest.raises(Stop):
        est.fit(OTHER, progress=stop)
    assert state_of(est) == before


def test_a_second_fit_is_a_first_fit(estimator):
    _ = estimator.model_
    again = estimator.fit(OTHER)
    assert again.graph_.names == ("x0", "x1", "x2")
    assert again.model_.names == ("x0", "x1", "x2")
