"""`verdict`: a link of the size it names would have been found."""

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import SettingError


@pytest.fixture(scope="module")
def fitted():
    field = ig.simulate.ising(ig.simulate.chain(6), coupling=0.5, seed=0)
    return ig.GreedyGraph().fit(field.sample(700, seed=0))


@pytest.mark.parametrize(("states", "least"), [(2, 0.7), (3, 0.7)])
def test_a_link_of_that_size_is_found(states, least):
    """Four tables of five; with 60 tables, 0.7 is two standard errors below."""
    field = ig.simulate.potts(ig.simulate.chain(6), states, coupling=0.4, seed=0)
    before = ig.verdict(ig.GreedyGraph().fit(field.sample(600, seed=0)), matters=100)
    log_odds = np.log(before.of("x0", "x4").odds_ratio)
    rng = np.random.default_rng(0)
    found = 0
    for seed in range(60):
        table = rng.normal(size=(states, states))
        table -= table.mean(axis=0)
        table -= table.mean(axis=1, keepdims=True)
        table *= log_odds * (states - 1) / 2 / np.linalg.norm(table)
        couplings = {**field.couplings, (0, 4): table}
        linked = ig.MarkovField(field.names, field.states, field.intercepts, couplings)
        graph = ig.GreedyGraph().fit(linked.sample(600, seed=100 + seed)).graph_
        found += ("x0", "x4") in graph.edges
    assert found >= least * 60


def test_every_pair_has_one_verdict(fitted):
    verdicts = ig.verdict(fitted)
    assert len(verdicts) == 15
    linked = [(v.source, v.target) for v in verdicts if v.verdict == "linked"]
    assert linked == fitted.graph_.edges
    assert verdicts.of("x1", "x0") is verdicts.of("x0", "x1")
    assert list(verdicts.to_frame().columns) == [
        "source",
        "target",
        "verdict",
        "evidence",
        "odds_ratio",
        "state_odds_ratio",
        "rows_needed",
        "sentence",
        "step_odds_ratio",
    ]
    assert all(v.evidence <= 2 * 700 * fitted.threshold_ for v in verdicts if v.verdict != "linked")


def test_some_columns_only(fitted):
    some, all_ = ig.verdict(fitted, columns=["x4", "x0", "x1"]), ig.verdict(fitted)
    assert [(v.source, v.target) for v in some] == [("x0", "x1"), ("x0", "x4"), ("x1", "x4")]
    assert some.of("x0", "x4").sentence == all_.of("x0", "x4").sentence
    with pytest.raises(SettingError, match="not both among"):
        some.of("x0", "x5")


def test_what_matters_decides_between_no_link_and_open(fitted):
    ratio = ig.verdict(fitted).of("x0", "x5").odds_ratio
    closed = ig.verdict(fitted, matters=1.01 * ratio).of("x0", "x5")
    open_ = ig.verdict(fitted, matters=np.sqrt(ratio)).of("x0", "x5")
    assert closed.verdict == "not linked"
    assert f"{ratio:.3g}" in closed.sentence
    assert open_.verdict == "cannot tell"
    assert open_.rows_needed == pytest.approx(4 * 700, rel=0.05)  # half the log odds


def test_tentative_links_are_open():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (400, 5))
    for extra in range(400):  # copy cells until the evidence is in between
        x[extra, 1] = x[extra, 0]
        verdicts = ig.verdict(ig.GreedyGraph().fit(x), matters=50)
        if verdicts.of("x0", "x1").verdict == "cannot tell":
            break
    told = verdicts.of("x0", "x1")
    low, high = (2 * 400 * ig.selection.FalseEdges(k).threshold(400, 5) for k in (1, 0.05))
    assert low < told.evidence <= high
    assert 400 < told.rows_needed < 2000
    assert "too little for a link" in told.sentence


