"""Selectors that look at the run are what a fit for every threshold would give."""

import numpy as np
import pytest

from instances import sample
from isinglass import GreedyGraph, simulate
from isinglass.errors import SettingError
from isinglass.selection import EBIC, CrossValidated, Selection, Stability, StARS, selector
from isinglass.table import Drawer
from selection import brute


def fitted(kind: str, threshold, seed: int = 0, **settings) -> GreedyGraph:
    rng = np.random.default_rng([8, seed])
    states = [2] * 6 if kind == "binary" else [2, 3, 2, 4, 3]
    codes = sample(rng, states, 150, strength=0.8)
    settings.setdefault("n_jobs", 1)
    if kind == "counts":
        return GreedyGraph(threshold, **settings).fit(codes, sample_weight=rng.integers(1, 4, 150))
    if kind == "weights":
        weights = rng.random(150) + 0.5
        return GreedyGraph(threshold, n_eff="kish", **settings).fit(codes, sample_weight=weights)
    return GreedyGraph(threshold, **settings).fit(codes)


KINDS = ["binary", "mixed", "counts", "weights"]


def some(thresholds: list[float], count: int = 5) -> list[int]:
    return sorted({round(i) for i in np.linspace(0, len(thresholds) - 1, count)})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["or", "and"])
def test_edges_along_a_run_are_those_of_fits(kind, rule):
    est = fitted(kind, EBIC(0.0), rule=rule)
    curve = est.selection_.curve
    assert curve["edges"][0] == 0
    for at in range(len(curve["threshold"])):
        again = brute.fresh(est, est.table_, curve["threshold"][at])
        assert again.graph_ == est.at(curve["threshold"][at])
        assert len(again.graph_) == curve["edges"][at]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_ebic_is_that_of_fits(kind, gamma):
    est = fitted(kind, EBIC(gamma))
    curve = est.selection_.curve
    slow = [brute.ebic(est, est.table_, t, gamma) for t in curve["threshold"]]
    np.testing.assert_allclose(curve["ebic"], slow, rtol=1e-9)
    assert est.threshold_ == curve["threshold"][int(np.argmin(slow))]
    assert est.graph_ == brute.fresh(est, est.table_, est.threshold_).graph_


def test_every_graph_of_the_run_is_on_the_curve():
    """Between two neighbouring thresholds of the curve there is no third graph."""
    est = fitted("mixed", EBIC(0.0))
    graphs = {est.at(t) for t in est.selection_.curve["threshold"]}
    fine = {est.at(max(t, est.floor_)) for t in np.geomspace(1.0, est.floor_, 400)}
    assert fine <= graphs


@pytest.mark.parametrize("kind", KINDS)
def test_cross_validation_is_that_of_fits(kind):
    chosen = CrossValidated(folds=3, seed=1)
    est = fitted(kind, chosen)
    curve = est.selection_.curve
    for at in some(curve["threshold"]):
        scores = brute.fold_scores(est, est.table_, curve["threshold"][at], chosen)
        assert curve["score"][at] == pytest.approx(np.mean(scores), abs=1e-8)
        assert curve["error"][at] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3), abs=1e-8)


def test_the_sparsest_graph_within_one_standard_error():
    curve = (est := fitted("binary", CrossValidated())).selection_.curve
    score, error = np.array(curve["score"]), np.array(curve["error"])
    best = np.argmax(score)
    within = score >= score[best] - error[best]
    assert est.threshold_ == max(np.array(curve["threshold"])[within])


def test_states_that_training_rows_lack_are_counted():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (60, 3)).astype(str)
    x[0, 1] = "once"
    est = GreedyGraph("cv", n_jobs=1).fit(x)
    assert "1 values were left out" in est.selection_.why
    assert np.isfinite(est.selection_.curve["score"]).all()


def test_cross_validation_with_missing_values_left_out():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (120, 4)).astype(float)
    x[:, 1] = np.where(rng.random(120) < 0.85, x[:, 0], 1 - x[:, 0])
    x[rng.random(x.shape) < 0.2] = np.nan
    est = GreedyGraph("cv", missing="available", n_jobs=1).fit(x)
    assert ("x0", "x1") in est.graph_.edges
    assert np.isfinite(est.selection_.curve["score"]).all()


