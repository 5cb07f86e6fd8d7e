"""The whole matrix as a preconditioner, and damped steps: other ways to the same minimum."""

import numpy as np
import pytest

from isinglass.model.fit import pseudolikelihood, sharpened
from isinglass.model.fit.joint import fit_model, pseudo_likelihood
from isinglass.simulate import grid, potts
from isinglass.table import encode


def drawn(seed, rows, coupling=0.8, states=3):
    """A table, and the graph that it was drawn from."""
    field = potts(grid(2, 3), states=states, coupling=coupling, seed=seed)
    return encode(field.sample(rows, seed=seed)), field.graph


def separated(seed):
    """Columns that nearly determine each other, with a state of few rows."""
    table, graph = drawn(seed, 60, coupling=3.0, states=(2, 3, 4, 2, 3, 4))
    return table, graph


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_a_factor_is_about_the_inverse(intercept, damping):
    table, graph = drawn(1, 400)
    joint = pseudo_likelihood(table, graph, ridge=1e-3, intercept=intercept)
    loss = sharpened.Sharpened(joint)
    at = joint.layout.numbers(np.random.default_rng(0).normal(size=joint.layout.size))
    loss.move_to(at)
    loss.renew(damping)
    direction = joint.layout.numbers(np.random.default_rng(1).normal(size=joint.layout.size))
    assert loss.sharpen()
    np.testing.assert_allclose(loss.ease(loss.multiply(direction)), direction, atol=1e-3)


def test_a_matrix_that_is_too_large_is_not_made(monkeypatch):
    table, graph = drawn(1, 400)
    joint = pseudo_likelihood(table, graph)
    loss = sharpened.Sharpened(joint)
    loss.move_to(joint.layout.numbers(np.zeros(joint.layout.size)))
    loss.renew(0.0)
    monkeypatch.setattr(sharpened, "MOST", joint.layout.size - 1)
    assert not loss.sharpen()


def factor_of(layout, off_diagonal, room=None):
    """A factor of a matrix whose first two parameters go together."""
    matrix = 4 * np.eye(layout.size)
    matrix[0, 1] = matrix[1, 0] = 4 * off_diagonal
    parts = [(np.arange(layout.size), matrix)]
    return sharpened.Factor(parts, np.zeros(layout.size), layout.basis(), room)


def test_a_matrix_without_a_factor_serves_as_its_diagonal():
    layout = pseudo_likelihood(*drawn(1, 50)).layout
    slope = layout.numbers(np.arange(layout.size, dtype=float))
    np.testing.assert_allclose(factor_of(layout, 3.0).solve(slope), slope / 4, rtol=1e-6)


@pytest.mark.parametrize("before", [0.2, 3.0])
def test_a_factor_in_the_room_of_another(before):
    layout = pseudo_likelihood(*drawn(1, 50)).layout
    slope = layout.numbers(np.arange(layout.size, dtype=float))
    room = factor_of(layout, before).give_room()
    reused, fresh = factor_of(layout, 0.5, room), factor_of(layout, 0.5)
    np.testing.assert_array_equal(reused.solve(slope), fresh.solve(slope))
    assert np.abs(fresh.solve(slope) - slope / 4).max() > 0.01


@pytest.mark.parametrize("make", [lambda seed: drawn(seed, 300), separated])
@pytest.mark.parametrize("seed", range(4))
def test_all_ways_lead_to_the_same_minimum(monkeypatch, make, seed):
    """Few products before the matrix is made, or none; damped from the start, or not."""
    table, graph = make(seed)
    values = []
    for patience, damping in [(10_000, 0.0), (10_000, 1.0), (1, 0.0), (3, 1.0)]:
        monkeypatch.setattr(sharpened, "PATIENCE", patience)
        monkeypatch.setattr(sharpened, "FACTOR", 0.0)
        monkeypatch.setattr(pseudolikelihood, "DAMPING", damping)
        monkeypatch.setattr(pseudolikelihood, "SHARES", (0.999, 0.0))  # never without damping
        joint = pseudo_likelihood(table, graph)
        values.append(joint.with_gradient(joint.minimum())[0])
    np.testing.assert_allclose(values, values[0], rtol=0, atol=1e-10)


def test_bounded_edges_do_not_depend_on_the_way(monkeypatch):
    table, graph = drawn(5, 2000)
    plain = fit_model(table, graph)
    monkeypatch.setattr(sharpened, "PATIENCE", 1)
    monkeypatch.setattr(pseudolikelihood, "SHARES", (0.5,))
    monkeypatch.setattr(sharpened, "FACTOR", 0.0)
    other = fit_model(table, graph)
    for pair, coupling in plain.couplings.items():
        np.testing.assert_allclose(other.couplings[pair], coupling, atol=1e-7)
