"""Filling and fitting in turn on a known graph, and the tree that it all begins with."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from isinglass import GreedyGraph, simulate
from isinglass.estimators.information import rough_information
from isinglass.estimators.settling import (
    Filler,
    draws_for,
    fill_on,
    first_model,
    graph_of,
    has_settled,
)
from isinglass.model import fit_model
from isinglass.model.fit.joint import fit_near
from isinglass.model.inference.filling import MissingCells
from isinglass.table import encode

FIELD = simulate.potts(simulate.tree(7, 2), [2, 3, 2, 4, 3, 2, 2], coupling=0.7, seed=1)


def with_missing(share, rows=3000, seed=0):
    cells = np.asarray(FIELD.sample(rows, seed=seed), dtype=float)
    cells[np.random.default_rng(seed + 50).random(cells.shape) < share] = np.nan
    return encode(cells, missing="model")


def test_the_first_model_is_the_best_tree_and_its_maximum_likelihood():
    """On complete rows the closed form is the fit, but for half a row in every cell."""
    table = encode(FIELD.sample(20_000, seed=0))
    model = first_model(table, 0.001, True, 1)
    assert set(model.couplings) == set(FIELD.couplings)
    fitted = fit_model(table, graph_of(table, frozenset(model.couplings)), "likelihood")
    for pair, coupling in fitted.couplings.items():
        np.testing.assert_allclose(model.couplings[pair], coupling, atol=0.02)
    for one, other in zip(model.intercepts, fitted.intercepts, strict=True):
        np.testing.assert_allclose(one, other, atol=0.02)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_the_first_tree_is_near_the_truth_where_values_are_missing(share):
    model = first_model(with_missing(share), 0.002, True, 1)
    assert set(model.couplings) == set(FIELD.couplings)
    for pair, coupling in FIELD.couplings.items():
        np.testing.assert_allclose(model.couplings[pair], coupling, atol=0.3)


def test_trees_do_without_pairs_below_the_threshold_and_without_intercepts():
    table = with_missing(0.2)
    assert not first_model(table, 10.0, True, 1).couplings
    without = first_model(table, 0.002, False, 1)
    assert not any(intercept.any() for intercept in without.intercepts)
    assert nx.is_forest(without.graph.to_networkx())


def test_a_fit_from_nearby_is_the_fit():
    table = encode(FIELD.sample(500, seed=3))
    model = fit_model(
        encode(FIELD.sample(500, seed=4)), graph_of(table, frozenset(FIELD.couplings))
    )
    near = fit_near(table, model)
    again = fit_model(table, graph_of(table, frozenset(FIELD.couplings)))
    for pair, coupling in again.couplings.items():
        np.testing.assert_allclose(near.couplings[pair], coupling, atol=1e-7)
    for one, other in zip(near.intercepts, again.intercepts, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_steps_that_go_farther_end_where_plain_ones_do(share):
    table = with_missing(share, rows=800)
    cells, pairs = MissingCells.of(table), frozenset(FIELD.couplings)
    filler, draws = Filler(cells, True, 0, 1), draws_for(cells)
    start = first_model(table, 0.002, True, 1)
    settled = filler.settle(start, draws, rough_information(cells).lost)
    assert settled.still
    model = start
    for _ in range(60):
        filled, _ = cells.filled(model, draws, 0, 1)
        model = filler.fit(filled, pairs)
    for pair, coupling in model.couplings.items():
        free = (len(coupling) - 1) * (len(coupling.T) - 1)
        moved = 800 * np.square(settled.model.couplings[pair] - coupling).mean()
        assert moved < 0.5 * free  # of a chi-square; steps end within 0.05, at a rate of one half


def test_what_rounding_leaves_does_not_grow_from_step_to_step():
    """Steps that go three times as far would double it each time, until the sums are not zero."""
    table = with_missing(0.3, rows=300)
    filler, lost = Filler(MissingCells.of(table), True, 0, 1), np.full((7, 7), 2 / 3)
    off = {pair: coupling + 1e-12 for pair, coupling in FIELD.couplings.items()}
    model = replace(FIELD, couplings=off)
    for _ in range(20):
        model = filler.farther(model, FIELD, lost)
    for pair, coupling in FIELD.couplings.items():
        np.testing.assert_allclose(model.couplings[pair], coupling, atol=1e-12)


def test_a_stack_that_stands_still_is_fitted_by_the_model_that_filled_it():
    table = with_missing(0.3, rows=600)
    estimator = GreedyGraph(missing="model", n_jobs=1)
    filled, draws = fill_on(table, graph_of(table, frozenset(FIELD.couplings)), estimator)
    cells = MissingCells.of(table)
    model = fit_model(filled, graph_of(table, frozenset(FIELD.couplings)))
    again, _ = cells.filled(model, draws, 0, 1)
    refitted = fit_model(again, graph_of(table, frozenset(FIELD.couplings)))
    assert len(filled.codes) == draws * 600
    assert has_settled(model, refitted, table.n)
