"""Sandwich errors against their definition, row by row and column by column."""

import math
import pickle
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import enumeration
from isinglass import GreedyGraph, MarkovField, simulate, with_errors
from isinglass.errors import BadClusters, OutOfMemory, SettingError, UnseenState
from isinglass.model.fit.joint import model_of, pseudo_likelihood
from isinglass.table import encode
from isinglass.uncertainty import scores
from isinglass.uncertainty.sandwich import Sandwich
from isinglass.uncertainty.standard_errors import fit_with_errors
from small_models import any_gauge

SPIN = np.array([[1.0, -1.0], [-1.0, 1.0]])
MIXED = any_gauge(5, [2, 3, 2, 4], [(0, 1), (1, 2), (0, 2), (1, 3)])


def frame_of(field, n, seed) -> pl.DataFrame:
    return pl.DataFrame(field.sample(n, seed=seed), schema=list(field.names))


def literal_row(field, row) -> float:
    """Sum over columns of log P(cell given the other cells)."""
    total = 0.0
    for r in range(len(row)):
        rivals = [[*row[:r], state, *row[r + 1 :]] for state in range(len(field.states[r]))]
        scores = [enumeration.log_potential(field, other) for other in rivals]
        total += scores[row[r]] - math.log(sum(map(math.exp, scores)))
    return total


def literal_covariance(joint, at, weights, groups=None):
    """By numerical differentiation of single rows, summed over columns before it is squared."""
    step = 1e-5
    rows = joint.table.codes.tolist()
    names, states = joint.table.names, model_of(joint, at).states

    def value(parameters, row):
        of = joint.layout
        model = SimpleNamespace(
            names=names,
            states=states,
            intercepts=of.intercepts(parameters),
            couplings=of.couplings(parameters),
        )
        return literal_row(model, row)

    def slopes(row):
        found = np.empty(len(at))
        for k in range(len(at)):
            up, down = at.copy(), at.copy()
            up[k] += step
            down[k] -= step
            difference = value(up, row) - value(down, row)
            found[k] = difference / (2 * step)
        return found

    scores = np.array([slopes(row) for row in rows])
    bread = np.linalg.inv(joint.with_hessian(at)[2] * joint.table.n)
    if groups is not None:
        sums = np.zeros((max(groups) + 1, len(at)))
        np.add.at(sums, groups, scores * weights[:, None])
        units, filling = len(sums), sums.T @ sums
    else:
        units, filling = weights.sum(), (scores * weights[:, None]).T @ scores
    return units / (units - 1) * bread @ filling @ bread


def test_the_covariance_is_the_literal_one(monkeypatch):
    monkeypatch.setattr(scores, "BLOCK", 100)
    counts = np.random.default_rng(0).integers(1, 4, 30).astype(float)
    table = encode(frame_of(MIXED, 30, 1), counts)
    joint = pseudo_likelihood(table, MIXED.graph, ridge=0.05)
    at = joint.minimum()
    found = Sandwich(joint, at)
    assert found.units == counts.sum()
    expected = literal_covariance(joint, at, counts)
    np.testing.assert_allclose(found.covariance(), expected, rtol=1e-4, atol=1e-7)
    groups = np.arange(30) % 17
    found = Sandwich(joint, at, groups)
    assert found.units == 17
    expected = literal_covariance(joint, at, counts, groups.tolist())
    np.testing.assert_allclose(found.covariance(), expected, rtol=1e-4, atol=1e-7)


def errors_of(table, graph, **settings):
    return fit_with_errors(table, graph, ridge=0.01, **settings).errors.covariance


def test_counts_are_copies():
    rows = frame_of(MIXED, 300, 2)
    counts = np.random.default_rng(0).integers(0, 3, 300)
    copied = rows[np.repeat(np.arange(300), counts)]
    weighted = errors_of(encode(rows, counts), MIXED.graph)
    np.testing.assert_allclose(weighted, errors_of(encode(copied), MIXED.graph), rtol=1e-6)
    ids = np.arange(300) % 40
    weighted = errors_of(encode(rows, counts), MIXED.graph, clusters=ids)
    of_copies = np.repeat(ids, counts)
    again = errors_of(encode(copied), MIXED.graph, clusters=of_copies)
    np.testing.assert_allclose(weighted, again, rtol=1e-6)


