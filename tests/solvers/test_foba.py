"""foba: the steps of the definition, and the properties of Algorithm 1."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instances import instance
from isinglass import foba
from isinglass.errors import BelowFloor, SettingError
from isinglass.losses import LogisticLoss, MultinomialLoss, PoissonLoss, SquaredLoss
from reference import search as reference_search


def noisy_summary(seed: int, n: int = 150, causes: int = 4):
    """Several causes, and first of all a noisy summary of them, so that drops happen."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, causes))
    y = X.sum(axis=1) + 0.3 * rng.normal(size=n)
    summary = X.sum(axis=1) + 0.8 * rng.normal(size=n)
    return np.column_stack([summary, X, rng.normal(size=(n, 3))]), y


def make_loss(kind: str, seed: int):
    X, y = noisy_summary(seed)
    if kind == "squared":
        return SquaredLoss(X, y)
    if kind == "logistic":
        return LogisticLoss(X, y > 0)
    if kind == "poisson":
        return PoissonLoss(X, np.random.default_rng(seed).poisson(np.exp(0.3 * y)))
    return MultinomialLoss(X, np.digitize(y, [-1, 1]))


KINDS = ["squared", "logistic", "poisson", "multinomial"]


@pytest.mark.parametrize("seed", [s for s in range(40) if instance(s).codes.max(axis=0).max() == 1])
def test_binary_columns_in_any_coding_take_the_reference_steps(seed):
    case = instance(seed)
    kept = case.weights > 0
    codes = case.codes[kept]
    values = [np.unique(column) for column in codes.T]
    targets = [r for r, v in enumerate(values) if len(v) == 2][:2]
    for r in targets:
        others = [t for t, v in enumerate(values) if t != r and len(v) == 2]
        X = 2.0 * codes[:, others] - 1 if not case.intercept else 7.0 * codes[:, others]
        loss = LogisticLoss(X, codes[:, r], case.weights[kept], intercept=case.intercept)
        path = foba(loss, case.threshold, nu=case.nu)
        truth = reference_search(
            case.codes, case.weights, r, case.threshold, case.nu, case.intercept
        )
        for step, expected in zip(path.steps, truth, strict=False):
            if expected.margin < 2e-10:
                break
            assert (step.kind, others[step.variable]) == (expected.kind, expected.variable)
            change = step.gain if step.kind == "add" else step.cost
            assert change == pytest.approx(expected.gain, abs=1e-8)
            assert step.loss == pytest.approx(expected.loss, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_properties_of_a_search(kind, seed):
    loss = make_loss(kind, seed)
    nu, threshold = 0.7, 1e-4
    path = foba(loss, threshold, nu=nu)
    losses = [path.start.loss, *(step.loss for step in path.steps)]
    recorded = {}
    for (before, after), step in zip(pairwise(losses), path.steps, strict=True):
        if step.kind == "add":
            assert after <= before - step.gain + 1e-9
            assert step.gain > threshold
            recorded[len(step.support)] = step.gain
        else:
            assert step.cost <= nu * recorded[len(step.support) + 1]
    costs = loss.costs(path.final, [(j,) for j in path.support])
    assert min(costs) > nu * recorded[len(path.support)]
    left = supports_left(path)
    assert len(set(left)) == len(left)


def supports_left(path):
    """The supports from which a forward step set out, and the last one.

    A support may be seen again inside a backward loop (a drop can be taken back when the
    recorded gain has become smaller); none is set out from twice, so the search ends.
    """
    supports = [(), *(step.support for step in path.steps)]
    kinds = [*(step.kind for step in path.steps), "end"]
    return [support for support, kind in zip(supports, kinds, strict=True) if kind != "drop"]


def test_the_backward_step_acts():
    path = foba(make_loss("squared", 1), 1e-3, nu=0.9)
    assert "drop" in {step.kind for step in path.steps}
    assert path.support == (1, 2, 3, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_at_equals_a_fresh_run(kind):
    loss = make_loss(kind, 2)
    path = foba(loss, 1e-5, nu=0.9)
    gains = [step.gain for step in path.steps if step.gain is not None]
    for threshold in {*gains, *(g * 1.001 for g in gains), 1e-5, 1.0}:
        cut, fresh = path.at(threshold), foba(loss, threshold, nu=0.9)
        assert [repr(s) for s in cut.steps] == [repr(s) for s in fresh.steps]
        assert cut.status == fresh.status
        assert cut.loss == fresh.loss
    with pytest.raises(BelowFloor, match="1e-05"):
        path.at(1e-6)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_squared_gains_are_partial_correlations(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    path = foba(SquaredLoss(X, y), 1e-9)
    centred = y - y.mean()
    best = max((x - x.mean()) @ centred / np.linalg.norm(x - x.mean()) for x in [*X.T, *-X.T])
    assert path.steps[0].gain == pytest.approx(best**2 / 60, rel=1e-9)


def test_groups_enter_and_leave_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = X[:, 2] + X[:, 3] + 0.1 * rng.normal(size=200)
    loss = SquaredLoss(X, y)
    by_list = foba(loss, 0.01, groups=[[0, 1], [2, 3], [4, 5]])
    by_label = foba(loss, 0.01, groups=["a", "a", "b", "b", "c", "c"])
    assert by_list.support == by_label.support == (1,)
    np.testing.assert_array_equal(np.flatnonzero(by_list.coef), [2, 3])
    assert by_list.steps[0].gain == by_label.steps[0].gain


def test_groups_of_unequal_size_compare_by_surprise():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 21))
    y = 0.45 * X[:, 20] + rng.normal(size=100)
    groups = [list(range(20)), [20]]
    raw = foba(SquaredLoss(X, y), 1e-3, groups=groups)
    fair = foba(SquaredLoss(X, y), 1e-3, groups=groups, standardise=True)
    assert raw.steps[0].variable == 0
    assert fair.steps[0].variable == 1


def test_ties_go_to_the_first():
    x = np.random.default_rng(0).normal(size=50)
    loss = SquaredLoss(np.column_stack([-x, x, 2 * x]), x)
    path = foba(loss, 1e-6)
    assert path.support == (0,)


def test_max_steps_and_statuses():
    loss = make_loss("squared", 0)
    path = foba(loss, 1e-4, max_steps=2)
    assert len(path) == 2
    assert "max_steps" in path.status
    assert "no candidate gains more than the threshold 0.01" in foba(loss, 0.01).status
    assert "every candidate" in foba(SquaredLoss(np.eye(3)[:, :1], [1.0, 0.0, 0.5]), 1e-9).status


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"threshold": 0}, "positive"),
        ({"threshold": "x"}, "positive"),
        ({"threshold": float("nan")}, "positive"),
        ({"threshold": 1, "nu": 1.0}, "strictly between"),
        ({"threshold": 1, "nu": float("nan")}, "strictly between"),
        ({"threshold": 1, "groups": [[0], [0]]}, "at most once"),
        ({"threshold": 1, "groups": [[0], [9]]}, "at most once"),
        ({"threshold": 1, "groups": [[0], []]}, "at least one"),
        ({"threshold": 1, "groups": [0, 1]}, "labels"),
        ({"threshold": 1, "max_steps": -1}, "max_steps"),
    ],
)
def test_bad_settings_are_one_sentence(arguments, words):
    loss = SquaredLoss(np.eye(4)[:, :3], [1.0, 2.0, 3.0, 4.0])
    with pytest.raises(SettingError, match=words):
        foba(loss, **arguments)


def test_path_as_a_frame():
    path = foba(make_loss("squared", 1), 1e-3, nu=0.9)
    frame = path.to_frame("pandas")
    assert list(frame.columns) == ["step", "kind", "variable", "gain", "cost", "size", "loss"]
    assert frame["size"].iloc[-1] == len(path.support)
    assert list(path.to_frame().columns) == list(frame.columns)
