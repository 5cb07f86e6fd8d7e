"""Joint fits against literal objectives, row by row and state by state."""

import math
import signal
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import enumeration
from isinglass import ChowLiuTree, GreedyGraph, L1Graph, MarkovField, simulate
from isinglass.errors import OutOfMemory, SettingError, StoppedEarly
from isinglass.graph import Graph, Link
from isinglass.model import fit_model
from isinglass.model.fit.conditionals import cells_of
from isinglass.model.fit.joint import model_of, pseudo_likelihood
from isinglass.table import encode
from small_models import MODELS, any_gauge

RIDGE = 1e-8
SPIN = np.array([[1.0, -1.0], [-1.0, 1.0]])


def softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def column_scores(field, row, r):
    """Log-potentials of the states of one column, all other cells held."""
    changed = [[*row[:r], state, *row[r + 1 :]] for state in range(len(field.states[r]))]
    return np.array([enumeration.log_potential(field, other) for other in changed])


def literal_loss(field, codes, weights, ridge=RIDGE):
    """Minus the pseudo-log-likelihood per row, plus the ridge."""
    total = sum(
        weight * math.log(softmax(column_scores(field, row, r))[row[r]])
        for row, weight in zip(codes.tolist(), weights, strict=True)
        for r in range(len(field.names))
    )
    squares = sum(float(np.sum(table**2)) for table in field.couplings.values())
    return -total / weights.sum() + ridge / 2 * squares


def literal_slopes(field, codes, weights, ridge=RIDGE):
    """Its slope in every entry of every intercept and coupling, as if all were free."""
    fields = [np.zeros(len(labels)) for labels in field.states]
    tables = {pair: ridge * table for pair, table in field.couplings.items()}
    for row, weight in zip(codes.tolist(), weights / weights.sum(), strict=True):
        for r in range(len(field.names)):
            residual = weight * softmax(column_scores(field, row, r))
            residual[row[r]] -= weight
            fields[r] += residual
            for i, j in field.couplings:
                if r == i:
                    tables[i, j][:, row[j]] += residual
                if r == j:
                    tables[i, j][row[i], :] += residual
    return fields, tables


def centred(table):
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table


def rows_of(field, n, seed):
    return pd.DataFrame(field.sample(n, seed=seed), columns=field.names)


def table_of(field, n, seed):
    return encode(rows_of(field, n, seed))


SMALL = ["Ising, grid", "Potts, grid", "Potts, dense", "Potts, alone"]


@pytest.mark.parametrize("name", SMALL)
def test_the_gradient_is_zero_at_the_solution(name):
    table = table_of(MODELS[name], 400, seed=1)
    model = fit_model(table, MODELS[name].graph)
    fields, tables = literal_slopes(model, table.codes, table.weights)
    for slope in (*fields, *tables.values()):
        assert np.abs(centred(slope)).max() < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_no_model_nearby_is_better(seed):
    rng = np.random.default_rng(seed)
    true = any_gauge(seed, [2, 3, 2, 3], [(0, 1), (1, 2), (0, 2), (2, 3)])
    table = table_of(true, 150, seed)
    model = fit_model(table, true.graph, ridge=0.01)
    best = literal_loss(model, table.codes, table.weights, ridge=0.01)
    for size in (0.3, 0.01):
        other = MarkovField.from_potentials(
            model.names,
            model.states,
            [numbers + size * rng.normal(size=numbers.shape) for numbers in model.intercepts],
            {
                pair: numbers + size * rng.normal(size=numbers.shape)
                for pair, numbers in model.couplings.items()
            },
        )
        assert literal_loss(other, table.codes, table.weights, ridge=0.01) > best


def test_the_fast_objective_is_the_literal_one():
    true = any_gauge(5, [2, 3, 1, 4], [(0, 1), (1, 2), (1, 3), (0, 3)])
    table = encode(rows_of(true, 80, 5), np.arange(1.0, 81.0))
    pseudo = pseudo_likelihood(table, true.graph, ridge=0.1)
    rng = np.random.default_rng(0)
    at = rng.normal(size=pseudo.layout.size)
    field = model_of(pseudo, at)
    np.testing.assert_allclose(pseudo.layout.parameters(field), at, atol=1e-12)
    value, gradient, hessian = pseudo.with_hessian(at)
    assert value == pytest.approx(literal_loss(field, table.codes, table.weights, 0.1), rel=1e-12)
    lean_value, lean_gradient = pseudo.with_gradient(at)
    assert lean_value == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(lean_gradient, gradient, atol=1e-12)
    step = 1e-6 * rng.normal(size=len(at))
    above, below = pseudo.with_gradient(at + step), pseudo.with_gradient(at - step)
    assert above[0] - below[0] == pytest.approx(2 * gradient @ step, rel=1e-5)
    np.testing.assert_allclose(above[1] - below[1], 2 * hessian @ step, atol=1e-11)


