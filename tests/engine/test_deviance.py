"""What edges add to the likelihood, all else refitted: beside slow twins."""

import numpy as np
import pytest
import statsmodels.api as sm

from engine.adversarial import case
from engine.agreement import as_table
from isinglass import GreedyGraph
from isinglass.engine.deviance import deviances_of, expectations
from isinglass.engine.readable import node_loss
from isinglass.table import encode


def deviances(table, pairs, threads):
    found = expectations(table, pairs, intercept=True, threads=threads)
    return deviances_of(table.n, pairs, found)


def some_graph(seed: int, p: int) -> list[tuple[int, int]]:
    """A few pairs of columns, in order."""
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for a in range(p) for b in range(a + 1, p)]
    chosen = rng.random(len(pairs)) < min(1.0, 5 / max(len(pairs), 1))
    return [pair for pair, kept in zip(pairs, chosen, strict=True) if kept]


def neighbours_in(pairs, r: int) -> list[int]:
    return sorted(a + b - r for a, b in pairs if r in (a, b))


def agree(seed: int) -> None:
    drawn = case(seed)
    table = as_table(drawn)
    pairs = some_graph(seed, len(table.columns))
    found = expectations(table, pairs, intercept=drawn.intercept, threads=1)
    assert len(found) == 2 * len(pairs)
    for (r, t), expected in found.items():
        loss = node_loss(table, r, intercept=drawn.intercept)
        varies = [j for j in neighbours_in(pairs, r) if j in loss.candidates]
        whole, fewer = loss.fit(varies), loss.fit([j for j in varies if j != t])
        assert expected.fitted == pytest.approx(whole.loss, abs=1e-9)
        assert expected.without == pytest.approx(max(fewer.loss, whole.loss), abs=1e-9)
        if t in varies:
            assert expected.null == pytest.approx(loss.null(t), rel=1e-6)
            slow = expected_rows(table, r, t, fewer)
            np.testing.assert_allclose(expected.table, slow, atol=1e-4 * table.n)


def expected_rows(table, r: int, t: int, fit) -> np.ndarray:
    """Row by row: the probabilities of column r, summed by the states of column t."""
    scores = fit.scores(table.codes)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities = odds / odds.sum(axis=1, keepdims=True) * table.weights[:, None]
    sums = np.zeros((table.n_states[r], table.n_states[t]))
    np.add.at(sums.T, table.codes[:, t], probabilities)
    return sums


