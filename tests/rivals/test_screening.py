"""RISE, logRISE and RPLE: published constants, optimality, symmetry, thresholds."""

import numpy as np
import pytest
from sklearn.base import clone

import isinglass as ig
from instances import sample
from isinglass.errors import SettingError, TableError
from isinglass.rivals import InteractionScreening
from isinglass.rivals.screening import widest_gap
from rival_references import screening_slope

OBJECTIVES = ["rise", "logrise", "rple"]


def ising(n=600, p=7, seed=0):
    return sample(np.random.default_rng(seed), [2] * p, n, 0.6)


@pytest.mark.parametrize(("objective", "c"), [("rise", 0.4), ("logrise", 0.8), ("rple", 0.2)])
def test_published_constants(objective, c):
    est = ig.InteractionScreening(objective).fit(ising())
    assert est.penalty_ == pytest.approx(c * np.sqrt(np.log(7**2 / 0.05) / 600))
    doubled = ig.InteractionScreening(objective, c=2 * c).fit(ising())
    assert doubled.penalty_ == pytest.approx(2 * est.penalty_)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", [0.2, 0.01])
def test_minimisers_are_optimal(objective, intercept, penalty):
    data = ising()
    est = ig.InteractionScreening(objective, penalty=penalty, intercept=intercept).fit(data)
    spins = 2.0 * data - 1
    for r in range(7):
        field, tables = est.paths_.fit(r, 0)
        theta = np.array([tables[t][1, 1] if t in tables else 0.0 for t in range(7)])
        loss, down = screening_slope(objective, spins, r, field[1], theta)
        assert est.paths_.losses[r, 0] == pytest.approx(loss, abs=1e-10)
        assert (abs(down[7]) < 1e-8) if intercept else field[1] == 0
        active = theta != 0
        np.testing.assert_allclose(down[:7][active], -penalty * np.sign(theta[active]), atol=1e-8)
        assert (np.abs(down[:7]) <= penalty + 1e-8).all()


def test_rple_is_l1():
    data = ising()
    est = ig.InteractionScreening("rple", penalty=0.05).fit(data)
    own = ig.L1Graph(0.05).fit(data).couplings_at(0.05)
    np.testing.assert_allclose(est.couplings_, (own + own.T) / 2, atol=1e-9)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_threshold_cuts_the_averaged_couplings(objective):
    est = ig.InteractionScreening(objective, threshold=0.1).fit(ising())
    np.testing.assert_array_equal(est.couplings_, est.couplings_.T)
    linked = np.abs(est.couplings_) > 0.1
    np.testing.assert_array_equal(est.graph_.adjacency.toarray(), linked)
    np.testing.assert_array_equal(est.adjacency_at(0.1), linked)
    assert len(est.at(1e-3)) >= len(est.graph_)
    assert {link.selected_by for link in est.graph_} == {"both"}


@pytest.mark.parametrize("objective", ["rise", "logrise", "rple"])
def test_copies_are_linked(objective):
    """Where columns separate, logRISE has no minimum; it stops, and says that they are linked."""
    codes = np.random.default_rng(0).integers(0, 2, (300, 6))
    codes[:, 1] = codes[:, 0]
    fitted = InteractionScreening(objective).fit(codes)
    assert not np.isnan(fitted.couplings_).any()
    assert fitted.graph_.edges == [("x0", "x1")]


def test_widest_gap():
    assert widest_gap(np.array([0.01, 0.4, 0.02, 0.5])) == pytest.approx(0.21)
    assert widest_gap(np.zeros(3)) == 0
    assert widest_gap(np.empty(0)) == 0
    assert widest_gap(np.array([0.01, 1e9, np.inf])) == pytest.approx(0.505)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_finds_a_chain(objective):
    rng = np.random.default_rng(0)
    spins = rng.choice([-1, 1], size=(4000, 6))
    for t in range(1, 6):
        spins[:, t] = np.where(rng.random(4000) < 0.75, 1, -1) * spins[:, t - 1]
    est = ig.InteractionScreening(objective).fit(spins)
    assert est.graph_.edges == [(f"x{t}", f"x{t + 1}") for t in range(5)]
    assert np.isfinite(est.score(spins))


def test_weights_are_copies():
    data, weights = ising(n=100), np.random.default_rng(1).integers(0, 4, 100)
    weighted = ig.InteractionScreening().fit(data, sample_weight=weights)
    copied = ig.InteractionScreening().fit(np.repeat(data, weights, axis=0))
    np.testing.assert_allclose(weighted.couplings_, copied.couplings_, atol=1e-7)
    assert weighted.penalty_ == pytest.approx(copied.penalty_)


def test_what_is_refused():
    with pytest.raises(TableError, match="column 'x1' has 3 states; InteractionScreening"):
        ig.InteractionScreening().fit(np.array([[0, 0], [1, 1], [1, 2]]))
    for settings, words in [
        ({"objective": "rose"}, "objective must be"),
        ({"threshold": "half"}, "threshold must be"),
        ({"threshold": -1}, "threshold must be"),
        ({"c": 1, "penalty": 1}, "give only one"),
        ({"c": 0}, "c must be a positive number"),
    ]:
        with pytest.raises(SettingError, match=words):
            ig.InteractionScreening(**settings).fit(ising(n=20))


def test_constant_columns_and_single_rows():
    est = ig.InteractionScreening(threshold=0.0).fit(np.array([[0, 1, 1], [1, 0, 1], [0, 1, 1]]))
    assert est.graph_.neighbors("x2") == []
    assert len(ig.InteractionScreening().fit(np.array([[0, 1]])).graph_) == 0


def test_parameters_follow_scikit_learn():
    assert clone(ig.InteractionScreening(c=0.3)).c == 0.3