def test_both_ends_must_find_it_under_and(fitted):
    table = ig.simulate.ising(ig.simulate.chain(6), coupling=0.5, seed=0).sample(700, seed=0)
    both = ig.verdict(ig.GreedyGraph(rule="and").fit(table)).of("x0", "x5").odds_ratio
    assert both > ig.verdict(fitted).of("x0", "x5").odds_ratio


def test_constant_columns_and_certain_ones():
    x = np.random.default_rng(0).integers(0, 2, (300, 4))
    x[:, 2] = 0
    x[:, 3] = x[:, 0]
    verdicts = ig.verdict(ig.GreedyGraph().fit(x))
    constant = verdicts.of("x0", "x2")
    assert constant.verdict == "cannot tell"
    assert constant.odds_ratio == constant.rows_needed == np.inf
    assert verdicts.of("x0", "x3").verdict == "linked"
    assert all(v.sentence for v in verdicts)


def test_missing_values(fitted):
    x = ig.simulate.ising(ig.simulate.chain(4), seed=0).sample(500, seed=0).astype(float)
    x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan
    verdicts = ig.verdict(ig.GreedyGraph(missing="available").fit(x))
    assert len(verdicts) == 6
    assert all(np.isfinite(v.odds_ratio) for v in verdicts)


def test_bad_settings(fitted):
    with pytest.raises(SettingError, match="above 1"):
        ig.verdict(fitted, matters=0.5)
    with pytest.raises(SettingError, match=r"between 0\.5 and 1"):
        ig.verdict(fitted, power=80)
    with pytest.raises(SettingError, match="two columns"):
        ig.verdict(fitted).of("x0", "x0")


def one_state(k: float, margins, seed: int, n: int):
    """Two columns of several states that are linked in the first state of each only."""
    cells = np.outer(margins, margins)
    cells[0, 0] *= np.exp(k)
    drawn = np.random.default_rng(seed).choice(cells.size, n, p=(cells / cells.sum()).ravel())
    third = np.random.default_rng(seed + 1).integers(0, 2, n)
    return np.column_stack([*np.unravel_index(drawn, cells.shape), third])


def test_a_link_in_one_rare_state_is_as_hard_to_find_as_is_said():
    """Found about as often as the power says when its odds ratio is the one named for it."""
    margins = np.array([0.06, 0.44, 0.5])
    said = ig.verdict(ig.GreedyGraph().fit(one_state(0.0, margins, 0, 1500))).of("x0", "x1")
    assert said.state_odds_ratio > 2 * said.odds_ratio
    found = [
        ("x0", "x1")
        in ig.GreedyGraph(n_jobs=1)
        .fit(one_state(np.log(said.state_odds_ratio), margins, seed, 1500))
        .graph_.edges
        for seed in range(100)
    ]
    assert 0.6 < np.mean(found) <= 1.0
    open_ = ig.verdict(ig.GreedyGraph().fit(one_state(0.0, margins, 5, 1500)), matters=4)
    words = {pair.verdict: pair.sentence for pair in open_}
    assert "on average over the shapes a link may take" in words["not linked"]
    assert "in one state of each only, from" in words["not linked"]


def test_two_states_have_one_shape():
    for rule in ("or", "and", "joint"):
        for pair in ig.verdict(ig.GreedyGraph(rule=rule).fit(one_state(0.0, [0.3, 0.7], 1, 400))):
            assert pair.state_odds_ratio == pytest.approx(pair.odds_ratio)
            assert "shapes" not in pair.sentence


@pytest.mark.parametrize("missing", ["state", "available"])
@pytest.mark.filterwarnings("ignore::isinglass.errors.ManyMissing")
def test_several_states_with_missing_values(missing):
    rows = one_state(1.0, np.array([0.2, 0.3, 0.5]), 2, 400).astype(object)
    rows[::7, 0] = None
    rows[(rows[:, 1] == 2) & (rows[:, 0] != 1), 0] = None
    for pair in ig.verdict(ig.GreedyGraph(missing=missing).fit(rows)):
        assert pair.state_odds_ratio >= 1
