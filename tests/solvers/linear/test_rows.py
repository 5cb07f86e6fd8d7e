"""Rows that act as one: the same sums as with every row for itself."""

import numpy as np
import pytest
from scipy import sparse

from isinglass.core.regression import closer_look
from isinglass.losses import LogisticLoss, PoissonLoss
from isinglass.solvers.foba import blocks_of, foba, named_groups
from isinglass.solvers.linear.kept import KeptEntries
from isinglass.solvers.linear.rows import FewRows, Rows
from regressions import thin_regression

CASES = [seed for seed in range(12) if thin_regression(seed).groups is None]


def told_apart(seed, columns):
    """Rows of a thin regression, all and few, after some columns; and a rate per row."""
    case = thin_regression(seed)
    loss = case.loss(sparse.csr_array(case.X))
    y = np.asarray(loss.y, dtype=float)
    few = FewRows(loss, y)
    few.touch(columns)
    eta = few.columns(columns) @ np.linspace(-1, 1, len(columns)) + 0.3
    return loss, Rows(loss, y), few, eta


@pytest.mark.parametrize("seed", CASES)
@pytest.mark.parametrize("columns", [[], [1], [0, 2, 4]])
def test_sums_are_those_of_all_rows(seed, columns):
    loss, every, few, eta = told_apart(seed, columns)
    whole = few.all_rows(eta)
    np.testing.assert_allclose(
        whole, loss.design.columns(columns) @ np.linspace(-1, 1, len(columns)) + 0.3
    )
    slopes = [rows.share * (np.exp(at) - rows.y) for rows, at in ((every, whole), (few, eta))]
    weights = [rows.share * np.exp(at) for rows, at in ((every, whole), (few, eta))]
    for one, two in zip(
        every.moments(slopes[0], weights[0]), few.moments(slopes[1], weights[1]), strict=True
    ):
        np.testing.assert_allclose(two, one, atol=1e-13)
    np.testing.assert_allclose(few.slopes(slopes[1]), every.slopes(slopes[0]), atol=1e-13)
    np.testing.assert_allclose(few.mean(), every.mean(), atol=1e-14)
    mean = every.mean()
    np.testing.assert_allclose(few.squares(mean), every.squares(mean), atol=1e-13)
    squares = few.share @ few.y**2 + few.spread
    assert squares == pytest.approx(every.share @ every.y**2)


@pytest.mark.parametrize("seed", CASES)
def test_other_columns_beside_a_fit(seed):
    loss, _, few, eta = told_apart(seed, [1, 4])
    which = np.array([2, 8])
    Z, held, y, share = few.beside(which, eta)
    whole = loss.design.columns(which)
    for one, two in (
        (share @ Z, loss.share @ whole),
        (share @ (Z * y[:, None]), loss.share @ (whole * loss.y[:, None])),
        (share @ (Z * held[:, None]), loss.share @ (whole * few.all_rows(eta)[:, None])),
        (share @ y, loss.share @ loss.y),
        (share.sum(), 1.0),
    ):
        np.testing.assert_allclose(one, two, atol=1e-13)


def test_few_rows_are_told_apart():
    """Else they would be for nothing."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((2000, 50), density=0.01, rng=rng, format="csr")
    loss = LogisticLoss(X, X[:, [3]].toarray()[:, 0] + 0.1 * rng.logistic(size=2000) > 0.1)
    blocks = blocks_of(loss, named_groups(None, 50))
    blocks.fit((3, 7))
    assert len(blocks._way.rows) < 60


@pytest.mark.parametrize("kind", [LogisticLoss, PoissonLoss])
def test_a_closer_look_is_close(kind):
    """Of columns that do not separate: within a hundredth of what they gain."""
    rng = np.random.default_rng(3)
    X = sparse.random_array((3000, 30), density=0.02, rng=rng, format="csc")
    eta = 3 * X[:, [1]].toarray()[:, 0]
    y = (
        rng.poisson(np.exp(eta))
        if kind is PoissonLoss
        else rng.random(3000) < 1 / (1 + np.exp(-eta))
    )
    loss = kind(X, y)
    fit = loss.fit([])
    _, slope, curvature = loss.terms(loss.eta(fit.coef, fit.intercept))
    least, most = closer_look(
        loss.design.entries(np.arange(30)),
        ends=(loss.design.low, loss.design.high, loss.scale),
        rows=(np.full(3000, fit.intercept), loss.y.astype(float), loss.share),
        level=(float(slope.sum()), float(curvature.sum())),
        poisson=kind is PoissonLoss,
    )
    gains = np.array(loss.gains(fit, [(j,) for j in range(30)]))
    assert (least <= gains + 1e-12).all()
    assert (most >= gains - 1e-12).all()
    assert (most - least <= 0.05 * gains + 1e-6).all()


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_entries_in_parts_count_once(form):
    """An entry may be stored in parts, and in any order."""
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(0, 40, 300), rng.integers(0, 8, 300)
    values = rng.normal(size=300)
    whole = np.zeros((40, 8))
    np.add.at(whole, (rows, columns), values)
    y = whole[:, 2] + 0.1 * rng.normal(size=40) > 0
    if form is sparse.coo_array:
        X = sparse.coo_array((values, (rows, columns)), shape=(40, 8))
    else:
        order = np.argsort(rows if form is sparse.csr_array else columns, kind="stable")
        major, minor = (rows, columns) if form is sparse.csr_array else (columns, rows)
        count = 40 if form is sparse.csr_array else 8
        begin = np.concatenate([[0], np.cumsum(np.bincount(major, minlength=count))])
        X = form((values[order], minor[order], begin), shape=(40, 8))
    one, two = (foba(LogisticLoss(Z, y), 1e-3) for Z in (whole, X))
    assert [step.variable for step in one.steps] == [step.variable for step in two.steps]
    assert one.loss == pytest.approx(two.loss, abs=1e-10)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
def test_entries_that_are_kept_are_those_of_the_columns(form):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 500)) * (rng.random((60, 500)) < 0.1)
    design = LogisticLoss(form(X), np.arange(60) % 2).design
    kept = KeptEntries(design)
    for count in (20, 22, 3, 25, 300, 5, 40):
        which = rng.permutation(30 if count < 30 else 500)[:count]
        columns, (rows, values, begin), at = kept.of(which)
        np.testing.assert_array_equal(columns[at], which)
        for one, j in zip(at, which, strict=True):
            own = slice(begin[one], begin[one + 1])
            np.testing.assert_array_equal(rows[own], np.flatnonzero(X[:, j]))
            np.testing.assert_array_equal(values[own], X[rows[own], j])
        assert 32 * len(kept.entries[0]) <= design.X.nnz
