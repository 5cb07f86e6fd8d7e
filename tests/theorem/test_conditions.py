"""The arithmetic of Theorem 1, against the paper's formulas written out."""

import numpy as np
import pytest

from isinglass.theorem.conditions import (
    Given,
    asked,
    change_that_leaves,
    least_eta,
    remaining_curvature,
    stopping_size_threshold,
)

GIVEN = {"s": 2, "candidates": 9, "curvature": 0.2, "single": 0.25, "ceiling": 0.5} | {
    "reach": 0.0,
    "noise": 0.01,
    "smallest": 0.7,
    "n": 1000.0,
}


def test_squared_loss_by_hand():
    found = asked(Given(**GIVEN))
    rho, members = 0.25 / 0.2, 9
    threshold = 8 * rho * members * 0.01**2 / 0.2
    assert found.threshold == pytest.approx(threshold)
    assert found.coefficient == pytest.approx(np.sqrt(32 * rho * threshold / 0.2))
    error = 2 / 0.2 * (0.01 * np.sqrt(members) + np.sqrt(2 * 2 * 0.25 * threshold))
    assert found.error == pytest.approx(error)
    assert found.rows == pytest.approx(1000 * (found.coefficient / 0.7) ** 2)
    assert found.radius == np.inf


def test_many_candidates_let_eta_in():
    """As printed in the theorem, once eta s* is below the number of candidates."""
    given = Given(**GIVEN | {"candidates": 100_000, "ceiling": 0.25, "noise": 1e-3})
    found = asked(given)
    rho = 0.25 / 0.2
    eta = 2 + 4 * rho**2 * (np.sqrt((rho**2 - rho) / 2) + np.sqrt(2)) ** 2
    assert found.eta == pytest.approx(eta)
    assert found.members == pytest.approx(eta * 2)
    size = 1e-6 / 0.25 / (np.sqrt(2 / (eta - 1)) - np.sqrt(2 / eta)) ** 2
    assert found.threshold == pytest.approx(max(8 * rho * eta / 0.2 * 2 * 1e-6, size))


def test_the_two_forms_of_the_stopping_size_agree():
    """Main text and appendix, at the least eta."""
    for rho in (1.0, 1.3, 4.0):
        for s in (1, 3, 10):
            eta = least_eta(rho, s)
            printed = 0.01**2 / 0.3 / (np.sqrt(2 / (eta - 1)) - np.sqrt(2 / eta)) ** 2
            assert stopping_size_threshold(eta, rho, s, 0.3, 0.01) == pytest.approx(printed)


def test_the_papers_remark_on_the_stopping_size_has_no_case():
    """It wants s* >= 8 rho^2 > eta^2/(4 rho^2), but the last is at least 16 rho^2."""
    for rho in np.linspace(1, 20, 50):
        for s in (1, 10, 1000):
            assert least_eta(rho, s) ** 2 / (4 * rho**2) >= 16 * rho**2


def test_needs_fall_with_the_rows_as_they_say():
    given = Given(**GIVEN | {"reach": 2.0})
    found = asked(given)
    more = 1000 * found.rows / given.n
    quieter = Given(**GIVEN | {"reach": 2.0, "noise": 0.01 / np.sqrt(found.rows / given.n)})
    there = asked(quieter)
    assert there.rows == pytest.approx(given.n)
    assert there.coefficient <= 0.7 * (1 + 1e-9)
    assert there.error <= there.radius * (1 + 1e-9)
    assert more > 0


def test_what_does_not_exist_needs_infinitely_many_rows():
    for change in ({"curvature": 0.0}, {"ceiling": np.inf}, {"reach": np.inf}):
        assert asked(Given(**GIVEN | change)).rows == np.inf


def test_remaining_curvature_is_the_weighted_mean_of_its_fall():
    t = (np.arange(100_000) + 0.5) / 100_000
    for s in (0.0, 1e-5, 0.3, 2.0, 10.0):
        plain = float(np.mean(2 * (1 - t) * np.exp(-s * t)))
        assert remaining_curvature(s) == pytest.approx(plain, rel=1e-6)
    assert remaining_curvature(change_that_leaves(0.4)) == pytest.approx(0.4)
