"""The slow definition against other people's code, quadrature and numbers worked by hand."""

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax

from instances import KINDS, instance
from reference import RIDGE, TIE, Node, choose, contrasts, minimise, search, standardise

DENSE = [(2, 2, 2), (2, 3, 4), (3, 2, 2), (4, 3, 2)]  # states of y and of two neighbours


def ones(codes):
    return np.ones(len(codes), int)


def dense(states, seed=0):
    """Return a table in which every pair of states occurs, and its weights."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, m, 300) for m in states])
    for t in (1, 2):
        copied = rng.random(300) < 0.3
        codes[copied, 0] = codes[copied, t] % states[0]
    return codes, rng.integers(1, 4, 300)


def entropy(*shares):
    return -sum(share * np.log(share) for share in shares)


def search_all(made, **changes):
    """Search all nodes of an instance, with some settings changed."""
    settings = {"threshold": made.threshold, "nu": made.nu, "intercept": made.intercept}
    columns = range(made.codes.shape[1])
    return [search(made.codes, made.weights, r, **(settings | changes)) for r in columns]


# The one-parameter equivalent


@pytest.mark.parametrize("df", [2, 3, 4, 9, 18, 72, 400])
@pytest.mark.parametrize("chi2", [0.5, 5, 40, 500, 1e4, 1e6])
def test_standardise_has_the_same_log_tail_by_quadrature(chi2, df):
    n = 1000
    equivalent = standardise(chi2 / (2 * n), df, n)
    with mpmath.workdps(40):
        half, x = mpmath.mpf(df) / 2, mpmath.mpf(chi2) / 2
        cuts = [0, 1, 10, 50, 100, 200, 400, 1000]
        rest = mpmath.quad(lambda u: (x + u) ** (half - 1) * mpmath.exp(-u), cuts)
        given = mpmath.log(rest) - x - mpmath.loggamma(half)
        z = mpmath.sqrt(n * mpmath.mpf(equivalent))
        rest = mpmath.quad(lambda u: mpmath.exp(-2 * z * u - u * u), [0, 0.01, 0.1, 1, 5, 20])
        found = mpmath.log(rest * 2 / mpmath.sqrt(mpmath.pi)) - z * z
        assert abs(found - given) < 1e-13 * (1 + abs(given))


@pytest.mark.parametrize(("chi2", "df"), [(0.01, 2), (0.5, 3), (2, 9), (5, 18), (40, 72)])
def test_standardise_has_the_same_lower_tail_by_quadrature(chi2, df):
    equivalent = standardise(chi2 / 200, df, 100)
    with mpmath.workdps(40):
        half, x = mpmath.mpf(df) / 2, mpmath.mpf(chi2) / 2
        given = mpmath.quad(lambda t: 2 * t ** (df - 1) * mpmath.exp(-t * t), [0, mpmath.sqrt(x)])
        z = mpmath.sqrt(100 * mpmath.mpf(equivalent))
        found = mpmath.quad(lambda t: 2 * mpmath.exp(-t * t), [0, z]) / mpmath.sqrt(mpmath.pi)
        assert abs(found / (given / mpmath.gamma(half)) - 1) < 1e-13


def test_standardise_by_hand():
    assert standardise(0.123, 1, 50) == 0.123
    assert standardise(0.0, 7, 50) == 0.0
    assert standardise(-1e-17, 7, 50) == 0.0
    # chi2_2 has the tail exp(-x/2); 3.841458820694124 is the 5 % point of chi2_1.
    gain = -np.log(0.05) / 100
    assert standardise(gain, 2, 100) == pytest.approx(3.841458820694124 / 200, abs=1e-15)


def test_standardise_rises_and_never_exceeds_the_gain():
    gains = np.geomspace(1e-6, 10, 60)
    for df in (2, 5, 18, 324):
        values = np.array([standardise(gain, df, 500) for gain in gains])
        assert (np.diff(values) >= 0).all()
        assert (values < gains).all()


# Refits


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("states", DENSE)
def test_refit_agrees_with_statsmodels(states, intercept):
    from statsmodels.discrete.discrete_model import MNLogit

    codes, weights = dense(states)
    fit = Node(codes, weights, 0, intercept).refit((1, 2))
    rows = np.repeat(codes, weights, axis=0)
    blocks = [contrasts(m)[rows[:, t]] for t, m in enumerate(states) if t > 0]
    design = np.hstack([np.ones((len(rows), int(intercept))), *blocks])
    other = MNLogit(rows[:, 0], design).fit(method="newton", disp=False, tol=1e-12)
    assert fit.loss == pytest.approx(-other.llf / len(rows), abs=1e-12)
    for t, table in fit.tables.items():
        assert table.shape == (states[0], states[t])
        np.testing.assert_allclose(table.sum(axis=0), 0, atol=1e-13)
        np.testing.assert_allclose(table.sum(axis=1), 0, atol=1e-13)


def test_refit_predicts_with_its_tables_and_field():
    codes, weights = dense((3, 2, 4))
    fit = Node(codes, weights, 0).refit((2, 1))
    predictor = fit.field + fit.tables[1].T[codes[:, 1]] + fit.tables[2].T[codes[:, 2]]
    rows = log_softmax(predictor, axis=1)[np.arange(300), codes[:, 0]]
    assert fit.loss == pytest.approx(-np.average(rows, weights=weights), abs=1e-14)
    assert fit.support == (1, 2)


@pytest.mark.parametrize("intercept", [True, False])
def test_refit_of_a_separated_pair_stops_where_the_ridge_does(intercept):
    codes = np.repeat([[0, 0], [1, 1]], 7, axis=0)
    fit = Node(codes, ones(codes), 0, intercept).refit((1,))
    # Entries +-w give the loss log(1 + exp(-2 w)) + 1e-8/2 * 4 w^2.
    w = brentq(lambda w: 2 * RIDGE * w - 1 / (1 + np.exp(2 * w)), 1, 30, xtol=1e-14)
    np.testing.assert_allclose(fit.tables[1], [[w, -w], [-w, w]], atol=1e-7)
    assert fit.loss == pytest.approx(np.log1p(np.exp(-2 * w)), abs=1e-14)


def test_refit_shares_an_effect_between_equal_columns():
    codes, weights = dense((2, 3, 2))
    node = Node(codes[:, [0, 1, 1]], weights, 0)
    one, both = node.refit((1,)), node.refit((1, 2))
    assert both.loss == pytest.approx(one.loss, abs=1e-12)
    np.testing.assert_allclose(both.tables[1], both.tables[2], atol=1e-7)
    np.testing.assert_allclose(both.tables[1] * 2, one.tables[1], atol=1e-6)


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_refit_is_stationary_and_the_ridge_ignores_labels(seed):
    made = instance(seed)
    p = made.codes.shape[1]
    relabelled = made.codes.max() - made.codes
    for r in range(min(p, 3)):
        node = Node(made.codes, made.weights, r, made.intercept)
        fit = node.refit(set(range(p)) - {r})
        residual = np.exp(log_softmax(fit.predictor, axis=1)) - np.eye(node.m)[node.y]
        for t, table in fit.tables.items():
            score = node.weights * residual.T @ np.eye(node.states[t])[node.columns[t]]
            score -= score.mean(axis=0)
            score -= score.mean(axis=1, keepdims=True)
            np.testing.assert_allclose(score, -RIDGE * table, atol=2e-15)
        if made.intercept:
            np.testing.assert_allclose(node.weights @ residual, 0, atol=2e-15)
        other = Node(relabelled, made.weights, r, made.intercept).refit(fit.support)
        assert other.loss == pytest.approx(fit.loss, abs=1e-13)
        for t, table in fit.tables.items():
            np.testing.assert_allclose(other.tables[t][::-1, ::-1], table, atol=1e-6)


# Gains and costs


def free_table(theta, shape):
    """Return the zero-sum table with free entries theta in all but the last row and column."""
    table = np.zeros(shape)
    table[:-1, :-1] = theta.reshape(shape[0] - 1, shape[1] - 1)
    table -= table.mean(axis=0)
    return table - table.mean(axis=1, keepdims=True)


def brute_minimum(node, offset, shape):
    """Minimise the plain loss over the field and a zero-sum table of column 1, blindly."""
    fields = shape[0] - 1 if node.intercept else 0

    def loss(theta):
        field = np.append(theta[:fields], np.zeros(shape[0] - fields))
        table = free_table(theta[fields:], shape) if shape[1] > 1 else np.zeros((shape[0], 99))
        predictor = offset + field + table.T[node.columns[1]]
        rows = log_softmax(predictor, axis=1)[np.arange(len(node.y)), node.y]
        return -node.weights @ rows

    start = np.zeros(fields + (shape[0] - 1) * (shape[1] - 1))
    if not len(start):
        return loss(start)
    options = {"gtol": 1e-7, "maxiter": 5000}
    return minimize(loss, start, jac="3-point", method="BFGS", options=options).fun


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("states", DENSE)
def test_gain_agrees_with_blind_minimisation(states, intercept):
    codes, weights = dense(states)
    node = Node(codes, weights, 0, intercept)
    fit = node.refit((2,))
    brute = fit.loss - brute_minimum(node, fit.predictor, states[:2])
    assert node.gain(fit, 1) == pytest.approx(brute, abs=1e-10)
    assert node.gain(fit, 1) > 1e-3


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("states", DENSE)
def test_cost_agrees_with_blind_minimisation(states, intercept):
    codes, weights = dense(states)
    node = Node(codes, weights, 0, intercept)
    fit = node.refit((1, 2))
    offset = fit.predictor - fit.tables[1].T[codes[:, 1]]
    brute = brute_minimum(node, offset, (states[0], 1)) - fit.loss
    assert node.cost(fit, 1) == pytest.approx(brute, abs=1e-10)
    assert node.cost(fit, 1) > 1e-3


def test_gain_of_an_equal_column_is_the_entropy():
    codes = np.repeat([[0, 1, 0], [1, 0, 2], [1, 0, 1]], [3, 5, 8], axis=0)
    node = Node(codes, ones(codes), 0)
    empty = node.refit(())
    assert node.gain(empty, 1) == pytest.approx(entropy(3 / 16, 13 / 16), abs=1e-15)
    assert node.gain(empty, 2) == pytest.approx(entropy(3 / 16, 13 / 16), abs=1e-15)
    full = node.refit((1,))
    assert 0 < full.loss < 1e-6
    assert node.gain(full, 2) == pytest.approx(full.loss, abs=1e-15)
    assert node.cost(full, 1) == pytest.approx(entropy(3 / 16, 13 / 16) - full.loss, abs=1e-15)


def test_gain_with_one_empty_cell_is_the_limit():
    codes = np.array([[0, 0], [0, 0], [0, 1], [1, 1]])
    node = Node(codes, ones(codes), 0)
    expected = entropy(1 / 4, 3 / 4) - np.log(2) / 2  # x_1 = 0 costs nothing in the limit
    assert node.gain(node.refit(()), 1) == pytest.approx(expected, abs=1e-15)


def test_gain_without_a_field_by_hand():
    codes = np.array([[0, 0], [0, 0], [0, 1], [1, 1]])
    node = Node(codes, ones(codes), 0, intercept=False)
    # Three rows agree and one does not, whatever their states: a coin of 3/4.
    expected = np.log(2) - entropy(1 / 4, 3 / 4)
    assert node.gain(node.refit(()), 1) == pytest.approx(expected, abs=1e-14)
    equal = Node(codes[:, [0, 0]], ones(codes), 0, intercept=False)
    assert equal.gain(equal.refit(()), 1) == pytest.approx(np.log(2), abs=1e-15)


@pytest.mark.parametrize("seed", range(40))
def test_gain_without_a_field_is_the_limit_of_vanishing_ridges(seed):
    rng = np.random.default_rng(seed)
    m, k = rng.integers(2, 5, 2)
    empty = rng.random((m, k)) < rng.choice([0.3, 0.6])
    cells = np.argwhere(~empty)
    if not len(cells):
        cells = np.array([[0, 0]])
    codes = np.column_stack([cells[rng.integers(len(cells), size=40)], rng.integers(0, 2, 40)])
    node = Node(codes, ones(codes), 0, intercept=False)
    fit = node.refit((2,))
    design = node.block_design(1)
    losses = []
    for ridge in (1e-12, 1e-15):
        theta = minimise(
            design, fit.predictor, node.y, node.weights, np.full(design.shape[2], ridge)
        )
        rows = log_softmax(fit.predictor + design @ theta, axis=1)[np.arange(40), node.y]
        losses.append(-node.weights @ rows)
    gain = node.gain(fit, 1)
    assert gain >= fit.loss - losses[1] - 1e-14
    assert gain == pytest.approx(fit.loss - losses[1], abs=2e-12)
    assert gain == pytest.approx(fit.loss - losses[0], abs=2e-9)


# The search


def test_choose_takes_the_lowest_of_equals_and_knows_close_calls():
    assert choose({1: 0.5, 3: 0.5 + 0.9 * TIE, 4: 0.1})[0] == 1
    assert choose({1: 0.5, 3: 0.5 + 1.1 * TIE, 4: 0.1})[0] == 3
    assert choose({1: 0.5, 3: 0.5 + 1.1 * TIE})[1] == pytest.approx(0.1 * TIE, rel=1e-6)
    assert choose({1: 0.5, 3: 0.5 + 1e-15})[1] == np.inf
    assert choose({1: 0.5, 3: 0.4999999999, 4: 0.2}) == (1, np.inf)
    assert choose({1: 0.25, 3: 0.5})[1] == pytest.approx(0.25)


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_search_keeps_its_promises(seed):
    made = instance(seed)
    for r, path in enumerate(search_all(made)):
        node = Node(made.codes, made.weights, r, made.intercept)
        fits = [path.start, *path]
        delta = {}
        for before, step in zip(fits[:-1], path, strict=True):
            if step.kind == "add":
                assert step.gain > made.threshold
                assert step.loss < before.loss + 1e-7
                delta[len(step.support)] = step.gain
            else:
                assert step.gain <= made.nu * delta[len(before.support)]
        left = [
            fit.support for fit, step in zip(fits[:-1], path, strict=True) if step.kind == "add"
        ]
        assert len(set(left)) == len(left)
        last = fits[-1]
        costs = [node.standardised(node.cost(last, j), j) for j in last.support]
        if costs and not path.guarded:
            assert min(costs) > made.nu * delta[len(last.support)]


@pytest.mark.parametrize("seed", range(0, 2 * len(KINDS), 3))
def test_a_larger_threshold_gives_a_prefix(seed):
    made = instance(seed)
    threshold = 4 * made.threshold
    for long, short in zip(search_all(made), search_all(made, threshold=threshold), strict=True):
        weak = [i for i, s in enumerate(long) if s.kind == "add" and s.gain <= threshold]
        prefix = long[: weak[0]] if weak else list(long)
        assert [(s.kind, s.variable, s.gain) for s in short] == [
            (s.kind, s.variable, s.gain) for s in prefix
        ]


@pytest.mark.long
def test_backward_steps_and_the_guard_act_on_the_kinds_made_for_them():
    kinds = list(KINDS)

    def paths(kind, count):
        seeds = range(kinds.index(kind), count * len(kinds), len(kinds))
        return [search_all(instance(seed)) for seed in seeds]

    dropped = [
        any(s.kind == "drop" for path in made for s in path) for made in paths("noisy summary", 4)
    ]
    assert sum(dropped) >= 3
    assert sum(any(path.guarded for path in made) for made in paths("nineteen states", 6)) >= 2


def test_a_support_may_be_reached_twice_in_the_binary_case_too():
    made = instance(61)
    assert set(made.codes.ravel()) == {0, 1}
    path = search(made.codes, made.weights, 0, made.threshold, made.nu)
    assert path.margin > 1e-7
    # Reached, at once given up by removals, and reached again: never left by a forward step.
    assert [s.kind for s in path if s.support == (1, 2, 3, 4, 5)] == ["add", "add"]
    assert [s.variable for s in path if s.kind == "drop"] == [5, 3]


def test_exact_ties_go_to_the_lowest_column():
    made = instance(list(KINDS).index("exchangeable columns"))
    paths = search_all(made, threshold=1e-6)
    assert [path[0].variable for path in paths] == [1, *[0] * (len(paths) - 1)]
    assert min(path.margin for path in paths) > 1e-9


def test_weights_are_copies_and_weight_zero_is_no_row():
    made = instance(list(KINDS).index("mixed, weights"))
    copies = np.repeat(made.codes, made.weights, axis=0)
    for r, path in enumerate(search_all(made)):
        other = search(copies, ones(copies), r, made.threshold, made.nu)
        assert [s.variable for s in path] == [s.variable for s in other]
        np.testing.assert_allclose(
            [(s.gain, s.loss) for s in path], [(s.gain, s.loss) for s in other], atol=1e-13
        )


def test_max_degree_stops_the_forward_step():
    made = instance(list(KINDS).index("binary"))
    for path, short in zip(search_all(made), search_all(made, max_degree=1), strict=True):
        assert [s.variable for s in short] == [s.variable for s in path[: len(short)]]
        assert all(len(s.support) <= 1 for s in short)
    assert not any(search_all(made, max_degree=0))


def test_constant_columns_and_single_rows_have_empty_paths():
    codes = np.array([[0, 0, 1], [1, 0, 0], [1, 0, 1], [0, 0, 0]])
    assert search(codes, ones(codes), 1, 1e-6, 0.5) == []
    assert all(s.variable != 1 for s in search(codes, ones(codes), 0, 1e-9, 0.5))
    only = search(codes[:1], np.ones(1), 0, 1e-6, 0.5)
    assert only == []
    assert only.start.loss == 0
    assert only.margin == np.inf
