"""GreedyRegressor and GreedyClassifier as their users meet them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import isinglass as ig
from isinglass.errors import BelowFloor, SettingError
from isinglass.selection import (
    EBIC,
    CrossValidated,
    FalseCoefficients,
    FalseEdges,
    LookBelow,
    Paper,
)
from selections import mostly_long


def data(kind: str, n: int = 300, p: int = 12, seed: int = 0):
    """Columns 2 and 5 matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    eta = X[:, 2] - X[:, 5]
    if kind == "poisson":
        return X, rng.poisson(np.exp(0.5 * eta))
    if kind == "two":
        return X, np.where(eta + rng.logistic(size=n) > 0, "yes", "no")
    if kind == "three":
        return X, np.argmax(np.column_stack([eta, -eta, 0 * eta]) + rng.gumbel(size=(n, 3)), axis=1)
    return X, 100 + 30 * (eta + 0.5 * rng.normal(size=n))


ESTIMATORS = {
    "squared": ig.GreedyRegressor(),
    "huber": ig.GreedyRegressor(loss="huber"),
    "poisson": ig.GreedyRegressor(loss="poisson"),
    "two": ig.GreedyClassifier(),
    "three": ig.GreedyClassifier(),
}


@pytest.fixture(params=ESTIMATORS)
def kind(request):
    return request.param


@pytest.fixture
def estimator(kind):
    return (
        ig.GreedyRegressor(**e.get_params())
        if hasattr(e := ESTIMATORS[kind], "loss")
        else (ig.GreedyClassifier(**e.get_params()))
    )


@pytest.mark.parametrize(
    "kind", mostly_long(["squared", "two", "huber", "poisson"], 2), indirect=True
)
def test_scikit_learns_contract(estimator):
    check_estimator(estimator, on_skip=None)


def test_finds_what_matters(estimator, kind):
    X, y = data(kind)
    est = estimator.fit(X, y)
    assert est.get_support(indices=True).tolist() == [2, 5]
    assert est.path_.at(est.threshold_).support == (2, 5)
    assert est.score(X, y) > 0.2
    assert "0.05/p" in est.selection_.rule


@pytest.mark.parametrize("kind", ["squared", "poisson", "two", "three"], indirect=True)
def test_coefficients_are_those_of_others_on_the_support(kind, estimator):
    X, y = data(kind)
    est = estimator.fit(X, y)
    S = est.get_support(indices=True)
    theirs = {
        "squared": LinearRegression(),
        "poisson": PoissonRegressor(alpha=0, tol=1e-10, max_iter=1000),
        "two": LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000),
        "three": LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000),
    }[kind].fit(X[:, S], y)
    if kind in ("squared", "poisson"):
        np.testing.assert_allclose(est.predict(X), theirs.predict(X[:, S]), rtol=1e-4)
    else:
        assert np.mean(est.predict(X) == theirs.predict(X[:, S])) > 0.99
        np.testing.assert_allclose(est.predict_proba(X), theirs.predict_proba(X[:, S]), atol=1e-4)
        np.testing.assert_allclose(np.exp(est.predict_log_proba(X)), est.predict_proba(X))
        np.testing.assert_allclose(est.predict_proba(X).sum(axis=1), 1.0)


def test_sparse_is_dense(estimator, kind):
    X, y = data(kind)
    X = X * (np.abs(X) > 0.3)
    dense = estimator.fit(X, y)
    steps = [(s.kind, s.variable) for s in dense.path_.steps]
    for form in (sparse.csr_matrix, sparse.csc_array):
        other = type(estimator)(**estimator.get_params()).fit(form(X), y)
        assert [(s.kind, s.variable) for s in other.path_.steps] == steps
        np.testing.assert_allclose(other.coef_, dense.coef_, atol=1e-5)
        same = other.predict(form(X)), dense.predict(X)
        np.testing.assert_allclose(
            *same, rtol=1e-4
        ) if kind != "two" else np.testing.assert_array_equal(*same)


