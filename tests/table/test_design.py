"""Design effects of pairs: against the matrices that define them."""

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import BadWeights
from isinglass.losses.forms import zero_sum_basis
from isinglass.table import Table, encode


def drawn(seed: int, n: int = 300) -> Table:
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, m, n) for m in (2, 3, 4, 2, 5)])
    codes[:, 0] = rng.random(n) < 0.15
    weights = np.where(codes[:, 0] == 1, rng.choice([0.2, 3.0], n), 1.0) * rng.uniform(0.5, 1.5, n)
    return encode(codes, weights, n_eff="design")


def residuals(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """One row each, with unit variance in every direction; states of a column sum to zero."""
    seen = np.eye(x.max() + 1)[x]
    shares = weights @ seen / weights.sum()
    basis = zero_sum_basis(len(shares))
    spread = basis.T @ (np.diag(shares) - np.outer(shares, shares)) @ basis
    return (seen - shares) @ basis @ np.linalg.inv(np.linalg.cholesky(spread)).T


def literal_effect(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """tr(H^-1 B)/df, B the product of what the rows of each column do with their weights."""
    parts = []
    for z in (residuals(x, weights), residuals(y, weights)):
        spread = (weights**2 * z.T) @ z / np.sum(weights**2)
        parts.append(np.trace(spread) / z.shape[1])
    return float(parts[0] * parts[1] * np.sum(weights**2) / weights.sum())


def literal_likeness(x: np.ndarray, weights: np.ndarray, clusters: np.ndarray) -> float:
    """The mean product of the residuals of two rows of a cluster, pair by pair."""
    z, total, pairs = residuals(x, weights), 0.0, 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j and clusters[i] == clusters[j]:
                total += weights[i] * weights[j] * (z[i] @ z[j]) / z.shape[1]
                pairs += weights[i] * weights[j]
    return min(max(total / pairs, 0.0), 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_effects_are_their_definition(seed):
    table = drawn(seed)
    effects = table.design_effects
    for r in range(5):
        for t in range(5):
            expected = literal_effect(table.codes[:, r], table.codes[:, t], table.weights)
            assert effects[r, t] == pytest.approx(1.0 if r == t else expected, rel=1e-10)
    assert effects[0, 1:].min() > 1.3  # weights are unequal where column 0 is 1, a minority
    assert effects[1:, 1:].max() < 1.3


def test_equal_weights_change_nothing():
    field = ig.simulate.potts(ig.simulate.chain(6), 3, coupling=0.8, seed=0)
    rows = field.sample(400, seed=0)
    plain = ig.GreedyGraph().fit(rows)
    design = ig.GreedyGraph(n_eff="design").fit(rows)
    assert design.table_.design_effects is None
    assert [link.evidence for link in design.graph_.links] == [
        link.evidence for link in plain.graph_.links
    ]


def test_constant_columns_and_one_row():
    table = encode([[0, 1, 2], [0, 0, 2], [0, 1, 1]], [0.5, 1.5, 1.0], n_eff="design")
    effects = table.design_effects
    assert np.isfinite(effects).all()
    assert (np.diag(effects) == 1.0).all()
    assert encode([[0, 1]], [0.5], n_eff="design").design_effects is None


def test_parts_of_a_table_keep_its_design():
    table = drawn(0)
    part, _ = table.with_rows(table.codes[:100], table.weights[:100])
    some = table.codes[:, 1] < 2
    fewer, _ = table.with_rows(table.codes[some], table.weights[some])
    assert part.design
    assert fewer.design
    assert fewer.design_effects.shape == (5, 5)


def test_rows_are_as_kish_says_and_evidence_is_divided():
    table = drawn(1, n=1000)
    weights = table.weights
    by = {}
    for n_eff in ("kish", "design"):
        est = ig.GreedyGraph(0.0001, n_eff=n_eff).fit(table.codes, sample_weight=weights)
        assert est.table_.n == pytest.approx(weights.sum() ** 2 / np.sum(weights**2))
        by[n_eff] = est
    assert by["kish"].threshold_ == by["design"].threshold_
    told = [ig.explain(by[n_eff], "x0", "x3").steps[0].evidence for n_eff in ("kish", "design")]
    assert told[1] == pytest.approx(told[0] / by["design"].table_.design_effects[0, 3], rel=1e-6)


def test_the_error_for_fractional_weights_names_it_first():
    with pytest.raises(BadWeights, match=r'n_eff="design" for sampling weights') as failed:
        encode([[0], [1]], [0.5, 1.5])
    text = str(failed.value)
    assert text.index('"design"') < text.index('"kish"')


@pytest.mark.parametrize("sampling", [True, False])
def test_clusters_are_their_definition(sampling):
    rng = np.random.default_rng(3)
    clusters = rng.integers(0, 25, 80)
    codes = np.column_stack([rng.integers(0, m, 25)[clusters] for m in (2, 3, 4)])
    anew = rng.random(codes.shape) < 0.4
    codes[anew] = rng.integers(0, 2, anew.sum())
    weights = rng.uniform(0.5, 2.0, 80) if sampling else np.ones(80)
    table = encode(codes, weights, clusters, n_eff="design" if sampling else "sum")
    effects, w = table.design_effects, table.weights
    together = sum(np.sum(w[clusters == g]) ** 2 - np.sum(w[clusters == g] ** 2) for g in range(25))
    alike = [literal_likeness(x, w, clusters) for x in table.codes.T]
    for r, t in ((0, 1), (0, 2), (1, 2)):
        own = literal_effect(table.codes[:, r], table.codes[:, t], w)
        expected = own + together / w.sum() * alike[r] * alike[t]
        assert effects[r, t] == effects[t, r] == pytest.approx(expected, rel=1e-9)
    assert effects[0, 1] > 1.1


@pytest.mark.parametrize("sampling", [True, False])
def test_a_pair_with_missing_values_has_the_rows_in_which_both_are_seen(sampling):
    rng = np.random.default_rng(7)
    clusters, weights = rng.integers(0, 25, 90), np.ones(90)
    codes = np.column_stack([rng.integers(0, m, 25)[clusters] for m in (2, 3)])
    seen = rng.random(codes.shape) < 0.8
    seen[~seen.any(axis=1), 0] = True  # rows with nothing seen are left out
    if sampling:
        weights = np.where(rng.random(90) < 0.3, 3.0, 1.0)
    cells = np.where(seen, codes, np.nan)
    n_eff = "design" if sampling else "sum"
    table = encode(cells, weights, clusters, n_eff=n_eff, missing="model")
    uneven, alike, w = [], [], table.weights
    for x, here in zip(codes.T, seen.T, strict=True):
        z, v = residuals(x[here], w[here]), w[here] ** 2
        uneven.append(np.sum(v * (z**2).sum(axis=1)) / v.sum() / z.shape[1])
        alike.append(literal_likeness(x[here], w[here], clusters[here]))
    both = seen.all(axis=1)
    squares, groups = np.sum(w[both] ** 2), np.bincount(clusters[both], w[both])
    own = squares / w[both].sum() * (uneven[0] * uneven[1] if sampling else 1.0)
    together = (np.sum(groups**2) - squares) / w[both].sum()
    expected = own + together * alike[0] * alike[1]
    assert table.design_effects[0, 1] == pytest.approx(expected, rel=1e-9)
    assert expected > 1.5


def test_copies_are_rows_of_their_cluster():
    rng = np.random.default_rng(4)
    codes, clusters = rng.integers(0, 3, (60, 3)), rng.integers(0, 15, 60)
    counts = rng.integers(1, 4, 60)
    copied = encode(np.repeat(codes, counts, axis=0), clusters=np.repeat(clusters, counts))
    counted = encode(codes, counts, clusters)
    np.testing.assert_allclose(counted.design_effects, copied.design_effects, rtol=1e-12)


def test_a_cluster_of_each_row_changes_nothing():
    rows = np.random.default_rng(5).integers(0, 3, (100, 4))
    effects = encode(rows, clusters=np.arange(100)).design_effects
    assert effects is None or (effects == 1.0).all()


def test_clusters_take_false_edges_away():
    """Columns that are alike within clusters, and have nothing to do with each other."""
    rng = np.random.default_rng(6)
    clusters = np.repeat(np.arange(100), 10)
    codes = np.where(rng.random((1000, 8)) < 0.8, rng.integers(0, 2, (100, 8))[clusters], 0)
    assert len(ig.GreedyGraph().fit(codes).graph_) > 5
    assert len(ig.GreedyGraph().fit(codes, clusters=clusters).graph_) == 0
