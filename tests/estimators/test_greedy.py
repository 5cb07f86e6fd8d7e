"""GreedyGraph as its users meet it: invariances, thresholds, scores, awkward tables."""

from contextlib import suppress

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from isinglass import GreedyGraph, IsinglassError
from isinglass.engine import learn_neighbourhoods
from isinglass.errors import BelowFloor, SettingError, UnseenState
from isinglass.selection import FalseEdges, LookBelow, Paper, Theorem
from isinglass.table import encode


def chain(n: int = 400, p: int = 6, seed: int = 0, flip: float = 0.2) -> np.ndarray:
    """A Markov chain of bits from left to right."""
    rng = np.random.default_rng(seed)
    x = np.empty((n, p), dtype=int)
    x[:, 0] = rng.integers(0, 2, n)
    for j in range(1, p):
        x[:, j] = np.where(rng.random(n) < flip, 1 - x[:, j - 1], x[:, j - 1])
    return x


def mixed(n: int = 300, seed: int = 0) -> np.ndarray:
    """Columns of two to five states, some linked."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 5, n)
    b = np.where(rng.random(n) < 0.6, a % 3, rng.integers(0, 3, n))
    c = np.where(rng.random(n) < 0.7, b > 0, rng.integers(0, 2, n)).astype(int)
    d = rng.integers(0, 4, n)
    e = np.where(rng.random(n) < 0.5, d // 2, rng.integers(0, 2, n))
    return np.column_stack([a, b, c, d, e])


def gains(est: GreedyGraph) -> list[list[float]]:
    return [[step.gain or step.cost for step in path.steps] for path in est.paths_]


def assert_same_run(one: GreedyGraph, two: GreedyGraph) -> None:
    assert one.graph_.edges == two.graph_.edges
    for a, b in zip(one.paths_, two.paths_, strict=True):
        assert [(s.kind, s.variable) for s in a.steps] == [(s.kind, s.variable) for s in b.steps]
    for a, b in zip(gains(one), gains(two), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)


def test_scikit_learn_accepts_the_estimator():
    check_estimator(GreedyGraph(), on_skip=None)


def test_finds_a_chain():
    est = GreedyGraph().fit(chain(n=4000))
    assert est.graph_.edges == [(f"x{j}", f"x{j + 1}") for j in range(5)]
    assert est.states_ == [[0, 1]] * 6
    assert est.n_features_in_ == 6
    for link in est.graph_.links:
        assert link.sign == 1
        assert link.log_odds == 4 * link.coupling
        assert 0 < link.strength < 1
        assert link.selected_by == "both"
        assert not link.unbounded
        # One coupling theta: P(same) = e^theta / (e^theta + e^-theta) = 0.8, theta = log(4)/2.
        assert link.coupling == pytest.approx(np.log(4) / 2, abs=0.1)


@pytest.mark.parametrize("data", [chain(), mixed()], ids=["binary", "mixed"])
class TestInvariance:
    def fit(self, table, n_jobs=None, edges="auto", **more):
        return GreedyGraph("paper", floor=1e-3, n_jobs=n_jobs, edges=edges).fit(table, **more)

    def test_labels_and_coding(self, data):
        base = self.fit(data)
        assert_same_run(base, self.fit(2 * data - 1))
        assert_same_run(base, self.fit(data.astype(float) * 0.25))
        words = np.char.add("s", data.astype(str))  # without an order
        assert_same_run(self.fit(data, edges="table"), self.fit(words))

    def test_relabelling_states(self, data):
        rng = np.random.default_rng(1)
        relabelled = data.copy()
        for column in relabelled.T:
            column[:] = rng.permutation(column.max() + 1)[column]
        tables = [self.fit(some, edges="table") for some in (data, relabelled)]
        assert_same_run(*tables)

    def test_row_order(self, data):
        assert_same_run(self.fit(data), self.fit(np.random.default_rng(2).permutation(data)))

    def test_column_order(self, data):
        order = np.random.default_rng(3).permutation(data.shape[1])
        base, moved = self.fit(data), self.fit(data[:, order])
        edges = {frozenset(f"x{order[int(name[1:])]}" for name in e) for e in moved.graph_.edges}
        assert edges == {frozenset(e) for e in base.graph_.edges}
        for new, old in enumerate(order):
            np.testing.assert_allclose(gains(moved)[new], gains(base)[old], atol=1e-10)

    def test_weight_two_is_two_rows(self, data):
        weights = np.random.default_rng(4).integers(0, 4, len(data))
        assert_same_run(
            self.fit(np.repeat(data, weights, axis=0)), self.fit(data, sample_weight=weights)
        )

    def test_jobs(self, data):
        base = self.fit(data)
        assert_same_run(base, self.fit(data, n_jobs=1))
        assert_same_run(base, self.fit(data, n_jobs=3))

    @pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_libraries(self, data, library):
        frame = library({f"x{j}": column for j, column in enumerate(data.T)})
        est = self.fit(frame)
        assert_same_run(self.fit(data), est)
        assert (
            type(est.graph_.to_frame()).__module__.split(".")[0] == library.__module__.split(".")[0]
        )

    @pytest.mark.parametrize("rule", ["or", "and"])
    def test_at_equals_a_fresh_run(self, data, rule):
        est = GreedyGraph(0.02, floor=1e-3, rule=rule).fit(data)
        cuts = sorted({g for path in gains(est) for g in path if g > 1e-3})
        for threshold in [*cuts[::3], 1e-3, 0.5]:
            fresh = GreedyGraph(threshold, rule=rule).fit(data)
            cut = est.at(threshold)
            assert cut == fresh.graph_
            for a, b in zip(cut.links, fresh.graph_.links, strict=True):
                assert a.selected_by == b.selected_by
                assert a.unbounded == b.unbounded
                assert a.strength == pytest.approx(b.strength, abs=1e-9)
                assert a.evidence == pytest.approx(b.evidence, abs=1e-6)
                assert a.coupling == (b.coupling and pytest.approx(b.coupling, abs=1e-6))


def test_floor_and_thresholds():
    x = chain()
    est = GreedyGraph(floor=1e-3).fit(x)
    assert est.threshold_ == FalseEdges(0.05).threshold(400, 6)
    assert est.floor_ == 1e-3
    assert len(est.at(1e-3)) >= len(est.graph_)
    with pytest.raises(BelowFloor, match=r"floor_ = 0\.001.*GreedyGraph\(floor=0\.0001\)"):
        est.at(1e-4)
    with pytest.raises(SettingError, match="above the threshold"):
        GreedyGraph(0.01, floor=0.1).fit(x)
    assert GreedyGraph("paper").fit(x).threshold_ == pytest.approx(np.log(2400) / 400)
    assert GreedyGraph(Theorem(1, 2)).fit(x).threshold_ == pytest.approx(2 * np.log(6) / 400)
    below = GreedyGraph(LookBelow(Paper())).fit(x)
    assert below.floor_ == pytest.approx(below.threshold_ / 4)


def test_or_and_and():
    x = mixed()
    either, both = (GreedyGraph(1e-3, rule=rule).fit(x) for rule in ("or", "and"))
    assert set(both.graph_.edges) <= set(either.graph_.edges)
    lonely = [link for link in either.graph_.links if link.selected_by != "both"]
    assert {link.selected_by for link in both.graph_.links} <= {"both"}
    assert len(either.graph_) - len(lonely) == len(both.graph_)
    for link in lonely:
        ends = {either.graph_.names[link.source], either.graph_.names[link.target]}
        assert link.selected_by in ends


def test_strength_is_the_mean_loss_of_removing_the_edge():
    x = chain(p=2)
    link = GreedyGraph().fit(x).graph_.links[0]
    counts = np.histogram2d(*x.T, bins=2)[0] / len(x)
    rows, columns = counts.sum(1, keepdims=True), counts.sum(0, keepdims=True)
    information = np.sum(counts * np.log(counts / rows / columns))
    assert link.strength == pytest.approx(np.sqrt(1 - np.exp(-2 * information)), abs=1e-7)
    assert link.evidence == pytest.approx(2 * len(x) * information, abs=1e-4)
    odds = np.log(counts[0, 0] * counts[1, 1] / counts[0, 1] / counts[1, 0])
    assert link.log_odds == pytest.approx(odds, abs=1e-5)


def test_signs_need_order():
    x = chain(p=2)
    flipped = np.column_stack([x[:, 0], 1 - x[:, 1]])
    assert GreedyGraph().fit(flipped).graph_.links[0].sign == -1
    words = np.where(x == 1, "yes", "no")
    assert GreedyGraph().fit(words).graph_.links[0].sign == 1
    pets = np.where(x == 1, "cat", np.where(np.arange(len(x))[:, None] % 2, "dog", "fish"))
    assert GreedyGraph().fit(pets).graph_.links[0].sign == 0
    scale = np.column_stack([x[:, 0] * 2 + x[:, 1], x[:, 0]])
    assert GreedyGraph().fit(scale).graph_.links[0].sign == 1


def test_max_degree():
    rng = np.random.default_rng(0)
    hub = rng.integers(0, 2, 600)
    leaves = [np.where(rng.random(600) < 0.25, 1 - hub, hub) for _ in range(5)]
    est = GreedyGraph(max_degree=2).fit(np.column_stack([hub, *leaves]))
    assert len(est.paths_[0].support) == 2
    assert "max_degree" in est.paths_[0].status
    assert "search cut short" in est.diagnostics_["what"].to_list()
    assert len(GreedyGraph(max_degree=0).fit(chain()).graph_) == 0


def test_score_is_the_pseudo_log_likelihood():
    train, test = chain(seed=0), chain(seed=1)
    est = GreedyGraph().fit(train)
    total = 0.0
    for r in range(6):
        for row in test:
            same = np.ones(len(train), dtype=bool)
            for name in est.graph_.neighbors(f"x{r}"):
                same &= train[:, int(name[1:])] == row[int(name[1:])]
            total += np.log(np.mean(train[same, r] == row[r]))
    # The saturated conditional of a chain is close to the fitted pairwise one.
    assert est.score(test) == pytest.approx(total / len(test), abs=0.02)
    assert est.score(test) > GreedyGraph(10.0).fit(train).score(test)
    weights = np.random.default_rng(0).random(len(test))
    assert np.isfinite(est.score(test, sample_weight=weights))
    assert np.isfinite(cross_val_score(clone(est), train, cv=3)).all()


def test_score_stays_finite_where_training_never_saw_a_pair():
    train = np.array([[0, 0], [1, 1]] * 20)
    est = GreedyGraph().fit(train)
    assert -40 < est.score([[0, 1]]) < -5


def test_unseen_states_are_named():
    est = GreedyGraph().fit(pd.DataFrame({"city": ["Bergen", "Voss"] * 9, "b": [0, 1] * 9}))
    with pytest.raises(UnseenState, match=r"'city'.*'Oslo'"):
        est.score(pd.DataFrame({"city": ["Oslo"], "b": [1]}))


def test_weight_column_and_table_of_counts():
    frame = pd.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "count": [40, 10, 12, 38]})
    est = GreedyGraph().fit(frame, sample_weight="count")
    assert est.graph_.names == ("a", "b")
    assert list(est.feature_names_in_) == ["a", "b"]
    assert_same_run(
        est, GreedyGraph().fit(frame.loc[frame.index.repeat(frame["count"])][["a", "b"]])
    )
    assert np.isfinite(est.score(frame, sample_weight="count"))


def test_n_eff_sets_the_number_of_rows():
    x, weights = chain(), np.random.default_rng(0).random(400) + 0.5
    with pytest.raises(IsinglassError, match="kish"):
        GreedyGraph().fit(x, sample_weight=weights)
    kish = weights.sum() ** 2 / np.square(weights).sum()
    est = GreedyGraph(n_eff="kish").fit(x, sample_weight=weights)
    assert est.threshold_ == pytest.approx(FalseEdges(0.05).threshold(kish, 6))
    assert_same_run(est, GreedyGraph(n_eff=kish).fit(x, sample_weight=7 * weights))


def notes(est):
    frame = est.diagnostics_
    return list(zip(frame["column"].to_list(), frame["what"].to_list(), strict=True))


def test_constant_column_is_an_isolated_node():
    est = GreedyGraph().fit(np.column_stack([chain(), np.ones(400, dtype=int)]))
    assert est.graph_.neighbors("x6") == []
    assert ("x6", "constant") in [(c, w.split(" ")[0]) for c, w in notes(est)]


def test_equal_columns_get_one_flagged_edge():
    x = chain(p=3)
    est = GreedyGraph().fit(np.column_stack([x, x[:, 1]]))
    between = [e for e in est.graph_.links if (e.source, e.target) == (1, 3)]
    assert len(between) == 1
    assert between[0].unbounded
    assert np.isfinite(between[0].coupling)
    assert ("x3", "equal columns") in notes(est)


@pytest.mark.filterwarnings("ignore::isinglass.errors.ManyMissing")
def test_equal_columns_are_said_to_be_linked_only_if_they_are():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (300, 4)).astype(float)
    x[:, 2:] = np.nan
    x[:2, 2:] = [[0, 0], [1, 1]]
    est = GreedyGraph(missing="available").fit(x)
    assert (2, 3) not in est.graph_.pairs
    (note,) = [n for n in est.record().diagnostics if n.what == "equal columns"]
    assert "in all 2 rows where it is observed; the two are not linked" in note.done


def test_zero_cells_are_finite_and_flagged():
    x = chain(p=2)
    x = x[~((x[:, 0] == 1) & (x[:, 1] == 0))]
    est = GreedyGraph().fit(x)
    link = est.graph_.links[0]
    assert link.unbounded
    assert np.isfinite([link.strength, link.coupling, link.evidence]).all()
    assert ("x0", "unbounded link") in notes(est)


def test_a_total_beside_its_items_is_named():
    rng = np.random.default_rng(0)
    items = rng.integers(0, 2, (500, 3))
    est = GreedyGraph().fit(np.column_stack([items, items.sum(axis=1)]))
    assert ("x3", "determined by others") in notes(est)
    assert all(link.strength <= 1 for link in est.graph_.links)


def test_rare_levels_and_sparse_pairs_are_named():
    x = mixed(n=60)
    x[0, 3] = 9
    found = notes(GreedyGraph().fit(x))
    assert any(column == "x3" and "level" in what for column, what in found)
    assert any(what == "few rows per cell" for _, what in found)


@pytest.mark.parametrize(
    "table",
    [[[1, 2, 3]], [[1, 2]] * 5, [[1], [2]], [[0, 1, 0, 1, 1, 0, 0, 1]] * 2 + [[1] * 8]],
    ids=["one row", "all equal", "one column", "n < p"],
)
def test_tiny_tables_have_a_defined_answer(table):
    est = GreedyGraph().fit(table)
    assert len(est.paths_) == len(table[0])
    assert len(est.diagnostics_) > 0
    assert np.isfinite(est.score(table))


def test_unfitted():
    est = GreedyGraph()
    for use in (lambda: est.at(1), lambda: est.score([[1]]), lambda: est.diagnostics_):
        with pytest.raises(NotFittedError):
            use()


@pytest.mark.parametrize(
    "bad",
    [{"nu": 0}, {"rule": "xor"}, {"threshold": -1}, {"threshold": "best"}, {"max_degree": -1},
     {"missing": "guess"}, {"n_eff": "all"}, {"n_eff": -3}, {"threshold": None},
     {"bins": {"x9": 3}}, {"floor": 0}],
    ids=str,
)  # fmt: skip
def test_bad_settings_are_named(bad):
    with pytest.raises(SettingError):
        GreedyGraph(**bad).fit(chain())


cells = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", "b", "yes", "no"]),
    st.floats(allow_nan=True, allow_infinity=True), st.just(("tuple",)), st.just([1]),
)  # fmt: skip


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(1, 5).flatmap(
        lambda p: st.lists(st.lists(cells, min_size=p, max_size=p), min_size=1, max_size=12)
    ),
    st.sampled_from(["error", "drop", "state", "available"]),
    st.booleans(),
)
def test_any_table_gives_an_answer_or_our_error(rows, missing, intercept):
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            table[i, j] = cell
    with suppress(IsinglassError):
        est = GreedyGraph(1e-3, missing=missing, intercept=intercept, n_jobs=1).fit(table)
        assert_finite(est)


def assert_finite(est):
    for link in est.graph_.links:
        assert np.isfinite([link.strength, link.evidence]).all()
        assert 0 <= link.strength <= 1
    assert all(np.isfinite(path.loss) for path in est.paths_)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    hnp.arrays(
        np.int8, st.tuples(st.integers(1, 25), st.integers(1, 6)), elements=st.integers(0, 3)
    ),
    st.floats(1e-6, 0.5),
    st.floats(0.01, 0.99),
)
def test_any_discrete_array_ends_well(table, threshold, nu):
    est = GreedyGraph(threshold, nu=nu, n_jobs=1).fit(table)
    for path in est.paths_:
        losses = [path.start.loss, *(step.loss for step in path.steps)]
        for before, after, step in zip(losses, losses[1:], path.steps, strict=False):
            assert np.isfinite(after)
            assert step.kind == "drop" or after <= before + 1e-10


def test_a_million_levels_is_one_clear_error():
    with pytest.raises(IsinglassError, match=r"1,?000,?000 distinct values"):
        GreedyGraph().fit(np.arange(1_000_000)[:, None] * [1, 1])


@pytest.mark.parametrize("solver", ["native", "readable"])
@pytest.mark.parametrize("n", [27, 40, 63])
def test_states_of_next_to_no_weight_cost_nothing(n, solver):
    codes = np.column_stack([np.r_[0:5, np.full(n, 4)], np.arange(n + 5) % 2])
    weights = np.r_[np.full(5, 1e-16), np.ones(n)]
    table = encode(codes, weights, n_eff="kish")
    runs = learn_neighbourhoods(table, 1e-3, solver=solver)
    assert runs.path(0).start.loss == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, np.ma.masked_array])
def test_a_column_of_an_array_may_hold_the_weights(form):
    x = np.column_stack([np.random.default_rng(0).integers(1, 4, 300), chain(300)])
    est = GreedyGraph().fit(form(x), sample_weight="x0")
    assert est.graph_.names == tuple(f"x{at}" for at in range(1, x.shape[1]))
    assert est.n_features_in_ == x.shape[1] - 1
    same = GreedyGraph().fit(x[:, 1:], sample_weight=x[:, 0])
    assert est.graph_.links == same.graph_.links
    assert est.score(form(x), sample_weight="x0") == same.score(x[:, 1:], sample_weight=x[:, 0])