def test_weights_are_counts(estimator, kind):
    X, y = data(kind, n=150)
    w = np.random.default_rng(0).integers(0, 3, 150)
    copies = np.repeat(np.arange(150), w)
    one = type(estimator)(**estimator.get_params()).fit(X, y, sample_weight=w)
    two = type(estimator)(**estimator.get_params()).fit(X[copies], y[copies])
    assert one.threshold_ == pytest.approx(two.threshold_)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_units_do_not_matter(loss):
    X, y = data("squared")
    one = ig.GreedyRegressor("bic", loss=loss).fit(X, y)
    sizes = 10.0 ** np.arange(-6, 6)
    two = ig.GreedyRegressor("bic", loss=loss).fit(X * sizes + 7 * sizes, 1e-6 * y - 5)
    assert [s.variable for s in one.path_.steps] == [s.variable for s in two.path_.steps]
    np.testing.assert_allclose(two.coef_ * sizes * 1e6, one.coef_, rtol=1e-5, atol=1e-5)
    assert [s.gain for s in two.path_.steps] == pytest.approx(
        [s.gain for s in one.path_.steps], rel=1e-6, abs=1e-8
    )


def test_at_is_another_threshold_of_the_same_search(estimator, kind):
    X, y = data(kind)
    est = estimator.set_params(floor=1e-4).fit(X, y)
    for threshold in (0.5, est.threshold_, 0.003, 1e-4):
        fresh = type(estimator)(**{**estimator.get_params(), "floor": None, "threshold": threshold})
        np.testing.assert_allclose(est.at(threshold).coef_, fresh.fit(X, y).coef_, atol=1e-7)
    assert len(est.at(1e-4).get_support(indices=True)) > 2
    assert est.get_support().sum() == 2  # unchanged
    with pytest.raises(BelowFloor, match=r"floor=1e-05"):
        est.at(1e-5)


def test_n_nonzero(estimator, kind):
    X, y = data(kind)
    for size in (0, 1, 4):
        est = estimator.set_params(n_nonzero=size).fit(X, y)
        assert est.get_support().sum() == size
        assert est.path_.status == f"stopped: the support has n_nonzero = {size} members"
        assert f"n_nonzero = {size}" in est.selection_.why


def test_progress_is_told_and_can_stop(estimator, kind):
    X, y = data(kind)
    seen = []
    estimator.set_params(n_nonzero=3).fit(X, y, progress=lambda *at: seen.append(at))
    assert [done for done, _ in seen][-1] == 3
    assert {most for _, most in seen} == {3}

    def stop(done, most):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, y, progress=stop)


def test_groups_enter_together(estimator, kind):
    X, y = data(kind)
    est = estimator.set_params(groups=np.repeat([0, 1, 2, 3], 3)).fit(X, y)
    assert est.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]


def test_groups_by_name_and_label():
    X, y = data("squared")
    table = named(X)
    by_name = ig.GreedyRegressor(groups=[["c", "f"], ["a", "b", "d", "e"]]).fit(table, y)
    by_number = ig.GreedyRegressor(groups=[[2, 5], [0, 1, 3, 4]]).fit(X, y)
    np.testing.assert_allclose(by_name.coef_, by_number.coef_, rtol=1e-12)
    assert by_name.path_.to_frame("pandas")["variable"][0] == "c + f"
    assert by_number.path_.to_frame("pandas")["variable"][0] == "0"
    labels = np.where(np.arange(12) < 6, "early", "late")
    by_label = ig.GreedyRegressor(groups=labels).fit(table, y)
    assert by_label.path_.names == ("early", "late")
    longest = ig.GreedyRegressor(groups=[list("cfabd"), ["e"]]).fit(table, y)
    assert longest.path_.names == ("c + f + a + 2 more", "e")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_give_names(frame):
    X, y = data("squared", p=6)
    table = frame(dict(zip("abcdef", X.T, strict=True)))
    est = ig.GreedyRegressor().fit(table, y)
    assert list(est.feature_names_in_) == list("abcdef")
    assert set(est.path_.to_frame("pandas")["variable"]) == {"c", "f"}
    assert isinstance(est.path_.to_frame(), frame)
    assert isinstance(est.at(1.0).path_.to_frame(), frame)