def test_many_parameters_take_another_way_to_the_same_answer(monkeypatch):
    true = any_gauge(3, [2, 3, 2, 3], [(0, 1), (1, 2), (0, 2)])
    table = table_of(true, 2000, seed=3)
    for refit in ("pseudolikelihood", "likelihood"):
        # A ridge that can be felt, lest rare states leave directions flat to rounding.
        newton = fit_model(table, true.graph, refit, ridge=0.01)
        monkeypatch.setattr("isinglass.model.fit.pseudolikelihood.DENSE", 0)
        same_model(fit_model(table, true.graph, refit, ridge=0.01), newton, 1e-5)
        monkeypatch.undo()


def same_model(one, other, tolerance):
    assert one.names == other.names
    assert one.states == other.states
    assert one.couplings.keys() == other.couplings.keys()
    for a, b in zip(one.intercepts, other.intercepts, strict=True):
        np.testing.assert_allclose(a, b, atol=tolerance)
    for pair in one.couplings:
        np.testing.assert_allclose(one.couplings[pair], other.couplings[pair], atol=tolerance)


@pytest.mark.parametrize("refit", ["pseudolikelihood", "likelihood"])
def test_weights_are_copies(refit):
    true = any_gauge(8, [2, 3, 2], [(0, 1), (1, 2), (0, 2)])
    rows = rows_of(true, 200, 8)
    counts = np.random.default_rng(0).integers(0, 4, len(rows))
    weighted = fit_model(encode(rows, counts), true.graph, refit)
    copied = fit_model(encode(rows.loc[rows.index.repeat(counts)]), true.graph, refit)
    same_model(weighted, copied, 1e-7)


@pytest.mark.parametrize("name", ["Ising, tree", "Ising, grid", "Potts, grid", "Potts, dense"])
def test_likelihood_matches_the_moments(name):
    """The maximum of the likelihood has the shares of the rows, wherever there is a parameter."""
    table = table_of(MODELS[name], 4000, seed=2)
    model = fit_model(table, MODELS[name].graph, "likelihood")
    rows, probabilities = enumeration.all_rows(model), enumeration.probabilities(model)
    for (i, j), coupling in model.couplings.items():
        m = coupling.shape[1]
        expected = np.bincount(rows[:, i] * m + rows[:, j], probabilities, coupling.size)
        cell = table.codes[:, i].astype(int) * m + table.codes[:, j]
        found = np.bincount(cell, table.weights / table.n, coupling.size)
        # The ridge pulls by 1e-8 times the coupling.
        np.testing.assert_allclose(expected, found, atol=3e-7)


def test_likelihood_of_a_tree_in_closed_form():
    """P(row) is the product of edge shares over shares of the columns between."""
    true = simulate.potts(simulate.chain(4), [2, 3, 2, 3], seed=1)
    table = table_of(true, 3000, seed=1)
    model = fit_model(table, true.graph, "likelihood")
    codes, n = table.codes.astype(int), len(table.codes)
    single = [np.bincount(column) / n for column in codes.T]
    rows = enumeration.all_rows(model)
    expected = np.ones(len(rows))
    for j in range(1, 4):
        pair = np.zeros((len(single[j - 1]), len(single[j])))
        np.add.at(pair, (codes[:, j - 1], codes[:, j]), 1 / n)
        expected *= pair[rows[:, j - 1], rows[:, j]]
    for j in (1, 2):
        expected /= single[j][rows[:, j]]
    np.testing.assert_allclose(enumeration.probabilities(model), expected, atol=1e-6)


def test_both_find_the_truth():
    true = simulate.ising(simulate.grid(3, 3), coupling=0.3, intercept=0.2, seed=0)
    table = table_of(true, 100_000, seed=0)
    for refit in ("pseudolikelihood", "likelihood"):
        same_model(fit_model(table, true.graph, refit), true, 0.03)


def test_an_unbounded_edge_is_finite_and_the_same_in_any_coding():
    x = np.repeat([0, 1], [30, 70])
    rows = np.column_stack([x, x, np.arange(100) % 3])
    model = GreedyGraph().fit(rows).model_
    coupling = model.couplings[0, 1][0, 0]
    assert 3 < coupling < 12
    flipped = GreedyGraph().fit(np.column_stack([x, 1 - x, np.arange(100) % 3])).model_
    np.testing.assert_allclose(flipped.couplings[0, 1], -model.couplings[0, 1], rtol=1e-5)


