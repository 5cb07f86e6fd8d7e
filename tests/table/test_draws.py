"""Rows drawn without replacement: disjoint halves, folds that keep rare states."""

import numpy as np
import pytest

from isinglass.errors import SettingError
from isinglass.table import Drawer, encode


def drawer_of(codes, weights=None, **settings) -> Drawer:
    return Drawer.of(encode(np.asarray(codes), weights, **settings))


def table(seed: int, n: int = 101, p: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 3, (n, p))


@pytest.mark.parametrize("seed", range(5))
def test_halves_are_disjoint_and_equal(seed):
    drawer = drawer_of(table(seed))
    one, other = drawer.halves(np.random.default_rng(seed))
    assert one.sum() == other.sum() == 50
    assert (one >= 0).all()
    assert (one + other <= drawer.copies).all()


def test_a_draw_is_fair():
    """Each copy is drawn half of the time, whatever row it is a copy of."""
    drawer = drawer_of([[0, 0]] * 6 + [[0, 1]] * 3 + [[1, 1]])
    rng = np.random.default_rng(0)
    drawn = sum(drawer.halves(rng)[0] for _ in range(4000)) / 4000
    np.testing.assert_allclose(drawn, drawer.copies / 2, atol=0.06)


def test_draws_do_not_see_the_order_of_rows_nor_how_copies_are_written():
    codes = table(1)
    rng = np.random.default_rng(5)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    forms = [
        drawer_of(codes),
        drawer_of(codes[rng.permutation(len(codes))]),
        drawer_of(distinct, counts),
    ]
    drawn = [form.halves(np.random.default_rng(7)) for form in forms]
    for form, halves in zip(forms, drawn, strict=True):
        np.testing.assert_array_equal(form.table.codes, forms[0].table.codes)
        np.testing.assert_array_equal(halves, drawn[0])


def test_rows_with_other_weights_are_drawn_whole():
    codes = table(2, n=40)
    weights = np.random.default_rng(0).random(40) + 0.5
    drawer = drawer_of(codes, weights, n_eff="kish")
    one, other = drawer.halves(np.random.default_rng(0))
    assert set(one) | set(other) == {0, 1}
    assert one.sum() == other.sum() == 20
    half, _ = drawer.table_of(one)
    assert half.n == pytest.approx(drawer.table.weights[one == 1].sum())


@pytest.mark.parametrize("copies", [1, 2, 100])
def test_the_table_of_a_draw_has_its_rows(copies):
    codes = np.repeat(table(3, n=30), copies, axis=0)
    drawer = drawer_of(codes)
    counts = drawer.some(np.random.default_rng(1), 15 * copies)
    drawn, kept = drawer.table_of(counts)
    assert drawn.n == 15 * copies
    labels = np.stack([states[column] for states, column in zip(kept, drawn.codes.T, strict=True)])
    expanded = np.repeat(labels.T, drawn.weights.astype(int), axis=0)
    expected = np.repeat(drawer.table.codes, counts, axis=0)
    np.testing.assert_array_equal(np.unique(expanded, axis=0), np.unique(expected, axis=0))
    assert sorted(map(tuple, expanded.tolist())) == sorted(map(tuple, expected.tolist()))


def test_states_that_are_not_drawn_are_gone():
    codes = np.zeros((20, 2), dtype=int)
    codes[:10, 0] = 1
    codes[0, 1] = 1
    drawer = drawer_of(codes)
    counts = drawer.copies.copy()
    counts[drawer.table.codes[:, 1] == 1] = 0
    drawn, kept = drawer.table_of(counts)
    assert drawn.n_states == (2, 1)
    assert [states.tolist() for states in kept] == [[0, 1], [0]]


@pytest.mark.parametrize("seed", range(5))
def test_folds_are_a_partition_of_even_sizes(seed):
    drawer = drawer_of(table(seed))
    folds = drawer.folds(np.random.default_rng(seed), 5)
    np.testing.assert_array_equal(sum(folds), drawer.copies)
    assert max(fold.sum() for fold in folds) - min(fold.sum() for fold in folds) <= 12


@pytest.mark.parametrize("seed", range(10))
def test_folds_keep_rare_states(seed):
    """States of two to five rows, where the table does not stand against it, are spread."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (200, 3))
    codes[rng.choice(200, 2, replace=False), 0] = 2
    codes[rng.choice(200, 5, replace=False), 1] = 2
    drawer = drawer_of(codes)
    for fold in drawer.folds(rng, 5):
        train, _ = drawer.table_of(drawer.copies - fold)
        assert train.n_states == drawer.table.n_states


def test_fewer_rows_than_folds():
    with pytest.raises(SettingError, match="3 rows cannot be split into 5 folds"):
        drawer_of(table(0, n=3)).folds(np.random.default_rng(0), 5)