def test_pipelines_and_searches():
    X, y = data("two")
    pipe = make_pipeline(StandardScaler(), ig.GreedyClassifier())
    grid = GridSearchCV(pipe, {"greedyclassifier__threshold": [1.0, 0.02]}, cv=3).fit(X, y)
    assert grid.best_params_ == {"greedyclassifier__threshold": 0.02}


def test_ebic_is_the_smallest_of_all_models_of_the_path():
    X, y = data("squared", n=60)
    est = ig.GreedyRegressor(EBIC(0.5)).fit(X, y)
    n, p = X.shape
    values = {}
    for threshold in [10.0, *(s.gain * (1 - 1e-9) for s in est.path_.steps if s.gain)]:
        S = list(est.path_.at(max(threshold, est.floor_)).support)
        rest = y - (LinearRegression().fit(X[:, S], y).predict(X[:, S]) if S else y.mean())
        values[tuple(S)] = n * np.log(np.mean(rest**2)) + len(S) * (np.log(n) + np.log(p))
    assert tuple(est.get_support(indices=True)) == min(values, key=values.get)


def test_cross_validation_is_one_search_per_fold():
    X, y = data("squared", n=90)
    est = ig.GreedyRegressor(CrossValidated(3, seed=1)).fit(X, y)
    thresholds = np.array(est.selection_.curve["threshold"])
    z = (y - y.mean()) / y.std()
    scores = np.empty((3, len(thresholds)))
    for f, (train, held) in enumerate(KFold(3, shuffle=True, random_state=1).split(X)):
        for t, threshold in enumerate(thresholds):
            fit = ig.GreedyRegressor(threshold * 90 / len(train)).fit(X[train], z[train])
            scores[f, t] = -0.5 * np.mean((fit.predict(X[held]) - z[held]) ** 2)
    np.testing.assert_allclose(est.selection_.curve["score"], scores.mean(axis=0), atol=1e-8)
    mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(3)
    best = mean.argmax()
    assert est.threshold_ == thresholds[np.argmax(mean >= mean[best] - error[best])]


@pytest.mark.parametrize("name", ["bic", "ebic:0.5", "cv:3", "false-coefficients:1", 0.02])
def test_selectors_by_name(estimator, kind, name):
    X, y = data(kind)
    found = set(estimator.set_params(threshold=name).fit(X, y).get_support(indices=True))
    assert {2, 5} <= found


def test_selectors_carry_over_by_meaning():
    X, y = data("squared")
    by_number = ig.GreedyRegressor(FalseCoefficients(2).threshold(300, 12)).fit(X, y)
    for selector in (FalseCoefficients(2), FalseEdges(2), LookBelow(FalseEdges(2))):
        assert ig.GreedyRegressor(selector).fit(X, y).threshold_ == by_number.threshold_
    assert ig.GreedyRegressor(Paper()).fit(X, y).threshold_ == Paper().threshold(300, 12)


@pytest.mark.parametrize("kind", ["squared", "huber", "two"])
def test_about_as_many_false_coefficients_as_expected(kind):
    """Without any effect, and so few rows that the estimated variance matters."""
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 20)), rng.normal(size=60)
        est = ESTIMATORS[kind]
        est = type(est)(**{**est.get_params(), "threshold": "false-coefficients:1"})
        found.append(est.fit(X, y > 0 if kind == "two" else y).get_support().sum())
    assert np.mean(found) == pytest.approx(1.0, abs=0.5)


def test_perfect_and_empty_answers():
    X, _ = data("squared")
    perfect = ig.GreedyRegressor().fit(X, 2 * X[:, 1] - X[:, 3])
    np.testing.assert_allclose(perfect.coef_[[1, 3]], [2, -1], rtol=1e-5)
    assert perfect.get_support().sum() == 2
    constant = ig.GreedyRegressor().fit(X, np.full(300, 7.0))
    assert constant.get_support().sum() == 0
    assert constant.predict(X[:2]).tolist() == [7.0, 7.0]