def test_clusters():
    rows = frame_of(MIXED, 300, 3)
    alone = errors_of(encode(rows), MIXED.graph)
    each = errors_of(encode(rows), MIXED.graph, clusters=[f"row {i}" for i in range(300)])
    np.testing.assert_allclose(each, alone, rtol=1e-9)
    # Every row copied: taken as new rows they halve the variance, as clusters they do not.
    twice = pl.concat([rows, rows])
    ids = np.tile(np.arange(300), 2)
    np.testing.assert_allclose(
        errors_of(encode(twice), MIXED.graph, clusters=ids), alone, rtol=1e-6
    )
    halved = errors_of(encode(twice), MIXED.graph)
    np.testing.assert_allclose(halved * 599 / 300 * 300 / 299, alone, rtol=1e-2)


def test_sampling_weights():
    rows = frame_of(MIXED, 300, 4)
    weights = np.random.default_rng(1).gamma(1.0, size=300) + 0.1
    plain = errors_of(encode(rows), MIXED.graph)
    even = errors_of(encode(rows, np.full(300, 7.0)), MIXED.graph, sampling=True)
    np.testing.assert_allclose(even, plain, rtol=1e-9)
    kish = encode(rows, weights, n_eff="kish")
    uneven = errors_of(kish, MIXED.graph, sampling=True)
    scaled = errors_of(encode(rows, 9 * weights, n_eff=10.0), MIXED.graph, sampling=True)
    np.testing.assert_allclose(scaled, uneven, rtol=1e-6)
    # A row of weight w is a cluster of its own that speaks w times as loud.
    clusters = errors_of(kish, MIXED.graph, clusters=np.arange(300))
    np.testing.assert_allclose(uneven, clusters, rtol=1e-9)


def test_an_estimator_says_what_its_weights_are():
    rows = frame_of(MIXED, 2000, 4)
    weights = np.random.default_rng(1).gamma(0.5, size=2000) + 0.01
    kish = GreedyGraph(n_eff="kish").fit(rows, sample_weight=weights)
    by_hand = fit_with_errors(kish.table_, kish.graph_, sampling=True)
    np.testing.assert_allclose(with_errors(kish).errors.covariance, by_hand.errors.covariance)


def test_edges_have_errors_and_intervals():
    rows = frame_of(MIXED, 3000, 5)
    model = fit_with_errors(encode(rows), MIXED.graph)
    edge = model.edge("c1", "c3", against=(1, 2))
    back = model.edge("c3", "c1", against=(2, 1))
    np.testing.assert_allclose(back.error, edge.error.T)
    assert not edge.error[1].any()
    assert not edge.error[:, 2].any()
    assert (np.delete(np.delete(edge.error, 1, 0), 2, 1) > 0).all()
    table = model.intervals()
    assert len(table) == 2 + 2 + 1 + 6
    row = table.row(0, named=True)
    ratio = model.edge("c0", "c1")
    assert row["log_odds"] == pytest.approx(ratio[1, 1])
    assert row["error"] == pytest.approx(ratio.error[1, 1])
    assert row["high"] - row["low"] == pytest.approx(2 * 1.959964 * row["error"], rel=1e-6)
    assert set(table["condition"]) == {"given this graph"}
    wide = model.intervals(level=0.99)
    assert (wide["high"] > table["high"]).all()
    assert "given this graph" in repr(model.errors)
    assert repr(edge).startswith("log-odds of c1, c3, given this graph\n")
    assert repr(MIXED.edge("c1", "c3")).startswith("log-odds of c1, c3\n")
    low, high = edge.interval(0.9)
    np.testing.assert_allclose(high - low, 2 * 1.644854 * edge.error, rtol=1e-6)
    with pytest.raises(SettingError, match="there is no interval"):
        MIXED.edge("c1", "c3").interval()


def test_a_redrawn_model_spreads_as_its_errors_say():
    model = fit_with_errors(encode(frame_of(MIXED, 3000, 5)), MIXED.graph)
    rng = np.random.default_rng(0)
    drawn = [model.errors.redraw(model, rng).edge("c1", "c3").values for _ in range(1500)]
    spread = np.std(drawn, axis=0)
    np.testing.assert_allclose(spread, model.edge("c1", "c3").error, rtol=0.08, atol=1e-12)
    centre = np.mean(drawn, axis=0) - model.edge("c1", "c3").values
    assert np.abs(centre).max() < 5 * spread.max() / np.sqrt(1500)


