"""The size of link that is found with some power."""

import numpy as np
import pytest
from scipy.stats import ncx2

from isinglass.losses.forms import zero_sum_basis
from isinglass.losses.information import Information
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.uncertainty.power.smallest_link import (
    critical_value,
    directions,
    least_in_states,
    least_log_odds,
    typical_log_odds,
)


@pytest.mark.parametrize("df", [1, 2, 4, 30])
@pytest.mark.parametrize("needed", [0.5, 12.0, 400.0, 3000.0])
def test_critical_value_is_the_standardised_threshold(df, needed):
    gain = critical_value(needed, df) / 200
    assert 200 * one_parameter_gain(gain, df, 100) == pytest.approx(needed, rel=1e-6)


def test_typical_odds_ratio_is_the_mean_over_all_two_by_two_parts():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3, 4))
    table -= table.mean(axis=0)
    table -= table.mean(axis=1, keepdims=True)
    logs = [
        table[a, c] - table[a, d] - table[b, c] + table[b, d]
        for a in range(3)
        for b in range(3)
        for c in range(4)
        for d in range(4)
        if a != b and c != d
    ]
    assert typical_log_odds(table) == pytest.approx(np.sqrt(np.mean(np.square(logs))))
    length = np.linalg.norm(table)
    assert 2 * length / np.sqrt(6) == pytest.approx(typical_log_odds(table))


@pytest.mark.parametrize("df", [1, 3, 6])
def test_power_by_drawing_slopes(df):
    """Draw the slope of an edge of the size named; the quadratic form exceeds its threshold."""
    rng = np.random.default_rng(df)
    root = rng.normal(size=(2 * df, df))
    held = root.T @ root / (2 * df)
    free = 0.8 * held
    n, needed = 500.0, 15.0
    length = least_log_odds(Information(held, free), needed, n, 0.8) * np.sqrt(df) / 2
    if df == 1:
        unit = np.ones((2000, 1))
    else:
        unit = rng.normal(size=(2000, df))
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    noise = rng.normal(size=(2000, df)) @ np.linalg.cholesky(free / n).T
    slope = length * unit @ free + noise
    form = n * np.einsum("ni,ij,nj->n", slope, np.linalg.inv(held), slope)
    assert np.mean(form > critical_value(needed, df)) == pytest.approx(0.8, abs=0.03)


def test_one_parameter_is_the_limit_of_the_chi_square():
    edge = Information(np.array([[0.2]]), np.array([[0.2]]))
    length = least_log_odds(edge, 15.0, 400.0, 0.8) / 2
    assert ncx2.sf(15.0, 1, 400 * 0.2 * length**2) == pytest.approx(0.8, abs=1e-6)


def test_more_rows_or_less_power_find_smaller_links():
    edge = Information(np.array([[0.2]]), np.array([[0.15]]))
    assert least_log_odds(edge, 15.0, 4000, 0.8) < least_log_odds(edge, 15.0, 400, 0.8)
    assert least_log_odds(edge, 15.0, 400, 0.6) < least_log_odds(edge, 15.0, 400, 0.8)
    assert least_log_odds(Information(np.eye(2), np.zeros((2, 2))), 15.0, 400, 0.8) == np.inf


def test_directions_are_unit_vectors():
    np.testing.assert_allclose(np.linalg.norm(directions(5), axis=1), 1.0)


@pytest.mark.parametrize("states", [(2, 2), (2, 3), (4, 3)])
def test_a_link_in_one_state_of_each_column(states):
    """The literal table of such a link, its noncentrality, and its power."""
    df = (states[0] - 1) * (states[1] - 1)
    rng = np.random.default_rng(df)
    root = rng.normal(size=(2 * df, df))
    held = root.T @ root / (2 * df)
    free, n, needed = 0.8 * held, 500.0, 15.0
    edge = Information(held, free)
    sizes = least_in_states(edge, needed, n, 0.8, states)
    own, other = (zero_sum_basis(m) for m in states)
    for a in range(states[0]):
        for b in range(states[1]):
            table = np.zeros(states)
            table[a, b] = sizes[a, b]
            table -= table.mean(axis=0)
            table -= table.mean(axis=1, keepdims=True)
            rest = [k for k in range(states[0]) if k != a], [k for k in range(states[1]) if k != b]
            for c in rest[0]:
                for d in rest[1]:
                    log_odds = table[a, b] - table[a, d] - table[c, b] + table[c, d]
                    assert log_odds == pytest.approx(sizes[a, b])
            v = (other.T @ table.T @ own).ravel()  # states of the neighbour first
            shift = n * v @ free @ np.linalg.inv(held) @ free @ v / 0.8
            power = ncx2.sf(critical_value(needed, df) / 0.8, df, shift)
            if df > 1:
                assert power == pytest.approx(0.8, abs=0.01)
    if df == 1:
        np.testing.assert_allclose(sizes, least_log_odds(edge, needed, n, 0.8))
