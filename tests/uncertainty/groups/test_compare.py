"""Groups compared: numbers against their definitions, and what is odd in groups."""

from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy.stats import f as f_law

import isinglass as ig
from isinglass.errors import SettingError
from isinglass.uncertainty.groups.testing import Differences, holm


def rows_of(fields, sizes, seed=0):
    pairs = enumerate(zip(fields, sizes, strict=True))
    items = np.vstack([field.sample(n, seed=seed + k) for k, (field, n) in pairs])
    labels = np.repeat(["a", "b", "c"][: len(sizes)], sizes)
    names = fields[0].names
    return pl.DataFrame({name: items[:, k] for k, name in enumerate(names)} | {"group": labels})


def with_coupling(field, pair, factor):
    couplings = {**field.couplings, pair: factor * field.couplings[pair]}
    return ig.MarkovField(field.names, field.states, field.intercepts, couplings)


CHAIN = ig.simulate.ising(ig.simulate.chain(5), coupling=0.6, signs="positive")
OTHER = with_coupling(CHAIN, (1, 2), 0.1)


@cache
def two():
    table = rows_of([CHAIN, OTHER], [500, 400])
    return table, ig.compare_groups(table, by="group")


def test_what_differs_is_found():
    _, found = two()
    assert [(e.source, e.target) for e in found.different] == [("x1", "x2")]
    assert found.omnibus.p_value < 1e-4
    assert [group.label for group in found.groups] == ["a", "b"]
    assert [group.rows for group in found.groups] == [500, 400]
    assert "x1 – x2" in found.sentence
    assert "x1 – x2" in found.paragraph


def test_edges_are_those_of_models_of_each_group():
    """Two states: the statistic is the squared difference over the sum of the squared errors."""
    table, found = two()
    graph = found.graph
    for edge in found.edges:
        log_odds, errors = [], []
        for label in ("a", "b"):
            est = ig.GreedyGraph(require=graph.edges).fit(
                table.filter(pl.col("group") == label).drop("group")
            )
            est.graph_ = graph
            own = ig.with_errors(est).edge(edge.source, edge.target)
            log_odds.append(own[1, 1])
            errors.append(own.error[1, 1])
        assert edge.log_odds == pytest.approx(log_odds)
        assert edge.errors == pytest.approx(errors)
        assert edge.difference == pytest.approx(log_odds[1] - log_odds[0])
        assert edge.error == pytest.approx(np.hypot(*errors))
        assert edge.statistic == pytest.approx((edge.difference / edge.error) ** 2)
        assert edge.p_value == pytest.approx(f_law.sf(edge.statistic, 1, 399))
        low, high = edge.interval()
        assert high - low == pytest.approx(2 * 1.959964 * edge.error)
    assert [edge.adjusted for edge in found.edges] == holm([e.p_value for e in found.edges])


def test_the_other_order_of_groups_turns_signs():
    table, found = two()
    renamed = table.with_columns(group=pl.col("group").replace({"a": "z"}))
    turned = ig.compare_groups(renamed, by="group")
    for one, other in zip(found.edges, turned.edges, strict=True):
        assert one.difference == pytest.approx(-other.difference)
        assert one.p_value == pytest.approx(other.p_value)
    assert found.omnibus.p_value == pytest.approx(turned.omnibus.p_value)
    assert found.strength.p_value == pytest.approx(turned.strength.p_value)


def test_rows_in_any_order_and_weights_that_are_copies():
    table, _found = two()
    copies = np.random.default_rng(0).integers(1, 3, len(table))
    counted = ig.compare_groups(table, "group", sample_weight=copies)
    written = ig.compare_groups(table[np.repeat(np.arange(len(table)), copies)[::-1]], "group")
    for one, other in zip(counted.edges, written.edges, strict=True):
        assert one.difference == pytest.approx(other.difference, abs=1e-6)
        assert one.error == pytest.approx(other.error, rel=1e-5)


def test_three_groups_are_compared_by_the_spread_around_their_mean():
    """The statistic of one number per group is that of a fixed-effects meta-analysis, Q."""
    table = rows_of([CHAIN, OTHER, CHAIN], [300, 300, 400], seed=5)
    found = ig.compare_groups(table, by="group")
    for edge in found.edges:
        values, weights = np.array(edge.log_odds), np.array(edge.errors) ** -2.0
        mean = values @ weights / weights.sum()
        assert edge.statistic == pytest.approx(weights @ (values - mean) ** 2)
        assert edge.df == 2
        assert edge.difference is None
        assert edge.interval() is None
    assert ("x1", "x2") in [(edge.source, edge.target) for edge in found.different]
    assert found.strength.df == 2
    assert len(found.to_frame()) == len(found.edges)