def test_unbounded_edges_have_no_errors_and_harm_no_others():
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 500))
    d = np.where(rng.random(500) < 0.7, c, 1 - c)
    rows = np.column_stack([a, np.where(a == 1, 1, b), c, d])
    graph = MarkovField(
        tuple(f"x{v}" for v in range(4)),
        ((0, 1),) * 4,
        ([0, 0],) * 4,
        dict.fromkeys([(0, 1), (2, 3)], SPIN),
    ).graph
    model = fit_with_errors(encode(rows), graph)
    assert model.edge("x0", "x1").error is None
    assert model.intervals()["error"][0] is None
    assert model.intervals()["unbounded"].to_list() == [True, False]
    with pytest.raises(SettingError, match="unbounded"):
        model.wald("x0", "x1")
    pair = MarkovField(("x0", "x1"), ((0, 1),) * 2, ([0, 0],) * 2, {(0, 1): SPIN}).graph
    alone = fit_with_errors(encode(rows[:, 2:]), pair)
    assert model.edge("x2", "x3").error[1, 1] == pytest.approx(
        alone.edge("x0", "x1").error[1, 1], rel=1e-6
    )


@pytest.mark.parametrize("clusters", [None, np.arange(500) // 5])
@pytest.mark.parametrize(
    "ship", [lambda model: model, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_a_covariance_that_waits_is_the_same(clusters, ship):
    """Where no edge has an error, it is computed when it is first asked for, or shipped."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 500))
    table = encode(np.column_stack([a, np.where(a == 1, 1, b), b]))
    graph = MarkovField(
        ("x0", "x1", "x2"), ((0, 1),) * 3, ([0, 0],) * 3, dict.fromkeys([(0, 1), (1, 2)], SPIN)
    ).graph
    model = fit_with_errors(table, graph, clusters=clusters)
    assert model.unbounded == {(0, 1), (1, 2)}
    assert callable(model.errors.spread)
    joint = pseudo_likelihood(table, graph)
    expected = Sandwich(joint, joint.layout.parameters(model), clusters).covariance()
    assert np.abs(expected).max() > 0
    np.testing.assert_allclose(ship(model).errors.covariance, expected, rtol=1e-9)
    assert model.errors.units == (500 if clusters is None else 100)
    assert not callable(model.errors.spread)  # nothing holds the table any longer


def test_wald():
    rows = frame_of(MIXED, 3000, 5)
    model = fit_with_errors(encode(rows), MIXED.graph)
    edge = model.edge("c0", "c2")
    test = model.wald("c2", "c0")
    assert test.statistic == pytest.approx((edge[1, 1] / edge.error[1, 1]) ** 2)
    assert (test.df, test.condition) == (1, "given this graph")
    assert model.wald("c1", "c3").df == 6
    with pytest.raises(SettingError, match="no edge between 'c0' and 'c3'"):
        model.wald("c0", "c3")


@pytest.mark.long
def test_wald_of_a_block_is_uniform_where_nothing_is():
    """Two columns of three and four states without a link, tested 200 times."""
    rng = np.random.default_rng(0)
    graph = any_gauge(0, [3, 4], [(0, 1)]).graph
    names = list(graph.names)
    p = []
    for _ in range(200):
        rows = pl.DataFrame({names[0]: rng.integers(0, 3, 400), names[1]: rng.integers(0, 4, 400)})
        p.append(fit_with_errors(encode(rows), graph).wald(*names).p_value)
    assert np.mean(np.array(p) < 0.1) == pytest.approx(0.1, abs=0.07)
    assert np.mean(p) == pytest.approx(0.5, abs=0.07)


def test_rows_that_chose_the_graph_give_no_p_value():
    true = simulate.ising(simulate.chain(4), signs="positive")
    est = GreedyGraph().fit(true.sample(800, seed=0))
    model = with_errors(est)
    np.testing.assert_allclose(model.couplings[0, 1], est.model_.couplings[0, 1])
    with pytest.raises(SettingError, match="the rows that chose the graph give no p-value"):
        model.wald("x0", "x1")
    fresh = with_errors(est, true.sample(800, seed=1))
    assert fresh.wald("x0", "x1").p_value < 0.001
    with pytest.raises(UnseenState):
        with_errors(est, np.full((10, 4), 3))
    with pytest.raises(SettingError, match=r"isinglass\.with_errors"):
        est.model_.intervals()


def test_clusters_are_of_the_rows_that_came():
    true = simulate.ising(simulate.chain(3), signs="positive")
    rows = true.sample(400, seed=0).astype(object)
    rows[::10, 1] = None
    ids = np.arange(400) // 5
    dropped = GreedyGraph(missing="drop").fit(rows)
    kept = np.arange(400) % 10 > 0
    by_hand = GreedyGraph().fit(rows[kept])
    np.testing.assert_allclose(
        with_errors(dropped, clusters=ids).errors.covariance,
        with_errors(by_hand, clusters=ids[kept]).errors.covariance,
    )
    with pytest.raises(BadClusters, match="one label for each row"):
        with_errors(by_hand, clusters=ids)
    with pytest.raises(SettingError, match="names a column of X"):
        with_errors(by_hand, clusters="school")
    with pytest.raises(SettingError, match="at least two"):
        with_errors(by_hand, clusters=np.zeros(360))


def test_missing_values_that_are_left_out():
    """Rows where a column or a neighbour is missing say nothing in its conditional."""
    true = simulate.ising(simulate.chain(3), signs="positive")
    rows = true.sample(3000, seed=0).astype(object)
    missing = np.random.default_rng(0).random(rows.shape) < 0.2
    rows[missing] = None
    model = fit_with_errors(encode(rows, missing="available"), true.graph)
    full = fit_with_errors(encode(true.sample(3000, seed=0)), true.graph)
    ratio = model.edge("x0", "x1").error[1, 1] / full.edge("x0", "x1").error[1, 1]
    assert 1.05 < ratio < 1.5


def test_memory_is_refused():
    with pytest.raises(OutOfMemory, match="parameters needs about"):
        fit_with_errors(encode(frame_of(MIXED, 50, 0)), MIXED.graph, memory=100)


def test_all_matrices_at_work_are_counted():
    """The eigenvectors' own work space too: what fits one covariance does not fit the rest."""
    table = encode(frame_of(MIXED, 50, 0))
    size = pseudo_likelihood(table, MIXED.graph).layout.size
    with pytest.raises(OutOfMemory, match=f"{7 * 8 * size**2:,} bytes"):
        fit_with_errors(table, MIXED.graph, memory=6 * 8 * size**2)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_model_that_is_there_is_not_fitted_again(intercept):
    est = GreedyGraph(intercept=intercept).fit(frame_of(MIXED, 2000, 3))
    known = with_errors(est)
    anew = fit_with_errors(est.table_, est.graph_, intercept=intercept, chose_graph=True)
    assert known.couplings.keys() == anew.couplings.keys() == est.model_.couplings.keys()
    for pair, coupling in est.model_.couplings.items():
        np.testing.assert_array_equal(known.couplings[pair], coupling)
    covariance = anew.errors.covariance
    near = {"rtol": 1e-6, "atol": 1e-9 * np.abs(covariance).max()}
    np.testing.assert_allclose(known.errors.covariance, covariance, **near)


def test_completed_tables_for_inference():
    true = simulate.ising(simulate.chain(4), signs="positive")
    rows = true.sample(300, seed=0).astype(float)
    model = with_errors(GreedyGraph().fit(true.sample(300, seed=1)))
    rows[np.random.default_rng(0).random(rows.shape) < 0.3] = np.nan
    completed = model.impute(rows, draws=5, use="inference")
    assert completed.note.startswith("for inference")
    held = model.impute(rows, draws=5)
    assert any((a != b).any() for a, b in zip(completed, held, strict=True))


def test_errors_are_of_the_clusters_that_were_fitted():
    rows = simulate.ising(simulate.chain(3), signs="positive").sample(400, seed=0)
    ids = np.arange(400) // 5
    clustered = with_errors(GreedyGraph().fit(rows, clusters=ids)).errors
    named = with_errors(GreedyGraph().fit(rows), clusters=ids).errors
    np.testing.assert_array_equal(clustered.covariance, named.covariance)
    assert clustered.units == 80
    fresh = pl.DataFrame(rows, schema=["x0", "x1", "x2"]).with_columns(school=pl.Series(ids))
    by_name = with_errors(GreedyGraph().fit(rows), fresh, clusters="school").errors
    near = {"rtol": 1e-9, "atol": 1e-12}  # the same model, but for the last digits
    np.testing.assert_allclose(by_name.covariance, named.covariance, **near)