@pytest.mark.parametrize("dense", [2000, 0])
def test_unbounded_edges_are_named(dense, monkeypatch):
    """A zero cell, a repeated column, and a column that two others determine together."""
    monkeypatch.setattr("isinglass.model.fit.pseudolikelihood.DENSE", dense)
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 2, (3, 400))
    zero_cell = np.where(a == 1, 1, b)
    noisy = np.where(rng.random(400) < 0.8, c, 1 - c)
    rows = np.column_stack([a, zero_cell, c, noisy, c])
    linked = MarkovField(
        tuple(f"x{v}" for v in range(5)),
        ((0, 1),) * 5,
        ([0, 0],) * 5,
        dict.fromkeys([(0, 1), (0, 2), (2, 3), (2, 4)], SPIN),
    )
    model = fit_model(encode(rows), linked.graph)
    assert model.unbounded == {(0, 1), (2, 4)}
    assert [link.unbounded for link in model.graph] == [True, False, False, True]
    rest = model.given({"x3": 1})
    assert rest.unbounded == {(0, 1), (2, 3)}


def test_a_model_knows_what_the_search_found_unbounded():
    x = np.repeat([0, 1], [30, 70])
    est = GreedyGraph().fit(np.column_stack([x, x, np.arange(100) % 3]))
    assert [link.unbounded for link in est.model_.graph] == [True]
    assert [link.unbounded for link in est.graph_] == [True]


@pytest.mark.parametrize("memory", [1.0, 3e4])
def test_little_memory_gives_the_same_answer(memory):
    """Nothing is kept, and no matrix of a column either; or of some columns only."""
    true = any_gauge(3, [2, 3, 4, 3], [(0, 1), (1, 2), (0, 2), (2, 3)])
    table = table_of(true, 300, seed=3)
    lean = fit_model(table, true.graph, memory=memory)
    same_model(lean, fit_model(table, true.graph), 1e-4)  # flat where states are rare
    fields, tables = literal_slopes(lean, table.codes, table.weights)
    for slope in (*fields, *tables.values()):
        assert np.abs(centred(slope)).max() < 1e-9


def test_memory_does_not_grow_with_the_square_of_a_columns_parameters():
    """One column with 16 states and 8 such neighbours has 1,800 parameters: 26 MB, squared."""
    rng = np.random.default_rng(0)
    hub = rng.integers(0, 16, 400)
    noise = rng.integers(0, 16, (400, 8))
    others = np.where(rng.random((400, 8)) < 0.7, hub[:, None], noise)
    table = encode(np.column_stack([hub, others]))
    graph = Graph(table.names, tuple(plain_link(0, t) for t in range(1, 9)))
    fit_model(table, graph)  # what is loaded only once
    tracemalloc.start()
    try:
        model = fit_model(table, graph, memory=1e6)
        assert tracemalloc.get_traced_memory()[1] < 1e7
    finally:
        tracemalloc.stop()
    joint = pseudo_likelihood(table, graph)
    assert joint.layout.size == 8 * 225 + 9 * 15
    slope = joint.with_gradient(joint.layout.parameters(model))[1]
    assert np.abs(slope).max() < 1e-9


def plain_link(source, target):
    return Link(source, target, 0.5, 0, None, None, 1.0, "both", False)


def test_more_parameters_than_rows_can_say():
    """The two tables of an edge are far too large to start from; the answer is the minimiser."""
    rng = np.random.default_rng(1)
    hidden = rng.integers(0, 9, 120)
    columns = np.where(rng.random((120, 5)) < 0.6, hidden[:, None], rng.integers(0, 9, (120, 5)))
    table = encode(columns)
    graph = Graph(table.names, tuple(plain_link(i, j) for i in range(5) for j in range(i + 1, 5)))
    joint = pseudo_likelihood(table, graph)
    slope = joint.with_gradient(joint.minimum())[1]
    assert np.abs(slope).max() < 1e-9


def test_an_edge_with_a_constant_column_is_empty():
    rng = np.random.default_rng(0)
    table = encode(np.column_stack([rng.integers(0, 3, 50), np.zeros(50), rng.integers(0, 2, 50)]))
    graph = Graph(table.names, (plain_link(0, 1), plain_link(0, 2), plain_link(1, 2)))
    model = fit_model(table, graph)
    assert not model.couplings[0, 1].any()
    fields, tables = literal_slopes(model, table.codes, table.weights)
    for slope in (*fields, *tables.values()):
        assert np.abs(centred(slope)).max() < 1e-9