def test_the_sum_of_independent_statistics_is_a_chi_square():
    rng = np.random.default_rng(0)
    values = rng.normal(size=6)
    blocks = [slice(0, 2), slice(2, 6)]
    apart = Differences(values, np.eye(6), blocks, 1e9)
    assert apart.of_all().value == pytest.approx(values @ values)
    assert apart.of_all().df == pytest.approx(6)
    # The same number twice is one number, not two.
    twice = Differences(values[[0, 0]], np.ones((2, 2)), [slice(0, 1), slice(1, 2)], 1e9)
    assert twice.of_all().df == pytest.approx(1)
    assert twice.of_all().p_value == pytest.approx(apart_p(values[0] ** 2))


def apart_p(statistic):
    return Differences(np.array([statistic**0.5]), np.eye(1), [slice(0, 1)], 1e9).of_all().p_value


def test_the_level_of_all_edges_together_holds_for_draws_of_normal_differences():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(5, 5))
    covariance, blocks = root @ root.T, [slice(0, 2), slice(2, 3), slice(3, 5)]
    draws = rng.multivariate_normal(np.zeros(5), covariance, 4000)
    rejected = [Differences(d, covariance, blocks, 1e9).of_all().p_value <= 0.05 for d in draws]
    assert 0.035 < np.mean(rejected) < 0.065


def clustered(seed, clusters=60):
    """Pairs of rows, one of each group, that are nearly the same."""
    rng = np.random.default_rng(seed)
    first = CHAIN.sample(clusters * 6, seed=seed)
    second = np.where(rng.random(first.shape) < 0.08, -first, first)
    items = np.vstack([first, second])
    labels = np.repeat(["a", "b"], len(first))
    cluster = np.tile(np.arange(clusters * 6) // 6, 2)
    table = pl.DataFrame({f"x{k}": items[:, k] for k in range(5)} | {"group": labels})
    return table, cluster


@pytest.mark.long
def test_clusters_that_span_groups_lower_the_error_of_a_difference():
    """Against the jackknife, which leaves out one cluster at a time."""
    table, cluster = clustered(2)
    found = ig.compare_groups(table, "group", clusters=cluster)
    assert found.clustered
    settings = ig.GreedyGraph(require=found.graph.edges, threshold=10.0)
    whole = ig.compare_groups(table, "group", settings, clusters=cluster)
    assert whole.graph == found.graph
    left_out = []
    for one in range(60):
        kept = cluster != one
        fewer = table.filter(pl.Series(kept))
        rest = ig.compare_groups(fewer, "group", settings, clusters=cluster[kept])
        left_out.append([edge.difference for edge in rest.edges])
    spread = np.sqrt(59 * np.var(left_out, axis=0))
    errors = np.array([edge.error for edge in whole.edges])
    np.testing.assert_allclose(errors, spread, rtol=0.15)
    apart = np.hypot(*np.array([edge.errors for edge in whole.edges]).T)
    assert (errors < 0.8 * apart).all()


def test_columns_that_are_adjusted_for_are_so_in_each_group():
    rng = np.random.default_rng(4)
    age = rng.integers(18, 80, 1200)
    yes = rng.random((1200, 5)) < 1 / (1 + np.exp(-(age[:, None] - 49) / 12))
    group = np.where(rng.random(1200) < 0.5, "a", "b")
    table = pl.DataFrame({f"q{k}": yes[:, k] for k in range(5)} | {"age": age, "group": group})
    copied = np.where(rng.random(1200) < 0.7, yes[:, 0], yes[:, 1])
    linked = table.with_columns(q1=pl.Series(copied))
    found = ig.compare_groups(linked, "group", ig.GreedyGraph(adjust=["age"]))
    assert found.adjusted == ("age",)
    assert found.graph.edges == [("q0", "q1")]
    assert found.groups[0].model.adjusted.names == ("age",)
    assert "adjusted for group and age" in found.paragraph
    both = ig.compare_groups(linked, "group", ig.GreedyGraph(adjust=["age", "group"]))
    assert both.edges[0].statistic == pytest.approx(found.edges[0].statistic)


def test_a_state_that_a_group_lacks_is_left_out_of_the_comparison():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 900)
    y = np.where(rng.random(900) < 0.6, x, rng.integers(0, 3, 900))
    group = np.where(x == 2, "a", rng.choice(["a", "b"], 900))
    table = pl.DataFrame({"x": x, "y": y, "z": rng.integers(0, 2, 900), "group": group})
    found = ig.compare_groups(table, "group")
    (edge,) = [e for e in found.edges if (e.source, e.target) == ("x", "y")]
    assert edge.df == 2  # two states of x, three of y
    assert not edge.untested
    # Without the rows that have the state, the graph's other parameters being free in each group.
    fewer = ig.compare_groups(
        table.filter(pl.col("x") < 2), "group", ig.GreedyGraph(require=found.graph.edges)
    )
    (same,) = [e for e in fewer.edges if (e.source, e.target) == ("x", "y")]
    assert edge.log_odds[1] == pytest.approx(same.log_odds[1], abs=1e-4)


