"""Both ends together: what they say of one edge, against its plain definition."""

import numpy as np
import pytest

import isinglass as ig
from both_ends_reference import PlainEnd, plain_statistic
from isinglass.core import both_ends


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("states", [(2, 2, 2, 2), (3, 2, 4, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_the_statistic_is_its_definition(states, seed, intercept):
    graph = ig.simulate.chain(4)
    field = ig.simulate.potts(graph, list(states), coupling=0.5, seed=seed)
    codes = field.sample_codes(250, seed=seed)
    weights = np.random.default_rng(seed).integers(1, 3, len(codes)).astype(float)
    pairs = [(0, 1), (0, 2), (1, 2), (2, 3)]
    found, entry, _ = both_ends(codes, weights, states, pairs, intercept=intercept, threads=1)
    assert np.isinf(entry).all()
    plain = [plain_statistic(codes, weights, states, pairs, pair, intercept) for pair in pairs]
    np.testing.assert_allclose(found, plain, rtol=2e-5, atol=1e-6)


def test_the_statistic_is_its_definition_where_cells_are_many():
    """Then refits take columns together; some rows have no weight."""
    states = (4, 3, 4, 3, 2, 4, 3)
    pairs = [(0, t) for t in range(1, 7)] + [(1, t) for t in range(2, 7)]
    rng = np.random.default_rng(0)
    trait = rng.normal(size=3000)
    codes = np.column_stack(
        [np.clip(np.round(trait / 3 + rng.normal(size=3000) + m / 2), 0, m - 1) for m in states]
    ).astype(np.uint8)
    weights = rng.integers(0, 3, len(codes)).astype(float)
    assert len(np.unique(codes[weights > 0, 1:], axis=0)) > 512
    found, *_ = both_ends(codes, weights, states, pairs, intercept=True, threads=2)
    for pair in [(0, 1), (1, 5)]:
        plain = plain_statistic(codes, weights, states, pairs, pair, True)
        np.testing.assert_allclose(found[pairs.index(pair)], plain, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("coupling", [0.1, 0.3, 0.5])
def test_rows_go_as_bartletts_correction_says(coupling, intercept):
    """On average over columns of a grid, for edges with and without an effect."""
    field = ig.simulate.ising(ig.simulate.grid(3, 4), coupling=coupling, seed=0)
    around = {v: {a + b - v for a, b in field.couplings if v in (a, b)} for v in range(12)}
    ours, theirs = [], []
    for seed in range(4):
        codes = field.sample_codes(400, seed=seed)
        for v, t in [(5, 11), (6, 8), (5, 1), (6, 7), (1, 7), (2, 1)]:
            end = PlainEnd(codes, np.ones(400), [2] * 12, v, sorted({*around[v], t}), intercept)
            ours.append(400 - end.rows_left(t))
            theirs.append(400 * end.bartlett(t))
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.15)