def named(X, **columns):
    import pandas as pd

    return pd.DataFrame(X, columns=list("abcdefghijkl")).assign(**columns)


def fitted(X, y):
    return ig.GreedyRegressor().fit(named(X), y)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X, y: ig.GreedyRegressor(loss="absolute").fit(X, y), "'squared', 'huber' or 'p"),
        (lambda X, y: ig.GreedyRegressor(loss="poisson").fit(X, -np.abs(y)), "counts, 0 or more"),
        (lambda X, y: ig.GreedyRegressor("stability").fit(X, y), "threshold of a regression"),
        (lambda X, y: ig.GreedyRegressor(ig.selection.Stability()).fit(X, y), "threshold of a reg"),
        (lambda X, y: ig.GreedyRegressor(floor=9.0).fit(X, y), "floor = 9 is above"),
        (lambda X, y: ig.GreedyRegressor(groups=[[0, 99]]).fit(X, y), "coordinates 0 to 11"),
        (
            lambda X, y: ig.GreedyRegressor().fit(X, y, np.full(300, -1)),
            "not be negative, got -1",
        ),
        (lambda X, y: ig.GreedyRegressor().fit(X, y[:5]), "inconsistent numbers of samples"),
        (lambda X, y: ig.GreedyRegressor().fit(X * np.nan, y), "columns 0, 1, 2 and 9 more"),
        (lambda X, y: ig.GreedyRegressor().fit(X[:, 0], y), r"shape \(300,\).*reshape"),
        (lambda X, y: ig.GreedyRegressor().fit(named(X, b=np.nan), y), "column 'b'; drop"),
        (lambda X, y: ig.GreedyRegressor().fit(named(X, b="x"), y), "column 'b' holds 'x'"),
        (lambda X, y: fitted(X, y).predict(named(X, b=np.inf)), "column 'b'; drop"),
        (lambda X, y: ig.GreedyRegressor("cv:400").fit(X, y), "400 folds need as many rows"),
        (lambda X, y: ig.GreedyRegressor().fit(X, list("ab") * 150), "y holds 'a'.*Classifier"),
        (lambda X, y: ig.GreedyRegressor().fit(X * 1j, y), "Complex data not supported"),
        (lambda X, y: ig.GreedyRegressor().fit(X, 1e200 * y), "y holds numbers of size"),
        (lambda X, y: ig.GreedyRegressor().fit(1e-200 * X, y), "column 0 of X holds numbers of"),
        (
            lambda X, y: ig.GreedyRegressor().fit(named(X, b=pd.Timestamp("2020-01-01")), y),
            "column 'b' holds Timestamp",
        ),
        (
            lambda X, y: ig.GreedyRegressor().fit(named(X)[list("aabcdefghijk")], y),
            "more than one column is named 'a'",
        ),
        (lambda X, y: ig.GreedyRegressor(groups=[]).fit(X, y), "at least one group"),
        (lambda X, y: ig.GreedyRegressor(groups=[["a"]]).fit(X, y), "X has no names"),
        (lambda X, y: ig.GreedyRegressor(groups=[["z"]]).fit(named(X), y), "no column of X"),
        (
            lambda X, y: ig.GreedyClassifier().fit(X, np.array(["a", None, "b"] * 100, object)),
            "several kinds",
        ),
        (lambda X, y: ig.GreedyClassifier().fit(X, y > -1e9), "y has one class"),
        (
            lambda X, y: ig.GreedyClassifier().fit(X, np.arange(300) == 0, np.arange(300)),
            "rows of positive weight",
        ),
        (
            lambda X, y: ig.GreedyClassifier("cv").fit(X, np.arange(300) == 0),
            "class True has one row",
        ),
    ],
)
def test_bad_input_is_one_sentence(make, words):
    X, y = data("squared")
    with pytest.raises(ValueError, match=words) as caught:
        make(X, y)
    assert "\n" not in str(caught.value).strip()


def test_an_unfitted_setting_is_refused_before_the_search():
    with pytest.raises(SettingError, match="nu must be"):
        ig.GreedyRegressor(nu=2).fit(*data("squared"))
