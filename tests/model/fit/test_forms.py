"""Joint fits whose edges are products of scores and trends, against a plain optimiser."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from isinglass import MarkovField, simulate
from isinglass.graph import Graph, Link
from isinglass.model import fit_model
from isinglass.model.fit.joint import pseudo_likelihood
from isinglass.model.fit.restricted import Restricted
from isinglass.model.fit.sharpened import Sharpened
from isinglass.table import Column, encode
from isinglass.uncertainty.standard_errors import fit_with_errors
from selections import mostly_long

RIDGE = 1e-8


def graph_with(names, forms):
    """A graph of edges with forms."""
    links = [
        Link(*pair, None, 0, None, None, None, "", False, form=form)
        for pair, form in sorted(forms.items())
    ]
    return Graph(names, tuple(links))


def mixed(seed=0, coupling=0.5):
    """A model with an edge of each form, and a cycle: states 4, 3, 3 (unordered), 2, 5."""
    graph = nx.Graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (0, 4)])
    return simulate.ordinal(
        graph, [4, 3, 3, 2, 5], coupling=coupling, intercept=0.4, unordered=[2], seed=seed
    )


def rows_of(field, n, seed):
    return pd.DataFrame(field.sample(n, seed=seed), columns=list(field.names))


def centred(scores):
    return np.asarray(scores, dtype=float) - np.mean(scores)


def by_hand(x, forms, scores, start=None):
    """The model by BFGS: intercepts against the first state, and theta in plain scores.

    `x` are codes. A product has one number, a trend one per state of the unordered column but the
    first, a table one per pair of states but the first ones.
    """
    m = x.max(axis=0) + 1
    sizes = [k - 1 for k in m]
    for (i, j), form in forms.items():
        whole = (m[i] - 1) * (m[j] - 1)
        unordered = i if scores[i] is None else j
        sizes.append({"product": 1, "trend": m[unordered] - 1, "table": whole}[form])
    ends = np.cumsum(sizes)[:-1]

    def unpack(parameters):
        parts = np.split(parameters, ends)
        fields = [np.concatenate([[0.0], part]) for part in parts[: len(m)]]
        tables = {}
        for ((i, j), form), part in zip(forms.items(), parts[len(m) :], strict=True):
            if form == "product":
                tables[i, j] = part[0] * np.outer(centred(scores[i]), centred(scores[j]))
            elif form == "trend":
                states = np.concatenate([[0.0], part])
                table = np.outer(states, centred(scores[j if scores[i] is None else i]))
                tables[i, j] = table if scores[i] is None else table.T
            else:
                tables[i, j] = np.zeros((m[i], m[j]))
                tables[i, j][1:, 1:] = part.reshape(m[i] - 1, m[j] - 1)
        return fields, tables

    def loss(parameters):
        fields, tables = unpack(parameters)
        total = 0.0
        for r in range(len(m)):
            potential = np.tile(fields[r], (len(x), 1))
            for (i, j), table in tables.items():
                if r == i:
                    potential += table[:, x[:, j]].T
                if r == j:
                    potential += table[x[:, i]]
            top = potential.max(axis=1)
            total += np.sum(top + np.log(np.exp(potential - top[:, None]).sum(axis=1)))
            total -= potential[np.arange(len(x)), x[:, r]].sum()
        return total / len(x)

    found = minimize(loss, np.zeros(sum(sizes)), method="BFGS", options={"gtol": 1e-7})
    return unpack(found.x), found.fun


@pytest.mark.parametrize("seed", mostly_long(range(4), 2))
def test_the_joint_fit_is_that_of_a_plain_optimiser(seed):
    true = mixed(seed)
    table = encode(rows_of(true, 250, seed))
    forms = dict(true.forms)
    if seed == 3:
        forms[0, 1] = "table"
    model = fit_model(table, graph_with(true.names, forms))
    (fields, tables), _ = by_hand(table.codes.astype(int), forms, true.scores)
    slow = MarkovField.from_potentials(true.names, true.states, fields, tables)
    for pair, coupling in model.couplings.items():
        np.testing.assert_allclose(coupling, slow.couplings[pair], atol=2e-4)
    for own, slow_own in zip(model.intercepts, slow.intercepts, strict=True):
        np.testing.assert_allclose(own, slow_own, atol=2e-4)
    assert model.forms == forms


def test_weights_are_copies_and_likelihood_has_forms_too():
    true = mixed(1)
    rows = rows_of(true, 120, 1)
    weights = np.random.default_rng(0).integers(1, 4, len(rows)).astype(float)
    copies = rows.loc[rows.index.repeat(weights.astype(int))]
    one, other = fit_model(encode(rows, weights), true.graph), fit_model(encode(copies), true.graph)
    for pair in one.couplings:
        np.testing.assert_allclose(one.couplings[pair], other.couplings[pair], atol=1e-7)
    likely = fit_model(encode(copies), true.graph, "likelihood")
    assert likely.forms == true.forms  # so it was checked that the tables have them


def test_a_large_table_form_fits_better_and_a_form_within_it_as_well_as_it_can():
    true = mixed(2)
    table = encode(rows_of(true, 400, 2))
    scored = pseudo_likelihood(table, true.graph)
    whole = pseudo_likelihood(table, graph_with(true.names, dict.fromkeys(true.forms, "table")))
    at, above = scored.minimum(), whole.minimum()
    assert scored.layout.size < whole.layout.size
    inside = whole.layout.parameters(fit_model(table, true.graph))
    assert whole.with_gradient(above)[0] < scored.with_gradient(at)[0]
    assert whole.with_gradient(inside)[0] == pytest.approx(scored.with_gradient(at)[0], rel=1e-12)
    assert np.abs(scored.with_gradient(at)[1]).max() < 1e-9


def test_second_derivatives_are_differences_of_slopes():
    true = mixed(3)
    pseudo = pseudo_likelihood(encode(rows_of(true, 150, 3)), true.graph, ridge=0.01)
    at = np.random.default_rng(0).normal(size=pseudo.layout.size) / 2
    hessian = pseudo.with_hessian(at)[2]
    for k, step in enumerate(1e-5 * np.eye(len(at))):
        slope = (pseudo.with_gradient(at + step)[1] - pseudo.with_gradient(at - step)[1]) / 2e-5
        np.testing.assert_allclose(hessian[k], slope, atol=1e-8)


def test_numbers_within_the_forms_are_an_orthonormal_part_of_all():
    true = mixed(0)
    pseudo = pseudo_likelihood(encode(rows_of(true, 60, 0)), true.graph)
    within = Restricted(Sharpened(pseudo), pseudo.layout)
    numbers = pseudo.layout.numbers(np.random.default_rng(1).normal(size=pseudo.layout.size))
    inside = within.inside(numbers)
    np.testing.assert_allclose(within.numbers(inside), numbers, atol=1e-12)
    assert np.linalg.norm(inside) == pytest.approx(np.linalg.norm(numbers))


def reversed_column(table, v):
    """The same table with the states of a column in the other order."""
    codes = table.codes.copy()
    codes[:, v] = table.n_states[v] - 1 - codes[:, v]
    column = table.columns[v]
    states = tuple(reversed(column.states))
    scores = None if column.scores is None else tuple(-s for s in reversed(column.scores))
    columns = list(table.columns)
    columns[v] = replace(column, states=states, scores=scores)
    return replace(table, codes=codes, columns=tuple(columns))


def scored_as(table, v, scores):
    columns = list(table.columns)
    columns[v] = replace(columns[v], scores=tuple(scores))
    return replace(table, columns=tuple(columns))


def test_reversing_the_states_of_a_column_changes_signs_alone():
    true = mixed(4)
    table = scored_as(encode(rows_of(true, 500, 4)), 0, [0.0, 1.0, 4.0, 5.5])
    model = fit_with_errors(table, true.graph)
    turned = fit_with_errors(reversed_column(table, 0), true.graph)
    for pair in model.couplings:
        flipped = turned.couplings[pair][::-1] if 0 in pair else turned.couplings[pair]
        np.testing.assert_allclose(flipped, model.couplings[pair], atol=1e-8)
    before, after = model.per_step("x0", "x1"), turned.per_step("x0", "x1")
    assert float(after.log_odds) == pytest.approx(-float(before.log_odds), abs=1e-8)
    assert float(after.error) == pytest.approx(float(before.error), rel=1e-6)
    assert model.graph.pairs[0] == (0, 1)
    assert model.graph.links[0].sign == -turned.graph.links[0].sign != 0


def test_shifted_and_scaled_scores_give_the_same_model_in_another_unit():
    true = mixed(5)
    table = scored_as(encode(rows_of(true, 500, 5)), 0, [0.0, 1.0, 4.0, 5.5])
    other = scored_as(table, 0, [18.0, 21.0, 30.0, 34.5])  # 18 + 3 times these
    one, same = fit_with_errors(table, true.graph), fit_with_errors(other, true.graph)
    for pair in one.couplings:
        np.testing.assert_allclose(one.couplings[pair], same.couplings[pair], atol=1e-9)
    before, after = one.per_step("x0", "x1"), same.per_step("x0", "x1")
    assert float(before.log_odds) == pytest.approx(3 * float(after.log_odds), rel=1e-6)
    assert float(before.error) == pytest.approx(3 * float(after.error), rel=1e-6)
    assert float(before.theta) == pytest.approx(float(after.theta), rel=1e-6)


def test_separated_rows_leave_a_product_unbounded():
    low = np.repeat([0, 1, 2], 40)
    rows = pd.DataFrame({"a": low, "b": low, "c": np.tile([0, 1, 2], 40)})
    graph = graph_with(("a", "b", "c"), {(0, 1): "product", (1, 2): "product"})
    model = fit_with_errors(encode(rows), graph)
    assert model.unbounded == {(0, 1)}
    assert model.per_step("a", "b").error is None
    assert model.per_step("b", "c").error is not None
    assert np.isfinite(model.couplings[0, 1]).all()


def test_a_missing_value_has_no_score_in_the_model():
    true = mixed(6)
    rows = rows_of(true, 400, 6).astype(object)
    rows.iloc[::9, 0] = None
    rows.iloc[::7, 1] = None
    table = encode(rows, missing="available")
    assert table.n_states[0] == 5
    model = fit_model(table, true.graph)
    assert model.n_states == true.n_states
    assert model.forms == true.forms
    assert model.scores[0] == (0.0, 1.0, 2.0, 3.0)


def coverage(truth, rows, tables):
    """The share of 95 % intervals that have the truth, of products and of trends."""
    hits, true = [], truth.steps()["log_odds"].to_numpy()
    for seed in range(tables):
        model = fit_with_errors(encode(rows_of(truth, rows, seed)), truth.graph)
        found = model.steps()
        hits.append((found["low"] <= true) & (true <= found["high"]))
    return float(np.mean(hits))


def test_intervals_per_step_cover_the_truth():
    truth = mixed(7, coupling=0.35)
    share = coverage(truth, 600, 40)
    assert 0.91 < share < 0.985  # 7 intervals of 40 tables: 0.95 with an error of about 0.013


@pytest.mark.long
def test_intervals_per_step_cover_the_truth_at_length():
    graph = simulate.random_regular(10, 3, seed=1)
    truth = simulate.ordinal(graph, 5, coupling=(0.1, 0.4), intercept=0.5, unordered=[3], seed=1)
    share = coverage(truth, 800, 500)
    assert 0.94 < share < 0.96


def test_columns_keep_their_scores():
    assert Column("a", (1, 2, 3), True, scores=(0.0, 1.0, 9.0)).keep(np.array([0, 2])).scores == (
        0.0,
        9.0,
    )
