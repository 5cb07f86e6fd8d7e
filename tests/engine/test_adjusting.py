"""Columns that are adjusted for: in every conditional from the start, in no graph."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

import isinglass as ig
from both_ends_reference import plain_statistic
from engine.adversarial import case
from engine.agreement import as_table, assert_same_choices, assert_same_column, settings_of
from isinglass.core import both_ends
from isinglass.engine import graph_key, learn_neighbourhoods
from isinglass.engine.constraints import Constraints
from isinglass.engine.native import learn_native
from isinglass.engine.readable import learn_readable, node_loss
from isinglass.table import encode
from isinglass.table.table import Table


def set_aside(table: Table, last: int) -> Table:
    p = len(table.columns)
    return table.narrow(tuple(range(p - last, p)))


@pytest.mark.parametrize("seed", [seed for seed in range(60) if len(case(seed).codes) < 400][:16])
def test_the_core_does_what_the_readable_solver_does(seed):
    """With weights, ties, zero cells, constant and equal columns: all that `adversarial` draws."""
    drawn = case(seed)
    p = drawn.codes.shape[1]
    if p < 3:
        return
    table = set_aside(as_table(drawn), 1 + seed % 2)
    own = len(table.columns)
    rng = np.random.default_rng(seed)
    scales = rng.uniform(0.8, 2.0, (own, own))
    scales = (scales + scales.T) / 2 if seed % 3 == 0 else None
    free = Constraints.of_pairs([(0, 1)] if seed % 4 == 0 else [], [])
    settings = settings_of(drawn) | {"threads": 1, "constraints": free, "scales": scales}
    native = learn_native(table, drawn.threshold, check=True, **settings)
    readable = learn_readable(table, drawn.threshold, **settings)
    assert len(native) == len(readable) == own
    for r in range(own):
        assert_same_column(native, readable, r)
        one, two = native.path(r), readable.path(r)
        assert one.required == two.required
        assert one.start.always.keys() == two.start.always.keys()
        assert all(t >= own for t in one.start.always)
        assert all(t < own for step in one.steps for t in step.support)
    assert_same_choices(native, readable, drawn.threshold)


def test_it_is_the_search_with_required_neighbours():
    """Steps, gains and losses are those of a wide table in which every column requires the last."""
    drawn = next(case(seed) for seed in range(100) if 4 <= case(seed).codes.shape[1] <= 8)
    wide = as_table(drawn)
    p = len(wide.columns) - 1
    table = set_aside(wide, 1)
    pairs = [(r, p) for r in range(p)]
    settings = settings_of(drawn) | {"max_degree": None, "threads": 1}
    adjusted = learn_native(table, drawn.threshold, **settings)
    required = learn_native(
        wide, drawn.threshold, constraints=Constraints.of_pairs(pairs), **settings
    )
    for r in range(p):
        one, two = adjusted.path(r), required.path(r)
        assert [(s.kind, s.variable, s.gain, s.loss) for s in one.steps] == [
            (s.kind, s.variable, s.gain, s.loss) for s in two.steps
        ]


def test_the_statistic_of_both_ends_is_its_definition():
    states = (3, 2, 2, 3)
    field = ig.simulate.potts(ig.simulate.star(4, 3), list(states)[::-1], coupling=0.5, seed=1)
    codes = field.sample_codes(300, seed=2)[:, ::-1]
    weights = np.random.default_rng(0).integers(1, 3, len(codes)).astype(float)
    pairs, beside = [(0, 1), (1, 2)], [(0, 3), (1, 3), (2, 3)]
    found, *_ = both_ends(codes, weights, states, pairs, intercept=True, threads=1, adjusted=1)
    plain = [plain_statistic(codes, weights, states, [*pairs, *beside], e, True) for e in pairs]
    np.testing.assert_allclose(found, plain, rtol=2e-5, atol=1e-6)


@pytest.fixture(scope="module")
def table():
    """Items in a chain, a column of three states that moves all of them, and weights."""
    rng = np.random.default_rng(3)
    z = rng.integers(0, 3, 700)
    a = rng.random(700) < 0.3 + 0.2 * z
    b = np.where(rng.random(700) < 0.7, a, rng.random(700) < 0.2 + 0.3 * z)
    c = np.clip(b + rng.integers(-1, 2, 700) + (z == 2), 0, 2)
    d = rng.random(700) < 0.8 - 0.3 * z
    codes = np.column_stack([a, b, c, d, z]).astype(int)
    return encode(codes, rng.integers(1, 3, 700), adjust=[4])


def test_evidence_is_a_likelihood_ratio_with_all_else_refitted(table):
    est = ig.GreedyGraph(adjust=[4]).fit(table.wide.codes, sample_weight=table.weights)
    values = est._edge_values
    pairs = [(0, 1), (1, 2)]
    values(pairs)
    for (r, t), found in values.expected[graph_key(pairs, None)].items():
        loss = node_loss(table.wide, r)
        others = {0: [1], 1: [0, 2], 2: [1]}[r]
        full = loss.fit([*others, 4]).loss
        assert found.fitted == pytest.approx(full, abs=1e-8)
        without = loss.fit([*(s for s in others if s != t), 4]).loss
        assert found.without == pytest.approx(without, abs=1e-8)


def plain_pseudo(table, pairs):
    """Minus the pseudo-log-likelihood of single rows in plain reference coding; and its size."""
    codes, states, p = table.wide.codes.astype(int), table.wide.n_states, len(table.columns)
    z = np.eye(states[p])[codes[:, p]][:, 1:]
    sizes = [states[r] - 1 for r in range(p)]
    sizes += [(states[i] - 1) * (states[j] - 1) for i, j in pairs]
    sizes += [(states[r] - 1) * (states[p] - 1) for r in range(p)]
    ends = np.cumsum([0, *sizes])
    own = [np.eye(m)[codes[:, r]][:, 1:] for r, m in enumerate(states[:p])]

    def rows(x):
        parts = [x[a:b] for a, b in pairwise(ends)]
        total = np.zeros(len(codes))
        for r in range(p):
            m = states[r] - 1
            scores = parts[r] + z @ parts[p + len(pairs) + r].reshape(-1, m)
            for e, (i, j) in enumerate(pairs):
                block = parts[p + e].reshape(states[i] - 1, states[j] - 1)
                if r == i:
                    scores = scores + own[j] @ block.T
                elif r == j:
                    scores = scores + own[i] @ block
            full = np.column_stack([np.zeros(len(codes)), scores])
            total += np.log(np.exp(full).sum(axis=1)) - full[np.arange(len(codes)), codes[:, r]]
        return total

    places = {pair: slice(ends[p + e], ends[p + e + 1]) for e, pair in enumerate(pairs)}
    return rows, int(ends[-1]), places, ends[:p]


def test_the_model_and_its_errors_are_those_of_plain_optimisation(table):
    """Sandwich errors by differences, in another coding than the package's own."""
    codes, weights = table.wide.codes, table.weights
    pairs = [(0, 1), (1, 2)]
    est = ig.GreedyGraph(adjust=[4], require=pairs, n_eff="kish", edges="table")
    est.fit(codes, sample_weight=weights)
    est.graph_ = est.graph_.__class__(
        est.table_.names, [link for link in est.graph_.links if (link.source, link.target) in pairs]
    )
    model = ig.with_errors(est)
    narrow = est.table_
    rows, size, places, firsts = plain_pseudo(narrow, pairs)
    w = narrow.weights

    def value(x):
        return w @ rows(x) / w.sum()

    best = minimize(value, np.zeros(size), method="BFGS", options={"gtol": 1e-9}).x
    step = 1e-4
    unit = np.eye(size) * step
    scores = np.array([(rows(best + u) - rows(best - u)) / (2 * step) for u in unit]).T

    def slope(x):
        return np.array([(value(x + u) - value(x - u)) / (2 * step) for u in unit])

    bread = np.array([(slope(best + u) - slope(best - u)) / (2 * step) for u in unit])
    inverse = np.linalg.inv(bread)
    filling = (scores * w[:, None]).T @ (scores * w[:, None])
    n = len(w)
    covariance = n / (n - 1) * inverse @ filling @ inverse / w.sum() ** 2
    for pair in pairs:
        edge = model.edge(*(model.names[v] for v in pair))
        shape = tuple(m - 1 for m in edge.values.shape)
        values = best[places[pair]].reshape(shape)
        np.testing.assert_allclose(edge.values[1:, 1:], values, atol=2e-4)
        plain = np.sqrt(np.diag(covariance))[places[pair]].reshape(shape)
        np.testing.assert_allclose(edge.error[1:, 1:], plain, rtol=1e-3)
    # At a state of what is adjusted for, intercepts are those of plain reference coding.
    at_first = model.given({"x4": 0})
    for r, first in enumerate(firsts):
        tables = [t[0] for t in model.tables_of(r).values()]  # with all neighbours in state 0
        own = np.sum([at_first.intercepts[r], *tables], axis=0)
        m = len(own) - 1
        np.testing.assert_allclose(own[1:] - own[0], best[first : first + m], atol=2e-4)


