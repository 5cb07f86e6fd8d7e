"""Resampling of whole clusters equals fits from scratch to the rows of those clusters."""

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import SettingError
from isinglass.estimators.folds import held_out_weights, learn_like, splits
from isinglass.estimators.score import refit_conditionals, row_scores
from isinglass.table import Drawer, encode


def clustered(seed: int, clusters: int = 60):
    """Rows of clusters of one to nine, which share a tendency; and their clusters."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 10, clusters)
    labels = np.repeat(np.arange(clusters), sizes)
    tendency = rng.normal(0, 1.5, (clusters, 5))[labels]
    tendency[:, 1] += 2 * (rng.random(len(labels)) < 0.5) - 1
    rows = (rng.random((len(labels), 5)) < 1 / (1 + np.exp(-tendency))).astype(int)
    rows[:, 2] = np.where(rng.random(len(labels)) < 0.8, rows[:, 0], rows[:, 2])
    return rows, labels


def rows_of(est, counts):
    """Rows and labels of a draw, as a user would write them."""
    drawer = Drawer.of(est.table_)
    kept = np.flatnonzero(counts)
    copied = np.repeat(kept, counts[kept])
    return drawer.table.codes[copied], drawer.cluster[copied]


@pytest.mark.parametrize("seed", range(3))
def test_half_samples_are_those_of_whole_clusters(seed):
    rows, labels = clustered(seed)
    est = ig.GreedyGraph(n_jobs=1).fit(rows, clusters=labels)
    found = ig.resample(est, n=6, seed=seed, n_jobs=1)
    assert (found.rows, found.what) == (30, "cluster")
    assert "half-samples of 30 clusters" in repr(found)
    for number in range(3):
        halves = Drawer.of(est.table_).halves(np.random.default_rng([seed, number]))
        drawn = [rows_of(est, half) for half in halves]
        assert len(set(drawn[0][1]) | set(drawn[1][1])) == 60
        for (codes, own), edges in zip(drawn, found.halves[2 * number :], strict=False):
            assert len(set(own)) == 30
            assert set(ig.GreedyGraph(n_jobs=1).fit(codes, clusters=own).graph_.edges) == edges


def test_case_dropping_drops_whole_clusters():
    rows, labels = clustered(5)
    est = ig.GreedyGraph(n_jobs=1).fit(rows, clusters=labels)
    found = ig.case_dropping(est, n=3, shares=(0.4,), n_jobs=1)
    for number in range(3):
        rng = np.random.default_rng([0, 400_000, number])
        codes, own = rows_of(est, Drawer.of(est.table_).some(rng, 36))
        assert len(set(own)) == 36
        assert all((labels == k).sum() for k in set(own))
        edges = set(ig.GreedyGraph(n_jobs=1).fit(codes, clusters=own).graph_.edges)
        whole = set(est.graph_.edges)
        overlap = len(edges & whole) / len(edges | whole) if edges | whole else 1.0
        assert found.overlap[0][number] == overlap


def test_bootstrap_draws_whole_clusters():
    rows, labels = clustered(6)
    est = ig.GreedyGraph(n_jobs=1).fit(rows, clusters=labels)
    found = ig.bootstrap(est, n=3, n_jobs=1)
    for number in range(3):
        counts = Drawer.of(est.table_).with_replacement(np.random.default_rng([0, number]))
        codes, _ = rows_of(est, counts)
        model = ig.model.fit_model(encode(codes), est.graph_)
        for pair, tables in found.tables.items():
            np.testing.assert_allclose(tables[number], model.couplings[pair], atol=1e-6)


def test_bootstrap_keeps_weights_that_are_not_counts():
    rows, _ = clustered(7)
    weights = np.random.default_rng(0).gamma(1.0, size=len(rows)) + 0.1
    est = ig.GreedyGraph(n_jobs=1, n_eff="kish").fit(rows, sample_weight=weights)
    drawer = Drawer.of(est.table_)
    counts = drawer.with_replacement(np.random.default_rng(0))
    assert counts.max() > 1
    assert drawer.table_of(counts)[0].n == pytest.approx(counts @ est.table_.weights)


def test_folds_hold_whole_clusters():
    rows, labels = clustered(8)
    table = encode(rows, np.arange(1, len(rows) + 1) % 3 + 1, labels)
    held = held_out_weights(table.weights, 4, 0, table.clusters)
    np.testing.assert_array_equal(held.sum(axis=1), table.weights)
    assert ((held > 0).sum(axis=1) == 1).all()
    for fold in held.T:
        inside = set(table.clusters[fold > 0])
        assert len(inside) == 15
        assert not inside & set(table.clusters[fold == 0])
    for split in splits(table, 4, 0):
        assert len(set(split.training.clusters)) == 45
        assert len(set(split.rows.clusters)) == 15


def test_too_few_clusters():
    rows, labels = clustered(9)
    few = ig.GreedyGraph(n_jobs=1).fit(rows, clusters=labels % 3)
    with pytest.raises(SettingError, match="3 clusters cannot be split into halves"):
        ig.resample(few, n=2)
    with pytest.raises(SettingError, match="3 clusters cannot be split into 5 folds"):
        ig.GreedyGraph("cv").fit(rows, clusters=labels % 3)
    with pytest.raises(SettingError, match="2 clusters cannot be split"):
        ig.compare(rows, {"greedy": ig.GreedyGraph()}, clusters=labels % 2, folds=2)


def test_a_comparison_counts_rows_of_a_cluster_together():
    rows, labels = clustered(10)
    methods = {"greedy": ig.GreedyGraph(n_jobs=1), "none": ig.GreedyGraph(10.0, n_jobs=1)}
    found = ig.compare(rows, methods, clusters=labels, folds=3).entries[1]
    by_cluster, n = {}, 0
    for number, split in enumerate(splits(encode(rows, clusters=labels), 3, 0)):
        graphs = [learn_like(each, split.training) for each in methods.values()]
        fits = [refit_conditionals(graph, split.training) for graph in graphs]
        one, other = (row_scores(each, split.rows) for each in fits)
        for difference, cluster in zip(other - one, split.rows.clusters, strict=True):
            by_cluster.setdefault((number, cluster), []).append(difference)
            n += 1
    mean = sum(map(sum, by_cluster.values())) / n
    squares = sum((sum(own) - len(own) * mean) ** 2 for own in by_cluster.values())
    assert found.difference == pytest.approx(mean, abs=1e-6)
    assert found.error == pytest.approx(np.sqrt(squares) / n, rel=1e-4)