@pytest.mark.parametrize("seed", [seed for seed in range(80) if len(case(seed).codes) < 400][:40])
def test_native_is_readable(seed):
    agree(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", [s for s in range(80, 400) if len(case(s).codes) < 400])
def test_native_is_readable_at_length(seed):
    agree(seed)


@pytest.mark.parametrize("seed", range(5))
def test_two_ends_of_an_edge_against_a_plain_optimiser(seed):
    """Columns of two to four states; the reference shares no code with the package."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 2, (150, 1))
    codes = (rng.integers(0, 2 + rng.integers(0, 3, 4), (150, 4)) + hidden) % (2 + np.arange(4) % 3)
    pairs = [(0, 1), (0, 2), (1, 2), (2, 3)]
    found = deviances(encode(codes), pairs, threads=2)
    for (a, b), without, fitted in zip(pairs, found.without, found.fitted, strict=True):
        for end, (r, t) in enumerate([(a, b), (b, a)]):
            support = neighbours_in(pairs, r)
            fewer = [j for j in support if j != t]
            assert fitted[end] == pytest.approx(slow_loss(codes, r, support), abs=1e-6)
            assert without[end] == pytest.approx(slow_loss(codes, r, fewer), abs=1e-6)


def slow_loss(codes: np.ndarray, r: int, support: list[int]) -> float:
    """The loss per row of a multinomial regression on dummies."""
    blocks = [np.eye(codes[:, t].max() + 1)[codes[:, t]][:, 1:] for t in support]
    design = np.hstack([np.ones((len(codes), 1)), *blocks])
    return sm.MNLogit(codes[:, r], design).fit(disp=0, method="bfgs", maxiter=500).llf / -len(codes)


def test_evidence_is_the_likelihood_ratio_where_neighbours_go_together():
    """A noisy copy must not count as explained twice, nor not at all."""
    rng = np.random.default_rng(3)
    first = rng.integers(0, 2, 2000)
    copy = np.where(rng.random(2000) < 0.95, first, 1 - first)
    y = (rng.random(2000) < 0.35 + 0.12 * first + 0.12 * copy).astype(int)
    x = np.column_stack([first, copy, y])
    est = GreedyGraph(1e-4).fit(x)
    link = {(e.source, e.target): e for e in est.graph_}
    whole = sm.Logit(y, sm.add_constant(x[:, :2])).fit(disp=0).llf
    for own, other in ((0, 1), (1, 0)):
        alone = sm.Logit(y, sm.add_constant(x[:, [other]])).fit(disp=0).llf
        mirrored = sm.Logit(x[:, own], sm.add_constant(x[:, [other, 2]])).fit(disp=0).llf
        without = sm.Logit(x[:, own], sm.add_constant(x[:, [other]])).fit(disp=0).llf
        ratio = (whole - alone) + (mirrored - without)  # twice the mean of the two ends
        assert link[own, 2].evidence == pytest.approx(ratio, abs=1e-5)
        assert link[own, 2].strength == pytest.approx(np.sqrt(1 - np.exp(-ratio / 2000)), abs=1e-8)


def test_margins_of_what_is_expected_are_those_observed():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, [2, 3, 4], (300, 3))
    codes[:, 2] = np.where(rng.random(300) < 0.6, codes[:, 1], codes[:, 2])
    found = expectations(encode(codes), [(0, 1), (1, 2)], intercept=True, threads=1)
    for (r, t), expected in found.items():
        observed = np.zeros(expected.table.shape)
        np.add.at(observed, (codes[:, r], codes[:, t]), 1)
        np.testing.assert_allclose(expected.table.sum(axis=0), observed.sum(axis=0), atol=1e-5)
        np.testing.assert_allclose(expected.table.sum(axis=1), observed.sum(axis=1), atol=1e-5)


def test_identical_rare_columns_tell_each_other_exactly():
    x = np.zeros((1000, 4), dtype=int)
    x[:10] = 1
    links = GreedyGraph().fit(x).graph_.links
    assert len(links) == 3
    for link in links:
        assert link.relative_strength == pytest.approx(1, abs=1e-3)
        assert link.strength < 0.5


@pytest.mark.parametrize("seed", range(6))
def test_where_values_are_missing(seed):
    """An end is refitted on the rows where it is seen; a missing neighbour is one more state."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (200, 4)).astype(float)
    x[:, 1] = np.where(rng.random(200) < 0.8, x[:, 0], x[:, 1])
    x[rng.random(x.shape) < 0.15] = np.nan
    table = encode(x, missing="available")
    pairs = [(0, 1), (1, 2), (1, 3)]
    found = deviances(table, pairs, threads=1)
    for k, (a, b) in enumerate(pairs):
        for end, (r, t) in enumerate([(a, b), (b, a)]):
            seen = ~np.isnan(x[:, r])
            codes = np.where(np.isnan(x[seen]), 2, x[seen]).astype(int)
            support = neighbours_in(pairs, r)
            share = seen.mean()
            whole = slow_loss(codes, r, support) * share
            fewer = slow_loss(codes, r, [j for j in support if j != t]) * share
            assert found.fitted[k, end] == pytest.approx(whole, abs=1e-6)
            assert found.without[k, end] == pytest.approx(fewer, abs=1e-6)


def test_pairs_with_a_constant_column_add_nothing():
    x = np.column_stack([np.arange(20) % 2, np.zeros(20, int), np.arange(20) % 4 // 2])
    found = deviances(encode(x), [(0, 1), (0, 2)], threads=1)
    assert np.isfinite(found.evidence).all()
    assert found.evidence[0] == found.strength[0] == found.relative_strength[0] == 0


def test_known_edges_stay_in_and_are_not_left_out():
    rng = np.random.default_rng(2)
    codes = rng.integers(0, [2, 3, 2, 4], (200, 4))
    table, pairs = encode(codes), [(0, 1), (1, 2), (1, 3)]
    whole = expectations(table, pairs, intercept=True, threads=1)
    some = expectations(table, pairs, intercept=True, threads=1, known=[(0, 1), (1, 3)])
    assert some.keys() == {(1, 2), (2, 1)}
    for key, expected in some.items():
        assert (expected.without, expected.fitted) == (whole[key].without, whole[key].fitted)
        np.testing.assert_array_equal(expected.table, whole[key].table)
