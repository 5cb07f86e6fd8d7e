"""Drawn tables whose rows depend on each other within clusters."""

import numpy as np
import pytest

import isinglass as ig
from isinglass.table import encode
from isinglass.uncertainty.simulation.clustered import (
    ClusteredModel,
    residuals_of,
    within_clusters,
)
from isinglass.uncertainty.simulation.denser import DenserModel


def literal_correlation(codes, weights, clusters, probabilities):
    """The correlation within clusters of products of residuals, row by row; binary columns."""
    p = codes.shape[1]
    found = []
    for r in range(p):
        for t in range(r + 1, p):
            rows = [
                (2 * (codes[i, r] - probabilities[r]) * (codes[i, t] - probabilities[t]), c)
                for i, c in enumerate(clusters)
                for _ in range(int(weights[i]))
            ]
            variance = np.mean([z**2 for z, _ in rows])
            products = [
                a * b
                for k, (a, c) in enumerate(rows)
                for m, (b, d) in enumerate(rows)
                if k != m and c == d
            ]
            found.append(np.mean(products) / variance)
    return np.mean(found)


def test_the_correlation_within_clusters_is_the_literal_one():
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 12, 40)
    codes = (rng.random((40, 3)) < rng.random((12, 3))[clusters]).astype(int)
    weights = rng.integers(1, 4, 40).astype(float)
    table = encode(codes, weights, clusters)
    shares = weights @ codes / weights.sum()
    fields = [np.array([-1, 1]) * np.log(share / (1 - share)) / 2 for share in shares]
    field = ig.MarkovField(table.names, [(0, 1)] * 3, fields, {})
    expected = literal_correlation(codes, weights, clusters, shares)
    assert within_clusters(table, field) == pytest.approx(expected)


def test_residuals_allow_for_neighbours():
    field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.7, signs="positive")
    rows = field.sample(4000, seed=0)
    table = encode(rows)
    residuals = residuals_of(table, field)
    assert abs(np.mean(residuals[0][:, 1] * residuals[2][:, 1])) < 0.01
    asked = field.predict_proba(rows[:50], "x1")
    own = np.eye(2)[table.codes[:50, 1]] - np.asarray(asked)
    np.testing.assert_allclose(residuals[1][:50], own, atol=1e-9)


def test_rows_of_drawn_clusters_go_together():
    field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.5, signs="positive")
    model = DenserModel(field, dict.fromkeys(field.couplings, 1.0))
    clusters = np.arange(6000) // 4
    codes, links = ClusteredModel(model, clusters, np.sqrt(0.3)).sample(6000, seed=1)
    assert links == list(field.couplings)
    drawn = encode(codes, clusters=clusters)
    assert within_clusters(drawn, field) == pytest.approx(0.3, abs=0.04)
    # Every row for itself is drawn from the model.
    np.testing.assert_allclose(np.corrcoef(codes[:, 0], codes[:, 1])[0, 1], np.tanh(0.5), atol=0.06)


def test_an_audit_draws_tables_with_the_clusters_of_the_table():
    """The search takes rows as independent or not; the audit finds out what that does."""
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(60), 10)
    tendency = rng.normal(0, 2, (60, 8))[clusters]
    rows = (rng.random((600, 8)) < 1 / (1 + np.exp(-tendency))).astype(int)
    one = ig.audit(ig.GreedyGraph(), rows, n=20, clusters=clusters, n_jobs=1)
    same = ig.audit(ig.GreedyGraph(), rows, n=20, clusters=clusters + 5, n_jobs=1)
    assert one.tiers == same.tiers
