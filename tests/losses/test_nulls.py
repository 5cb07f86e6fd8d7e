"""Deviances of pairs that nothing links: against all tables, against rows in random order."""

from itertools import permutations

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import chi2

import null_reference
from isinglass.core import pair_null as in_core
from isinglass.losses import nulls
from isinglass.losses.nulls import Null, pair_null


def deviance(x: np.ndarray, y: np.ndarray) -> float:
    counts = np.zeros((x.max() + 1, y.max() + 1))
    np.add.at(counts, (x, y), 1)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(x)
    return float(2 * xlogy(counts, counts / expected).sum())


def column(rows: tuple[int, ...]) -> np.ndarray:
    return np.repeat(np.arange(len(rows)), rows)


def moments(null: Null) -> tuple[float, float]:
    return null.shift + null.scale * null.df, 2 * null.scale**2 * null.df


@pytest.mark.parametrize(
    ("rows", "other"),
    [((3, 2, 2), (4, 3)), ((2, 2, 3), (3, 3, 1)), ((1, 6), (2, 2, 3)), ((2, 2, 2, 2), (5, 1, 2))],
)
def test_mean_and_variance_over_all_orders_of_the_rows(rows, other):
    orders = {tuple(order) for order in set(permutations(column(other).tolist()))}
    found = np.array([deviance(column(rows), np.array(order)) for order in orders])
    mean, variance = moments(pair_null(rows, other))
    assert mean == pytest.approx(found.mean(), rel=1e-9)
    assert variance == pytest.approx(found.var(), rel=0.01)


@pytest.mark.parametrize(
    ("rows", "other"),
    [
        ((20, 20, 20, 20, 20), (25, 15, 20, 18, 22)),
        ((60, 20, 10, 5, 5), (50, 25, 15, 6, 4)),
        ((95, 5), (30, 30, 20, 20)),
        ((12, 8, 10), (9, 11, 10)),
        ((200, 1, 2, 97), (100, 100, 99, 1)),
    ],
)
def test_moments_and_tail_of_rows_in_random_order(rows, other):
    rng = np.random.default_rng(len(rows) + rows[0])
    x, y, size = column(rows), column(other), 8000
    found = np.array([deviance(x, rng.permutation(y)) for _ in range(size)])
    null = pair_null(rows, other)
    mean, variance = moments(null)
    assert mean == pytest.approx(found.mean(), abs=4 * found.std() / np.sqrt(size))
    assert variance == pytest.approx(found.var(), rel=0.08)
    above = np.mean(found > null.shift + null.scale * chi2.isf(0.01, null.df))
    assert 0.5 < above / 0.01 < 1.6


def draw(rng: np.random.Generator, whole: bool = True) -> tuple[float, ...]:
    rows = rng.dirichlet(np.full(rng.integers(2, 12), rng.choice([0.3, 1, 10])))
    rows = np.maximum(np.rint(rng.choice([5, 30, 300]) * rows), 1)
    return tuple((rows if whole else rows * rng.uniform(0.6, 1.4)).tolist())


def of_equal_sums(rng: np.random.Generator, whole: bool = True) -> list[tuple[float, ...]]:
    rows, other = (list(draw(rng, whole)) for _ in range(2))
    less = rows if sum(rows) < sum(other) else other
    less[0] += abs(sum(rows) - sum(other))
    return [tuple(rows), tuple(other)]


@pytest.mark.parametrize("seed", range(60))
def test_both_twins_and_the_reference_agree(seed):
    rng = np.random.default_rng(seed)
    rows, other = of_equal_sums(rng, whole=bool(seed % 3))
    truth = null_reference.null_of(rows, other)
    for null in (pair_null(rows, other), in_core(np.array(rows), np.array(other))):
        assert null[:3] == pytest.approx(truth, rel=1e-6)
    turned = pair_null(other, rows)  # the same from both ends, and in any order of states
    shuffled = pair_null(rng.permutation(rows), rng.permutation(other))
    assert turned[:3] == pytest.approx(truth, rel=1e-6)
    assert shuffled[:3] == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("rows", [(300, 300, 400), (150, 450, 400), (90, 110, 800)])
def test_cells_of_many_rows_are_nearly_summed(rows, monkeypatch):
    other = (250, 350, 390, 10)
    found = moments(pair_null(rows, other))
    nulls._cell.cache_clear()
    monkeypatch.setattr(nulls, "LARGE", np.inf)
    mean, variance = moments(pair_null(rows, other))
    assert mean == pytest.approx(found[0], rel=1e-4)
    assert variance == pytest.approx(found[1], rel=4e-3)
    nulls._cell.cache_clear()


@pytest.mark.parametrize("n", [10**4, 10**6, 10**9])
def test_many_rows_and_a_rare_state(n):
    rows, other = (n - 41.0, 40.0, 1.0), (n / 2, n / 2 - 3.0, 3.0)
    null = pair_null(rows, other)
    assert null[:3] != (0.0, 1.0, 4.0)
    assert in_core(np.array(rows), np.array(other)) == pytest.approx(null[:3], rel=1e-5)


def test_two_states_and_plenty_of_rows_are_chi_squares():
    assert pair_null((3, 2), (4, 1)) == (0.0, 1.0, 1.0, 1)
    assert pair_null((900, 1000, 1100), (1500, 1500)) == (0.0, 1.0, 2.0, 1)
    assert in_core(np.array([900.0, 1000.0, 1100.0]), np.array([1500.0, 1500.0])) == (0, 1, 2)


def test_where_the_states_tell_all_nothing_is_surprising():
    assert pair_null((1, 1, 1), (1, 1, 1)).shift == np.inf
    assert in_core(np.ones(3), np.ones(3))[0] == np.inf


def test_rows_plenty_and_few_meet():
    """Where pairs begin to count as chi-squares, tails hardly jump."""
    for m in (3, 5, 8):
        n = 200
        while pair_null([n / m] * m, [n / m] * m).scale != 1.0:
            last, n = pair_null([n / m] * m, [n / m] * m), n + m * m
        df = (m - 1) ** 2
        for level in (1e-3, 1e-5):
            at = (chi2.isf(level, df) - last.shift) / last.scale
            assert chi2.sf(at, last.df) == pytest.approx(level, rel=0.2)