def test_progress_is_told_in_words():
    told = []
    field = MODELS["Potts, grid"]
    fit_model(table_of(field, 300, 0), field.graph, progress=told.append)
    assert told[0].startswith("each column by itself, ")
    assert any(words.startswith("step 1, largest slope ") for words in told)
    assert told[-1].startswith("step ")
    told.clear()
    fit_model(table_of(field, 300, 0), field.graph, "likelihood", progress=told.append)
    assert "log-likelihood -" in told[-1]


def test_a_fit_can_be_stopped():
    field = MODELS["Potts, grid"]

    def stop(words):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        fit_model(table_of(field, 300, 0), field.graph, progress=stop)


def test_steps_that_run_out_are_said(monkeypatch):
    monkeypatch.setattr("isinglass.model.fit.pseudolikelihood.DENSE", 0)
    monkeypatch.setattr("isinglass.model.fit.descent.NEWTON_STEPS", 3)
    with pytest.warns(StoppedEarly, match="stopped after 3 steps"):
        fit_model(table_of(MODELS["Ising, grid"], 300, 0), MODELS["Ising, grid"].graph)


def test_without_an_intercept_states_are_symmetric():
    rows = simulate.ising(simulate.chain(4), seed=1).sample(500, seed=1)
    estimator = GreedyGraph(intercept=False).fit(rows)
    assert len(estimator.graph_)
    assert not np.any(estimator.model_.intercepts)
    flipped = GreedyGraph(intercept=False).fit(-rows)
    same_model(estimator.model_, flipped.model_, 1e-9)


@pytest.mark.parametrize("estimator", [GreedyGraph(), L1Graph(), ChowLiuTree()])
def test_every_estimator_has_a_model(estimator):
    rows = simulate.ising(simulate.chain(4), seed=1).sample(500, seed=1)
    with pytest.raises(AttributeError):
        _ = estimator.model_
    model = estimator.fit(rows).model_
    assert model is estimator.model_
    assert model.graph == estimator.graph_
    assert estimator.fit(rows[:250]).model_ is not model


def test_rows_with_missing():
    rows = simulate.ising(simulate.chain(3), seed=1).sample(500, seed=1).astype(object)
    rows[:50, 0] = None
    rows[30:90, 2] = None
    estimator = GreedyGraph(missing="available").fit(rows)
    assert estimator.graph_.edges == [("x0", "x1"), ("x1", "x2")]
    model = estimator.model_
    assert model.states == ((-1, 1),) * 3
    table = estimator.table_
    # Column 1 is explained by the rows where all are seen, an end by those where it is.
    seen = table.codes < 2
    expected = np.zeros(3)
    for r, columns in enumerate([[0, 1], [0, 1, 2], [1, 2]]):
        for row in table.codes[seen[:, columns].all(axis=1)].tolist():
            filled = [min(code, 1) for code in row]
            expected[r] += softmax(column_scores(model, filled, r))[1] - row[r]
    np.testing.assert_allclose(expected, 0, atol=1e-6)
    with pytest.raises(SettingError, match="rows without missing values"):
        fit_model(table, estimator.graph_, "likelihood")


def test_columns_never_seen_together_say_nothing():
    rows = np.array([["a", None], ["b", None], ["b", None], [None, "x"], [None, "y"]], dtype=object)
    table = encode(rows, missing="available")
    linked = MarkovField(table.names, (("a", "b"), ("x", "y")), ([0, 0], [0, 0]), {(0, 1): SPIN})
    model = fit_model(table, linked.graph)
    np.testing.assert_allclose(model.couplings[0, 1], 0, atol=1e-9)


def test_cells_are_the_same_by_counting_and_by_sorting():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (40, 5))
    cell, cells = cells_of(codes, [3] * 5)
    kept, place = np.unique(codes, axis=0, return_inverse=True)
    np.testing.assert_array_equal(cells, kept)
    np.testing.assert_array_equal(cell, place.ravel())


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"refit": "exact"}, "'pseudolikelihood' or 'likelihood', not 'exact'"),
        ({"ridge": -1.0}, "0 or more, not -1.0"),
        ({"ridge": np.nan}, "0 or more, not nan"),
    ],
)
def test_settings_that_make_no_sense(settings, said):
    field = MODELS["Ising, chain"]
    with pytest.raises(SettingError, match=said):
        fit_model(table_of(field, 50, 0), field.graph, **settings)


def test_other_columns_are_refused():
    with pytest.raises(SettingError, match="different columns"):
        fit_model(table_of(MODELS["Ising, chain"], 50, 0), MODELS["Ising, tree"].graph)


def test_memory_is_refused():
    field = simulate.ising(simulate.grid(5, 5), seed=0)
    with pytest.raises(OutOfMemory, match='refit="pseudolikelihood"'):
        fit_model(table_of(field, 50, 0), field.graph, "likelihood", memory=1000)
