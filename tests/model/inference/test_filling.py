"""Missing cells drawn in the core: against sums over all states, and whatever the order of rows."""

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chi2

from enumeration import all_rows, probabilities
from isinglass import simulate
from isinglass.core.models import complete_rows
from isinglass.model.inference.filling import MissingCells
from isinglass.model.inference.sampling import flat_model
from isinglass.table import encode

DRAWS = 40_000


def random_model(seed: int):
    rng = np.random.default_rng(seed)
    graph = nx.gnp_random_graph(6, 0.6, seed=seed)
    states = rng.integers(1, 5, 6).clip(2).tolist()
    return simulate.potts(graph, states, coupling=0.8, intercept=0.5, seed=seed)


def drawn(field, row, most_cells=2**12, draws=DRAWS):
    codes = np.array([row], dtype=np.uint8)
    streams = np.array([7], dtype=np.uint64)
    return complete_rows(
        flat_model(field),
        codes,
        streams,
        draws=draws,
        seed=3,
        threads=2,
        most_cells=most_cells,
    )


@pytest.mark.parametrize("by_gibbs", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_draws_follow_the_conditional(seed, by_gibbs):
    field, rng = random_model(seed), np.random.default_rng(seed)
    states = np.array([len(labels) for labels in field.states])
    missing = np.zeros(6, dtype=bool)
    missing[rng.choice(6, 2 + seed % 4, replace=False)] = True
    rows, weights = all_rows(field), probabilities(field)
    whole = rows[rng.integers(len(rows))]
    found, in_gibbs = drawn(field, np.where(missing, states, whole), 1 if by_gibbs else 2**12)
    assert in_gibbs == by_gibbs
    possible = (rows[:, ~missing] == whole[~missing]).all(axis=1)
    expected = DRAWS * weights[possible] / weights[possible].sum()
    key = np.ravel_multi_index(tuple(rows[possible][:, missing].T), states[missing])
    counts = np.bincount(
        np.ravel_multi_index(tuple(found.T), states[missing]), minlength=key.max() + 1
    )
    common = expected >= 5
    statistic = np.sum((counts[key] - expected)[common] ** 2 / expected[common])
    assert statistic < chi2.isf(1e-5, common.sum())


def test_the_first_draws_are_the_same_however_many_there_are():
    field = random_model(1)
    row = [len(labels) for labels in field.states]
    few, many = (drawn(field, row, draws=count)[0] for count in (5, 50))
    np.testing.assert_array_equal(few, many[:5])


def incomplete(seed: int = 0, rows: int = 200):
    rng = np.random.default_rng(seed)
    cells = np.asarray(
        simulate.ising(simulate.chain(5), seed=1).sample(rows, seed=seed), dtype=float
    )
    cells[rng.random(cells.shape) < 0.3] = np.nan
    return cells[~np.isnan(cells).all(axis=1)]


def test_a_stack_differs_only_in_what_was_missing():
    table = encode(incomplete(), missing="model", n_eff="sum")
    cells, field = MissingCells.of(table), simulate.ising(simulate.chain(5), seed=1)
    filled, by_gibbs = cells.filled(field, 3, 0, 1)
    assert by_gibbs == 0
    assert filled.n == pytest.approx(table.n)
    assert filled.n_states == (2,) * 5
    for copy in filled.codes.reshape(3, -1, 5, order="C"):
        np.testing.assert_array_equal(copy[~cells.missing], table.codes[~cells.missing])
    assert len({copy[cells.missing].tobytes() for copy in filled.codes.reshape(3, -1, 5)}) == 3


@pytest.mark.parametrize("threads", [1, 3])
def test_a_row_has_its_draws_wherever_it_stands(threads):
    cells = incomplete()
    order = np.random.default_rng(5).permutation(len(cells))
    field = simulate.ising(simulate.chain(5), seed=1)

    def rows(table):
        filled, _ = MissingCells.of(encode(table, missing="model")).filled(field, 2, 9, threads)
        return filled.codes.reshape(2, len(table), 5)

    one, other = rows(cells), rows(cells[order])
    for copy, again in zip(one, other, strict=True):
        assert sorted(map(bytes, copy)) == sorted(map(bytes, again))
