"""The penalised regressions: optimal, equal to other solvers', the same however reached."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import isinglass as ig
from instances import instance, sample
from isinglass.rivals.paths import largest_penalty, learn_paths
from isinglass.table import encode
from reference import Node, log_softmax
from rival_references import distance_from_optimal, edge_weight, group_lasso, predictor_of
from selections import mostly_long


def learn(codes, lambdas, weights=None, *, intercept=True, scales=None, threads=1):
    table = encode(codes, weights)
    scales = np.ones(len(table.columns)) if scales is None else scales
    return learn_paths(
        table, np.asarray(lambdas, float), scales=scales, intercept=intercept, threads=threads
    )


def ising(n=300, p=8, seed=0, strength=0.6) -> np.ndarray:
    return sample(np.random.default_rng(seed), [2] * p, n, strength)


@pytest.mark.parametrize("seed", mostly_long(range(60), 30))
def test_fits_are_optimal_on_awkward_tables(seed):
    case = instance(seed)
    largest = largest_penalty(
        encode(case.codes, case.weights),
        scales=np.ones(case.codes.shape[1]),
        intercept=case.intercept,
        threads=1,
    )
    lambdas = (largest or 1.0) * np.array([1.0001, 0.5, 0.2, 0.05])
    paths = learn(case.codes, lambdas, case.weights, intercept=case.intercept)
    for r in range(len(paths)):
        node = Node(case.codes, case.weights, r, case.intercept)
        for k, penalty in enumerate(lambdas):
            field, tables = paths.fit(r, k)
            assert distance_from_optimal(node, penalty, field, tables) < 1e-7
            loss = (
                -node.weights
                @ log_softmax(predictor_of(node, field, tables))[np.arange(len(node.y)), node.y]
            )
            assert paths.losses[r, k] == pytest.approx(loss, abs=1e-10)
            for table in [field[:, None], *tables.values()]:
                np.testing.assert_allclose(table.sum(axis=0), 0, atol=1e-12)
    assert paths.edge_counts()[:, 0].sum() == 0


@pytest.mark.parametrize("seed", [1, 4, 7])
@pytest.mark.parametrize("intercept", [True, False])
def test_group_penalty_against_proximal_gradient(seed, intercept):
    codes = sample(np.random.default_rng(seed), [3, 2, 4, 3], 80)
    paths = learn(codes, [0.05], intercept=intercept)
    for r in range(4):
        node = Node(codes, np.ones(80), r, intercept)
        _, tables = paths.fit(r, 0)
        size = sum(0.05 * edge_weight(node, t) * np.linalg.norm(x) for t, x in tables.items())
        assert paths.losses[r, 0] + size == pytest.approx(group_lasso(node, 0.05), abs=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_two_states_against_scikit_learn(intercept):
    codes = ising(n=200, p=7)
    weights = np.random.default_rng(1).integers(1, 4, len(codes))
    spins, n = 2.0 * codes - 1, weights.sum()
    lambdas = [0.2, 0.05]
    paths = learn(codes, lambdas, weights, intercept=intercept)
    for r in range(7):
        others = np.delete(np.arange(7), r)
        for k, penalty in enumerate(lambdas):
            model = LogisticRegression(
                l1_ratio=1,
                solver="saga",
                C=2 / (n * penalty),
                tol=1e-9,
                max_iter=100_000,
                fit_intercept=intercept,
            )
            model.fit(spins[:, others], codes[:, r], sample_weight=weights)
            # Scikit-learn's coefficients are log odds: twice theta.
            theirs, field = model.coef_[0] / 2, model.intercept_[0] / 2
            u = spins[:, r] * (field + spins[:, others] @ theirs)
            value = weights @ np.log1p(np.exp(-2 * u)) / n + penalty * np.abs(theirs).sum()
            tables = paths.fit(r, k)[1]
            ours = np.array([tables[t][1, 1] if t in tables else 0.0 for t in others])
            least = paths.losses[r, k] + penalty * np.abs(ours).sum()
            assert least <= value + 1e-12
            if theirs.any():  # else saga stops at once, its intercept still far off
                assert value - least < 1e-5
            if not intercept:
                np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_two_states_are_the_smallest_case_of_many():
    """A column of three states sends a table to the general solver; the others stay as they are."""
    codes = ising(n=200, p=5)
    wider = np.column_stack([codes, np.arange(200) % 3])
    alone = learn(codes, [0.1, 0.03])
    heavy = np.append(np.ones(5), 1e6)  # the sixth column costs too much to be used
    beside = learn(wider, [0.1, 0.03], scales=heavy)
    for r in range(5):
        for k in range(2):
            field, tables = alone.fit(r, k)
            other_field, other_tables = beside.fit(r, k)
            np.testing.assert_allclose(field, other_field, atol=1e-7)
            assert tables.keys() == other_tables.keys()
            for t, table in tables.items():
                np.testing.assert_allclose(table, other_tables[t], atol=1e-7)


@pytest.mark.parametrize("states", [[2] * 8, [2, 3, 4, 2, 3]])
def test_warm_starts_change_nothing(states):
    codes = sample(np.random.default_rng(3), states, 250)
    lambdas = np.geomspace(0.3, 0.005, 12)
    path = learn(codes, lambdas)
    for k, penalty in enumerate(lambdas):
        alone = learn(codes, [penalty])
        for r in range(len(states)):
            assert path.support(r, k).tolist() == alone.support(r, 0).tolist()
            (field, tables), (field_alone, tables_alone) = path.fit(r, k), alone.fit(r, 0)
            np.testing.assert_allclose(field, field_alone, atol=1e-6)
            for t, table in tables.items():
                np.testing.assert_allclose(table, tables_alone[t], atol=1e-6)


def test_scales_multiply_penalties():
    codes = sample(np.random.default_rng(5), [3, 2, 4, 2], 150)
    scales = np.array([0.5, 2.0, 1.0, 3.0])
    paths = learn(codes, [0.05, 0.02], scales=scales)
    for r in range(4):
        node = Node(codes, np.ones(150), r)
        for k, penalty in enumerate(paths.lambdas):
            assert distance_from_optimal(node, penalty, *paths.fit(r, k), scales) < 1e-7


def test_largest_penalty_is_where_the_first_edge_comes_in():
    for states in ([2] * 6, [3, 2, 4, 2]):
        codes = sample(np.random.default_rng(2), states, 200)
        settings = {"scales": np.ones(len(states)), "intercept": True, "threads": 1}
        largest = largest_penalty(encode(codes), **settings)
        counts = learn(codes, [largest * 1.0001, largest * 0.999]).edge_counts().sum(axis=0)
        assert counts[0] == 0
        assert counts[1] > 0


def test_weights_are_copies_and_threads_change_nothing():
    codes = sample(np.random.default_rng(8), [2, 3, 2, 4], 60)
    weights = np.random.default_rng(9).integers(0, 4, 60)
    lambdas = [0.1, 0.01]
    weighted = learn(codes, lambdas, weights)
    copied = learn(np.repeat(codes, weights, axis=0), lambdas, threads=3)
    np.testing.assert_allclose(weighted.flat["numbers"], copied.flat["numbers"], atol=1e-6)
    np.testing.assert_array_equal(weighted.flat["support"], copied.flat["support"])


def test_paths_by_column():
    codes = sample(np.random.default_rng(8), [2, 3, 2], 60)
    paths = learn(codes, [0.1, 0.001])
    assert len(paths) == len(list(paths)) == len(paths[:]) == 3
    path = paths[1]
    assert path.supports[1] == (0, 2)
    assert path.coefs[1][0].shape == (3, 2)
    assert path.intercepts.shape == (2, 3)
    assert repr(path) == f"ColumnPath(2 penalties, {len(path.supports[0])} to 2 neighbours)"
    assert paths.parameter_counts()[:, 1].tolist() == [3, 4, 3]


def test_equal_columns_and_separation_have_an_answer():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 100)
    codes = np.column_stack([a, a, 1 - a, rng.integers(0, 2, 100), np.zeros(100, int)])
    paths = learn(codes, [0.1, 0.001])
    assert paths.distances.max() < 1e-7
    assert np.isfinite(paths.flat["numbers"]).all()
    assert paths.edge_counts()[4].tolist() == [0, 0]


def test_a_path_that_goes_on_is_the_whole_path():
    X = np.random.default_rng(3).integers(0, 3, (200, 4))
    X[:, 1] = np.where(X[:, 2] > 0, X[:, 0], X[:, 1])
    whole = ig.L1Graph(0.05, lambdas=[0.2, 0.1, 0.05, 0.02]).fit(X).paths_
    first, rest = (
        ig.L1Graph(some[0], lambdas=some).fit(X).paths_ for some in ([0.2, 0.1], [0.05, 0.02])
    )
    both = first.followed_by(rest)
    np.testing.assert_array_equal(both.lambdas, whole.lambdas)
    np.testing.assert_array_equal(both.edge_counts(), whole.edge_counts())
    for one, other in zip(both, whole, strict=True):
        assert one.supports == other.supports
        np.testing.assert_allclose(one.losses, other.losses, atol=1e-9)
        np.testing.assert_allclose(one.intercepts, other.intercepts, atol=1e-5)


def test_the_path_of_many_states_ends_when_nothing_more_can_be_chosen():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (200, 5))
    X[:, 1] = np.where(rng.random(200) < 0.5, X[:, 0], X[:, 1])
    short = ig.L1Graph().fit(X)
    assert 1 < len(short.lambdas_) < 100
    further = short.lambdas_[0] * np.geomspace(1, 0.01, 100)[: len(short.lambdas_) + 8]
    whole = ig.L1Graph(lambdas=further).fit(X)
    assert short.graph_ == whole.graph_
    np.testing.assert_allclose(short.penalties_, whole.penalties_)