def test_a_column_that_is_constant_in_a_group_has_no_test():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 600)
    y = np.where(rng.random(600) < 0.8, x, 1 - x)
    group = np.repeat(["a", "b"], 300)
    y[group == "b"] = 1
    z = np.where(rng.random(600) < 0.8, x, 1 - x)
    found = ig.compare_groups(pl.DataFrame({"x": x, "y": y, "z": z, "group": group}), "group")
    untested = {(e.source, e.target): e.untested for e in found.edges if e.untested}
    assert untested == {("x", "y"): "y is constant in b"}
    assert all(np.isfinite(e.p_value) for e in found.edges if not e.untested)
    assert found.to_frame().filter(pl.col("source") == "x")["untested"][0] == "y is constant in b"
    assert "1 edge could not be tested" in found.paragraph


def test_no_edge_is_nothing_to_compare():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, (200, 3)), np.arange(200) % 2])
    found = ig.compare_groups(rows, 3)
    assert found.edges == ()
    assert found.different == []
    assert found.omnibus.p_value == 1.0
    assert found.strength.p_value == 1.0
    assert "no edge" in found.sentence
    assert found.paragraph
    assert len(found.to_frame()) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.with_columns(group=pl.lit("a")), "has one state"),
        (lambda t: t.with_columns(group=pl.Series(["a"] * 899 + ["b"])), "has one row"),
        (lambda t: t.with_columns(group=pl.Series([f"g{k % 20}" for k in range(900)])), "20 gro"),
        (lambda t: t.with_columns(group=pl.Series(range(900))), "holds numbers"),
        (lambda t: t.drop("group"), "by names 'group', which is not a column"),
        (lambda t: t.select("group"), "every column"),
    ],
)
def test_groups_that_cannot_be_compared(change, message):
    with pytest.raises(SettingError, match=message):
        ig.compare_groups(change(two()[0]), by="group")


def test_other_estimators_and_clusters_of_one_group_are_refused():
    table, _ = two()
    with pytest.raises(SettingError, match="needs a GreedyGraph"):
        ig.compare_groups(table, "group", ig.ChowLiuTree())
    with pytest.raises(SettingError, match="group b are in one cluster"):
        ig.compare_groups(table, "group", clusters=[*range(500), *[500] * 400])


@pytest.mark.parametrize("missing", ["model", "available", "state", "drop"])
def test_missing_values(missing):
    table, _ = two()
    rng = np.random.default_rng(0)
    holes = table.with_columns(
        pl.when(pl.Series(rng.random(900) < 0.02)).then(None).otherwise(pl.col(name)).alias(name)
        for name in CHAIN.names
    )
    found = ig.compare_groups(holes, "group", ig.GreedyGraph(missing=missing, n_jobs=1))
    assert len(found.edges) >= 4
    if missing != "state":  # combinations of missing values are never seen: edges are unbounded
        assert ("x1", "x2") in [(edge.source, edge.target) for edge in found.different]
    else:
        assert any("unbounded" in edge.untested for edge in found.edges)


def test_steps_are_told():
    told = []
    ig.compare_groups(two()[0], "group", progress=lambda *numbers: told.append(numbers))
    assert told == [(k, 5) for k in range(1, 6)]


def test_opposite_links_cancel_in_the_pool_and_are_listed():
    against = with_coupling(CHAIN, (1, 2), -1.0)
    found = ig.compare_groups(rows_of([CHAIN, against], [600, 600], seed=9), "group")
    listed = {(e.source, e.target): e for e in found.exploratory}
    assert ("x1", "x2") not in found.graph.edges or ("x1", "x2") in [
        (e.source, e.target) for e in found.different
    ]
    assert all(e.firm_in and e.not_in for e in listed.values())
    one_only = ig.compare_groups(
        rows_of([CHAIN, with_coupling(CHAIN, (1, 2), 0.0001)], [200, 2000], seed=3), "group"
    )
    (edge,) = [e for e in one_only.exploratory if (e.source, e.target) == ("x1", "x2")]
    assert edge.firm_in == ("a",)
    assert edge.not_in == ("b",)
    assert len(one_only.exploratory_frame()) == len(one_only.exploratory)


def test_products_of_scores_have_one_number():
    field = ig.simulate.ordinal(ig.simulate.chain(4), 4, coupling=0.5, signs="positive")
    weak = {**field.couplings, (0, 1): 0.2 * field.couplings[0, 1]}
    other = ig.MarkovField(field.names, field.states, field.intercepts, weak)
    table = rows_of([field, other], [500, 500], seed=1)
    found = ig.compare_groups(table, "group", ig.GreedyGraph(edges="scores"))
    assert [(edge.source, edge.target) for edge in found.different] == [("x0", "x1")]
    for edge in found.edges:
        assert edge.df == 1
        assert edge.statistic == pytest.approx((edge.difference / edge.error) ** 2)
        for group, value, error in zip(found.groups, edge.log_odds, edge.errors, strict=True):
            own = group.model.per_step(edge.source, edge.target)
            assert value == pytest.approx(float(own.log_odds))
            assert error == pytest.approx(float(own.error))