@pytest.mark.parametrize("kind", ["binary", "counts", "weights"])
def test_stability_selection_is_that_of_fits(kind):
    chosen = Stability(expected=2, share=0.6, pairs=3, seed=4)
    est = fitted(kind, chosen)
    curve, drawer = est.selection_.curve, Drawer.of(est.table_)
    place = curve["threshold"].index(est.threshold_)
    p = len(est.table_.columns)
    for at in sorted({*some(curve["threshold"], 3), place}):
        rng = np.random.default_rng(4)
        halves = [half for _ in range(3) for half in drawer.halves(rng)]
        counts = brute.edge_counts(est, est.table_, curve["threshold"][at], halves)
        q = sum(counts.values()) / 6
        assert curve["mean_edges"][at] == pytest.approx(q)
        assert curve["bound"][at] == pytest.approx(q**2 / (0.2 * p * (p - 1) / 2))
        stable = {pair for pair, times in counts.items() if times >= 0.6 * 6}
        assert curve["stable"][at] == len(stable)
        if at == place:
            assert est.selection_.kept == stable
            assert brute.pairs(est) == stable & brute.pairs(
                brute.fresh(est, est.table_, est.threshold_)
            )
    assert curve["bound"][place] <= 2
    if place + 1 < len(curve["bound"]):
        assert curve["bound"][place + 1] > 2


@pytest.mark.parametrize("kind", ["binary", "mixed"])
def test_stars_is_that_of_fits(kind):
    chosen = StARS(instability=0.05, samples=5, seed=2)
    est = fitted(kind, chosen)
    curve, drawer = est.selection_.curve, Drawer.of(est.table_)
    place = curve["threshold"].index(est.threshold_)
    p = len(est.table_.columns)
    for at in sorted({*some(curve["threshold"], 3), place}):
        rng = np.random.default_rng(2)
        draws = [drawer.some(rng, chosen.rows(drawer.size)) for _ in range(5)]
        counts = brute.edge_counts(est, est.table_, curve["threshold"][at], draws)
        share = np.array(list(counts.values())) / 5
        unstable = np.sum(2 * share * (1 - share)) / (p * (p - 1) / 2)
        assert curve["instability"][at] == pytest.approx(unstable)
    assert curve["instability"][place] <= 0.05
    assert all(value <= 0.05 for value in curve["instability"][: place + 1])
    if place + 1 < len(curve["instability"]):
        assert curve["instability"][place + 1] > 0.05


def test_a_strong_chain_is_found():
    field = simulate.ising(simulate.chain(8), coupling=0.7, signs="positive", seed=0)
    table = field.sample(800, seed=1)
    chain = {(f"x{i}", f"x{i + 1}") for i in range(7)}
    for name in ("ebic:0.5", "cv", "stars"):
        assert chain <= set(map(tuple, GreedyGraph(name).fit(table).graph_.edges)), name
    few = GreedyGraph(Stability(expected=4)).fit(table)
    assert set(few.graph_.edges) <= chain


def test_required_edges_are_not_counted_as_choices():
    links = {"require": [("x0", "x5")], "forbid": [("x0", "x1")]}
    est = fitted("binary", Stability(pairs=3), **links)
    assert ("x0", "x5") in est.graph_.edges
    assert ("x0", "x1") not in est.graph_.edges
    assert est.selection_.curve["mean_edges"][0] == 0


@pytest.mark.parametrize("name", ["ebic", "cv", "stability", "stars"])
def test_a_table_without_links_and_one_of_one_column(name):
    x = np.random.default_rng(3).integers(0, 2, (60, 3))
    for table in (x, x[:, :1], np.column_stack([x[:, 0], np.zeros(60, int)])):
        selection = GreedyGraph(name, n_jobs=1).fit(table).selection_
        assert isinstance(selection, Selection)
        lengths = {len(column) for column in selection.curve.values()}
        assert len(lengths) == 1
        assert selection.looked_at in selection.curve


def test_names_on_the_command_line():
    assert selector("ebic:0.25") == EBIC(0.25)
    assert selector("cv") == CrossValidated()
    assert selector("cv:10") == CrossValidated(10)
    assert selector("stability:2") == Stability(2)
    assert selector("stars:0.1") == StARS(0.1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: EBIC(-1),
        lambda: CrossValidated(1),
        lambda: Stability(share=0.5),
        lambda: Stability(pairs=0),
        lambda: StARS(0.6),
        lambda: selector("cv:2.5"),
        lambda: selector("ebic:much"),
        lambda: selector("ebics"),
    ],
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(SettingError):
        wrong()
