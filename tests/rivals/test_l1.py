"""L1Graph as its users meet it: penalties, rules, refits, awkward tables."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import isinglass as ig
from instances import sample
from isinglass.errors import SettingError
from isinglass.rivals.l1 import spreads
from isinglass.rivals.penalties import EBIC, CrossValidated, Rate, held_out_losses, read_penalty
from isinglass.table import encode


def mixed(n=300, seed=0):
    return sample(np.random.default_rng(seed), [2, 3, 2, 4, 2], n)


def ising(n=500, p=7, seed=0):
    return sample(np.random.default_rng(seed), [2] * p, n, 0.7)


def test_scikit_learn_accepts_the_estimator():
    check_estimator(ig.L1Graph(1.0), on_skip=None)


def test_parameters_survive_cloning():
    est = ig.L1Graph(Rate(0.3), rule="or", refit=True, threshold=0.1, lambdas=[0.1, 0.2])
    assert clone(est).get_params() == est.get_params()


@pytest.mark.parametrize("data", [ising(), mixed()], ids=["two states", "mixed"])
class TestInvariance:
    def same(self, one, two):
        assert one.graph_.edges == two.graph_.edges
        for a, b in zip(one.graph_.links, two.graph_.links, strict=True):
            assert a.strength == pytest.approx(b.strength, abs=1e-6)

    def fit(self, data, **settings):
        return ig.L1Graph(n_lambdas=20, **settings).fit(data)

    def test_labels_and_which_state_is_which(self, data):
        base = self.fit(data)
        self.same(base, self.fit(np.char.add("s", data.astype(str))))
        turned = data.copy()
        for column in turned.T:
            column[:] = column.max() - column
        self.same(base, self.fit(turned))

    def test_order_of_rows_and_number_of_jobs(self, data):
        base = self.fit(data)
        self.same(base, self.fit(np.random.default_rng(0).permutation(data), n_jobs=1))

    def test_order_of_columns(self, data):
        turned = self.fit(data[:, ::-1]).graph_.adjacency.toarray()[::-1, ::-1]
        np.testing.assert_array_equal(self.fit(data).graph_.adjacency.toarray(), turned)

    def test_weights_are_copies(self, data):
        weights = np.random.default_rng(1).integers(0, 3, len(data))
        est = ig.L1Graph("cv:3", n_lambdas=8)
        weighted = clone(est).fit(data, sample_weight=weights)
        copied = clone(est).fit(np.repeat(data, weights, axis=0))
        self.same(weighted, copied)
        np.testing.assert_allclose(weighted.penalties_, copied.penalties_)


def test_rate():
    data = ising()
    est = ig.L1Graph("rate:0.7").fit(data)
    expected = 0.7 * np.sqrt(np.log(7) / 500)
    np.testing.assert_allclose(est.penalties_, expected)
    np.testing.assert_allclose(est.lambdas_, [expected])
    assert est.graph_ == ig.L1Graph(expected).fit(data).graph_


def test_ebic_worked_by_hand():
    """Four rows 00, 00, 11, 11 and two of 01 and 10; one neighbour at most, lambda = 1/6.

    With theta the loss is (1/3) [2 log(1 + e^-2t) + log(1 + e^2t)], its slope tanh(t) - 1/3 (no
    field is needed: both states are equally common). At lambda = 1/6 theta = artanh(1/6), so
    e^2t = 7/5. There EBIC = 2n l + log(6) + 2 gamma log(1); without an edge it is 2n log 2.
    """
    data = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [0, 1], [1, 0]])
    est = ig.L1Graph(EBIC(0.25), lambdas=[1.0, 1 / 6]).fit(data)
    theta = np.arctanh(1 / 6)
    assert est.couplings_at(1 / 6)[0, 1] == pytest.approx(theta, abs=1e-9)
    loss = (2 * np.log(12 / 7) + np.log(12 / 5)) / 3
    values = EBIC(0.25).values(est.paths_, n=6)
    np.testing.assert_allclose(values[0], [12 * np.log(2), 12 * loss + np.log(6)], atol=1e-8)
    assert est.penalties_.tolist() == [1.0, 1.0]
    assert len(est.graph_) == 0


def test_ebic_counts_edges_and_parameters():
    data = mixed()
    est = ig.L1Graph(lambdas=[0.2, 0.05, 0.01]).fit(data)
    states = [2, 3, 2, 4, 2]
    for gamma in (0.0, 0.25, 1.0):
        values = EBIC(gamma).values(est.paths_, n=300)
        for r, path in enumerate(est.paths_):
            for k, support in enumerate(path.supports):
                free = sum((states[r] - 1) * (states[t] - 1) for t in support)
                expected = 600 * path.losses[k] + free * np.log(300)
                expected += 2 * gamma * len(support) * np.log(4)
                assert values[r, k] == pytest.approx(expected)
            assert est.penalties_[r] == est.lambdas_[np.argmin(EBIC().values(est.paths_, 300)[r])]


def test_held_out_losses_row_by_row():
    data = mixed()
    est = ig.L1Graph(lambdas=[0.1, 0.01]).fit(data)
    rows = encode(data).encode_like(mixed(seed=1)[:20], np.arange(1, 21))
    for k in range(2):
        losses = held_out_losses(est.paths_, k, rows)
        for r in range(5):
            field, tables = est.paths_.fit(r, k)
            total = 0.0
            for row, weight in zip(rows.codes, rows.weights, strict=True):
                scores = field + sum(table[:, row[t]] for t, table in tables.items())
                total -= weight * (scores[row[r]] - np.log(np.exp(scores).sum()))
            assert losses[r] == pytest.approx(total)


def test_cross_validation_keeps_the_constant_and_takes_the_best():
    data, lambdas = ising(), np.geomspace(0.4, 0.01, 8)
    rule = CrossValidated(folds=4, seed=3)
    est = ig.L1Graph(rule, lambdas=list(lambdas)).fit(data)
    table = encode(data)
    fold = np.random.default_rng(3).permutation(np.arange(500) % 4)
    total = np.zeros(8)
    for f in range(4):
        smaller = ig.L1Graph(1.0, lambdas=list(lambdas * np.sqrt(4 / 3))).fit(data[fold != f])
        held = table.encode_like(data[fold == f])
        # the number 1.0 comes first on the path
        total += [held_out_losses(smaller.paths_, k + 1, held).sum() for k in range(8)]
    np.testing.assert_allclose(rule.losses(est.paths_, table, est._learn), total / 500)
    assert (est.penalties_ == lambdas[np.argmin(total)]).all()


def test_graphs_at_other_penalties_are_exact():
    data = mixed()
    est = ig.L1Graph(rule="or", n_lambdas=5).fit(data)
    some = [0.123, 0.0456, float(est.lambdas_[2])]
    for penalty, graph in zip(some, est.at_many(some), strict=True):
        alone = ig.L1Graph(penalty, rule="or").fit(data)
        assert graph == alone.graph_ == est.at(penalty)
        assert [e.coupling for e in graph] == pytest.approx(
            [e.coupling for e in alone.graph_], abs=1e-6
        )
        linked = graph.adjacency.toarray()
        np.testing.assert_array_equal(est.adjacency_at(penalty), linked)
        both = ig.L1Graph(penalty, rule="and").fit(data).graph_.adjacency.toarray()
        np.testing.assert_array_equal(est.adjacency_at(penalty, "and"), both)


def test_rules_join_neighbourhoods():
    est = ig.L1Graph(0.02, rule="or").fit(ising(n=100))
    chosen = np.zeros((7, 7), bool)
    for r, others in enumerate(est.neighbours_at(0.02)):
        chosen[r, others] = True
    np.testing.assert_array_equal(est.adjacency_at(0.02, "or"), chosen | chosen.T)
    np.testing.assert_array_equal(est.adjacency_at(0.02, "and"), chosen & chosen.T)
    assert (chosen != chosen.T).any()
    one_sided = [link for link in est.graph_ if link.selected_by != "both"]
    assert len(one_sided) == (chosen & ~chosen.T).sum()


def test_refit_takes_the_shrinkage_away():
    data = ising(n=2000)
    est = ig.L1Graph(0.15, rule="or", refit=True).fit(data)
    shrunk = ig.L1Graph(0.15, rule="or").fit(data)
    refitted, own = est.couplings_at(0.15), shrunk.couplings_at(0.15)
    np.testing.assert_array_equal(refitted != 0, own != 0)
    assert (np.abs(refitted) >= np.abs(own) - 1e-9).mean() > 0.9
    spins = 2 * data - 1
    for r, others in enumerate(est.neighbours_at(0.15)):
        # At the refit the slopes of the neighbours are zero.
        off = np.tanh(_field(est, r, others) + spins[:, others] @ refitted[r, others]) - spins[:, r]
        np.testing.assert_allclose(spins[:, others].T @ off / 2000, 0, atol=1e-6)


def _field(est, r, others):
    return est._refits(est.neighbours_at(0.15))().fit(r, 0).intercept[1]


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("data", [ising(), mixed()], ids=["two states", "mixed"])
def test_threshold_drops_small_couplings(data, refit):
    est = ig.L1Graph(0.02, rule="or", refit=refit, threshold=0.2).fit(data)
    large = np.abs(est.couplings_at(0.02)) > 0.2
    np.testing.assert_array_equal(est.graph_.adjacency.toarray(), large | large.T)
    assert 0 < len(est.graph_) < len(ig.L1Graph(0.02, rule="or").fit(data).graph_)


def test_numbers_of_edges_are_those_of_greedy_when_graphs_agree():
    data = ising(n=3000)
    greedy = ig.GreedyGraph(rule="and").fit(data)
    for penalty in np.geomspace(0.3, 0.03, 30):
        est = ig.L1Graph(penalty).fit(data)
        chosen = [sorted(path.at(greedy.threshold_).support) for path in greedy.paths_]
        if est.neighbours_at(penalty) == chosen:
            break
    else:
        pytest.fail("no penalty gives the greedy neighbourhoods; take another table")
    unsearched = ["tier", "entry_evidence"]
    frames = [one.graph_.to_frame("pandas").drop(columns=unsearched) for one in (est, greedy)]
    pd.testing.assert_frame_equal(*frames, atol=1e-6)
    assert est.score(data) == pytest.approx(greedy.score(data), abs=1e-9)


def test_standardise_multiplies_by_spreads():
    table = encode(np.array([[0, 0], [0, 1], [0, 2], [1, 0]]))
    np.testing.assert_allclose(spreads(table), [np.sqrt(3) / 2, np.sqrt((1 - 6 / 16) * 1.5)])
    rare = np.random.default_rng(0).random((400, 3)) < [0.5, 0.05, 0.5]
    rare[:, 0] ^= rare[:, 1] & (np.arange(400) % 4 > 0)
    plain = ig.L1Graph(0.02).fit(rare).couplings_at(0.02)
    scaled = ig.L1Graph(0.02, standardise=True).fit(rare).couplings_at(0.02)
    assert abs(scaled[0, 1]) > abs(plain[0, 1])


def test_names_states_and_missing_values():
    frame = pd.DataFrame({"a": ["x", "y", None, "x"] * 20, "b": ["u", "v", "v", "u"] * 20})
    with pytest.raises(ig.IsinglassError, match="missing"):
        ig.L1Graph().fit(frame)
    with pytest.raises(SettingError, match="missing must be"):
        ig.L1Graph(missing="available").fit(frame)
    est = ig.L1Graph(0.05, missing="drop").fit(frame)
    assert est.graph_.edges == [("a", "b")]
    assert est.states_ == [["x", "y"], ["u", "v"]]
    assert est.feature_names_in_.tolist() == ["a", "b"]
    assert len(ig.L1Graph(0.05, missing="state").fit(frame).states_[0]) == 3
    assert "constant" in str(ig.L1Graph(0.1).fit(np.ones((5, 2))).diagnostics_)


@pytest.mark.parametrize("data", [np.ones((4, 3)), np.array([[0, 1]]), np.eye(3)[:, :2]])
@pytest.mark.parametrize("penalty", ["ebic", 0.1])
def test_tables_with_little_to_say(data, penalty):
    est = ig.L1Graph(penalty, n_lambdas=5).fit(data)
    assert np.isfinite(est.score(data))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"penalty": 0}, "penalty must be a positive number"),
        ({"penalty": "lasso"}, "penalty must be a positive number, 'ebic'"),
        ({"penalty": "rate:-1"}, "c must be a positive number"),
        ({"penalty": "cv:1"}, "folds must be a whole number"),
        ({"rule": "xor"}, "rule must be"),
        ({"threshold": -1}, "threshold must be a number, 0 or more"),
        ({"lambdas": []}, "at least one"),
        ({"lambdas": [0.1, -1]}, "lambdas must be a list"),
        ({"n_lambdas": 0}, "n_lambdas"),
        ({"smallest": 2}, "smallest"),
    ],
)
def test_settings_that_make_no_sense(settings, words):
    with pytest.raises(SettingError, match=words):
        ig.L1Graph(**settings).fit(ising(n=20))


def test_penalties_by_name():
    assert read_penalty("ebic:0.5") == EBIC(0.5)
    assert read_penalty("cv") == CrossValidated()
    assert read_penalty("0.3").value(1, 2) == 0.3
    assert read_penalty(Rate(2)) == Rate(2)


def test_progress_is_told_and_may_stop_the_work():
    told = []
    ig.L1Graph(0.1).fit(ising(), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (7, 7)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ig.L1Graph(0.1).fit(ising(), progress=stop)


@pytest.mark.parametrize("intercept", [True, False])
def test_no_path_is_run_that_ebic_cannot_choose_from(intercept):
    """Edges of hundreds of parameters on thirty rows: the whole path chooses none of them."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(0, 9, 30), rng.integers(0, 9, 30)])
    est = ig.L1Graph(intercept=intercept).fit(x)
    assert len(est.lambdas_) == 1
    whole = ig.L1Graph(
        intercept=intercept, lambdas=np.geomspace(est.lambdas_[0], 0.01 * est.lambdas_[0], 12)
    ).fit(x)
    assert est.graph_ == whole.graph_
    assert not len(est.graph_)


def test_a_path_is_run_where_a_small_edge_might_be_chosen():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(0, 9, 30), rng.integers(0, 2, (30, 2))])
    assert len(ig.L1Graph(n_lambdas=5).fit(x).lambdas_) == 5
