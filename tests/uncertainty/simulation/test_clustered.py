"""Drawn tables whose rows depend on each other within clusters."""

import numpy as np
import pytest

import isinglass as ig
from isinglass.table import encode
from isinglass.uncertainty.simulation.clustered import (
    ClusteredModel,
    conditional,
    drawn_again,
    shares_for,
    within_clusters,
)
from isinglass.uncertainty.simulation.denser import DenserModel

CHAIN = ig.simulate.ising(ig.simulate.chain(4), coupling=0.5, signs="positive")


def test_the_likeness_within_clusters_is_the_literal_one():
    """Pairs of rows of one cluster, one by one; a row of weight w is w rows."""
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 12, 40)
    codes = (rng.random((40, 3)) < rng.random((12, 3))[clusters]).astype(int)
    weights = rng.integers(1, 4, 40).astype(float)
    table = encode(codes, weights, clusters)
    shares = weights @ codes / weights.sum()
    fields = [np.array([-1, 1]) * np.log(share / (1 - share)) / 2 for share in shares]
    field = ig.MarkovField(table.names, [(0, 1)] * 3, fields, {})
    found = within_clusters(table, field)
    copied = np.repeat(np.arange(40), weights.astype(int))
    for r in range(3):
        residuals = codes[copied, r] - shares[r]
        pairs = [
            a * b
            for k, a in enumerate(residuals)
            for m, b in enumerate(residuals)
            if k != m and clusters[copied[k]] == clusters[copied[m]]
        ]
        assert found[r] == pytest.approx(np.mean(pairs) / np.mean(residuals**2))


def test_sampling_weights_are_not_copies():
    rng = np.random.default_rng(1)
    clusters = np.arange(300) // 3
    codes = rng.integers(0, 2, (300, 2))
    weights = rng.gamma(0.5, size=300) + 0.01
    table = encode(codes, weights, clusters, n_eff="kish")
    field = ig.MarkovField(table.names, [(0, 1)] * 2, [np.zeros(2)] * 2, {})
    found = within_clusters(table, field, sampling=True)
    again = within_clusters(encode(codes, 7 * weights, clusters, n_eff=50.0), field, sampling=True)
    np.testing.assert_allclose(found, again)
    w, e = weights, codes - 0.5
    same = (clusters[:, None] == clusters) & ~np.eye(300, dtype=bool)
    for r in range(2):
        product = (np.outer(w, w) * np.outer(e[:, r], e[:, r]))[same].sum()
        expected = product / np.outer(w, w)[same].sum() / 0.25
        assert found[r] == pytest.approx(expected)


def test_conditional_probabilities():
    field = ig.simulate.potts(ig.simulate.chain(3), [2, 3, 4], coupling=0.6, seed=0)
    rows = field.sample_codes(50, seed=0)
    for r, name in enumerate(field.names):
        asked = np.asarray(field.predict_proba(field.sample(50, seed=0), name))
        np.testing.assert_allclose(conditional(field, rows, r), asked, atol=1e-9)


def test_every_row_for_itself_is_drawn_from_the_model():
    rng = np.random.default_rng(2)
    codes = CHAIN.sample_codes(40_000, seed=1)
    clusters = np.arange(40_000) // 2
    again = drawn_again(CHAIN, codes, clusters, np.array([0.0, 0.9, 0.5, 1.0]), rng)
    for rows in (slice(0, None, 2), slice(1, None, 2)):  # independent of each other
        counts = [np.bincount(each[rows] @ [8, 4, 2, 1], minlength=16) for each in (codes, again)]
        difference = (counts[0] - counts[1]) / np.sqrt(np.sum(counts, axis=0))
        assert np.abs(difference).max() < 4


def test_rows_of_drawn_clusters_go_together():
    model = DenserModel(CHAIN, dict.fromkeys(CHAIN.couplings, 1.0))
    clusters = np.arange(12_000) // 4
    alike = np.array([0.0, 0.2, 0.1, 0.3])
    shares = shares_for(alike, CHAIN, clusters)
    codes, links = ClusteredModel(model, clusters, shares).sample(12_000, seed=1)
    assert links == list(CHAIN.couplings)
    found = within_clusters(encode(codes, clusters=clusters), CHAIN)
    np.testing.assert_allclose(found, alike, atol=0.04)
    assert shares_for(np.full(4, 0.95), CHAIN, clusters)[1] == 1.0


def test_columns_without_links_are_as_alike_as_asked():
    field = ig.simulate.ising(ig.simulate.star(4, 0), intercept=(-0.8, 0.8), seed=0)
    alike = np.array([0.0, 0.2, 0.5, 1.0])
    clusters = np.arange(12_000) // 4
    codes, _ = ClusteredModel(DenserModel(field, {}), clusters, np.sqrt(alike)).sample(12_000, 3)
    table = encode(codes, clusters=clusters)
    np.testing.assert_allclose(within_clusters(table, field), alike, atol=0.04)
    # What a row says about two columns goes together as the product of both.
    e = codes - codes.mean(axis=0)
    said = (e[:, 1] * e[:, 2]).reshape(-1, 4)
    together = (said.sum(axis=1) ** 2 - (said**2).sum(axis=1)).mean() / 12
    assert together / np.mean(said**2) == pytest.approx(0.1, abs=0.03)


@pytest.mark.parametrize("missing", ["error", "available"])
def test_an_audit_draws_tables_with_the_clusters_of_the_table(missing):
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(60), 10)
    tendency = rng.normal(0, 2, (60, 8))[clusters]
    rows = (rng.random((600, 8)) < 1 / (1 + np.exp(-tendency))).astype(object)
    if missing == "available":
        rows[::11, 2] = None
    est = ig.GreedyGraph(missing=missing)
    one = ig.audit(est, rows, n=10, clusters=clusters, n_jobs=1)
    same = ig.audit(est, rows, n=10, clusters=clusters + 5, n_jobs=1)
    assert repr(one.tiers) == repr(same.tiers)  # a share of no links is not a number
    assert one.failed == 0