def test_the_order_of_rows_and_columns_does_not_matter(table):
    codes = table.wide.codes
    est = ig.GreedyGraph(adjust=["x4"]).fit(codes)
    moved = ig.GreedyGraph(adjust=["x0"]).fit(codes[::-1, [4, 0, 1, 2, 3]])
    assert [link.evidence for link in est.graph_] == pytest.approx(
        [link.evidence for link in moved.graph_]
    )
    assert moved.graph_.names == ("x1", "x2", "x3", "x4")
    assert moved.n_features_in_ == 5
    assert est.score(codes) == pytest.approx(moved.score(codes[:, [4, 0, 1, 2, 3]]))


def test_a_weight_of_two_is_two_rows(table):
    codes, copies = table.wide.codes, table.weights.astype(int)
    counted = ig.GreedyGraph(adjust=[4]).fit(codes, sample_weight=copies)
    written = ig.GreedyGraph(adjust=[4]).fit(np.repeat(codes, copies, axis=0))
    assert counted.graph_ == written.graph_
    np.testing.assert_allclose(
        [link.evidence for link in counted.graph_], [link.evidence for link in written.graph_]
    )


def test_a_constant_column_to_adjust_for_changes_nothing(table):
    codes = np.column_stack([table.codes, np.zeros(len(table.codes), int)])
    est = ig.GreedyGraph(adjust=[4]).fit(codes)
    plain = ig.GreedyGraph().fit(table.codes)
    assert est.graph_.links == plain.graph_.links
    assert est.score(codes) == pytest.approx(plain.score(table.codes))
    assert est.model_.couplings.keys() == plain.model_.couplings.keys()


