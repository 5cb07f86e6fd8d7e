"""Extreme eigenvalues on a support and a few further candidates, against all sets."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from isinglass.theorem import eigenvalues
from isinglass.theorem.eigenvalues import extremes


def random_curvature(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 3, 7)
    ends = np.cumsum([0, *sizes])
    blocks = [np.arange(a, b) for a, b in pairwise(ends)]
    Z = rng.normal(size=(30, ends[-1])) @ rng.normal(size=(ends[-1], ends[-1]))
    support = tuple(sorted(rng.permutation(7)[: rng.integers(0, 4)].tolist()))
    return Z.T @ Z / 30, blocks, support


def brute(matrix, blocks, support, further):
    """Over all sets of at most so many further blocks."""
    outside = [at for at in range(len(blocks)) if at not in support]
    low, high = np.inf, -np.inf
    for more in range(further + 1):
        for extra in combinations(outside, more):
            chosen = (*support, *extra)
            if chosen:
                at = np.concatenate([blocks[b] for b in chosen])
                values = np.linalg.eigvalsh(matrix[np.ix_(at, at)])
                low, high = min(low, values[0]), max(high, values[-1])
    return low, high


@pytest.mark.parametrize("further", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("seed", range(10))
def test_enumeration(seed, further):
    matrix, blocks, support = random_curvature(seed)
    found = extremes(matrix, blocks, support, further)
    assert found.exact
    further = min(further, len(blocks) - len(support))
    assert (found.smallest, found.largest) == pytest.approx(brute(matrix, blocks, support, further))


@pytest.mark.parametrize("further", [2, 3])
@pytest.mark.parametrize("seed", range(20))
def test_greedy_search_and_certified_bounds_enclose_the_truth(monkeypatch, seed, further):
    monkeypatch.setattr(eigenvalues, "MOST_SETS", 0)
    matrix, blocks, support = random_curvature(seed)
    found = extremes(matrix, blocks, support, further)
    low, high = brute(matrix, blocks, support, further)
    assert found.exact == (further == len(blocks) - len(support))
    assert found.at_least - 1e-9 <= low <= found.smallest + 1e-9
    assert found.largest - 1e-9 <= high <= found.at_most + 1e-9