def test_gains_hold_what_is_adjusted_for_and_refits_do_not(table):
    runs = learn_neighbourhoods(table, 1e-3, n_jobs=1)
    step, loss = runs.path(0).steps[0], node_loss(table.wide, 0)
    start = loss.fit([4])
    gain = loss.gains(start, [(step.variable,)])[0]
    assert step.loss == pytest.approx(loss.fit([step.variable, 4]).loss, abs=1e-9)
    assert step.loss <= start.loss - gain + 1e-9


def test_a_part_of_the_rows_keeps_what_they_are_adjusted_for(table):
    rows = np.flatnonzero(table.adjusted.codes[:, 0] > 0)
    part, kept = table.with_rows(
        table.codes[rows], table.weights[rows], None, table.adjusted_of(rows)
    )
    assert part.adjusted.columns[0].states == (1, 2)
    assert kept[-1].tolist() == [1, 2]
    assert (part.wide.codes[:, 4] + 1 == table.wide.codes[rows, 4]).all()
    with pytest.raises(ValueError, match="dimension"):  # rows that do not belong together
        _ = replace(table, codes=table.codes[rows]).wide


@pytest.mark.parametrize("edges", ["auto", "scores"])
def test_what_is_adjusted_for_has_whole_tables_whatever_forms_edges_have(table, edges):
    runs = learn_neighbourhoods(table, 1e-3, n_jobs=1, solver="readable", edges=edges)
    for r in range(4):
        path = runs.path(r)
        assert path.start.always.keys() == {4}
        assert all(step.variable != 4 and 4 not in step.fit.forms for step in path.steps)
        start = node_loss(table.wide, r).fit([4])
        np.testing.assert_allclose(path.start.always[4], start.coef[4], atol=1e-6)
    forms = {form for r in range(4) for form in runs.path(r).final.forms.values()}
    assert forms == ({"product"} if edges == "scores" else set())


@pytest.mark.parametrize("edges", ["auto", "scores"])
@pytest.mark.parametrize("seed", range(4))
def test_the_core_does_the_same_with_forms(seed, edges):
    rng = np.random.default_rng(seed)
    n, states = 400, rng.integers(2, 6, 5)
    age = rng.integers(0, 4, n)
    hidden = rng.normal(size=(n, 5)) + 0.5 * age[:, None]
    hidden[:, 1:] += 0.8 * hidden[:, :-1]
    of_columns = zip(hidden.T, states, strict=True)
    columns = [np.digitize(h, np.quantile(h, np.arange(1, m) / m)) for h, m in of_columns]
    table = encode(np.column_stack([*columns, age]), adjust=[5])
    settings = {"n_jobs": 1, "edges": edges, "max_degree": 2 if seed == 3 else None}
    native = learn_neighbourhoods(table, 2e-3, **settings)
    readable = learn_neighbourhoods(table, 2e-3, solver="readable", **settings)
    for r in range(5):
        assert_same_column(native, readable, r)
        assert native.path(r).start.always.keys() == readable.path(r).start.always.keys() == {5}
