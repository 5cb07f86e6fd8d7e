"""Weights that are multiples of one number are counted: the same run, whatever the unit."""

from dataclasses import replace

import numpy as np
import pytest

from isinglass import simulate
from isinglass.engine import RefittedValues, learn_joint, learn_neighbourhoods
from isinglass.engine.native import CountedRows, unit_of
from isinglass.table import encode

FIELDS = {
    "two states": simulate.ising(simulate.grid(2, 3), coupling=0.4, intercept=0.3, seed=1),
    "mixed": simulate.potts(simulate.chain(5), [2, 3, 4, 2, 5], coupling=0.5, seed=2),
}


def tables(name):
    """A table, and eight copies of it that share its weights."""
    table = encode(FIELDS[name].sample(250, seed=3))
    weights = np.arange(250) % 3 + 1.0
    table = replace(table, weights=weights)
    copies = np.asfortranarray(np.tile(table.codes, (8, 1)))
    return table, replace(table, codes=copies, weights=np.tile(weights / 8, 8))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("name", FIELDS)
def test_copies_that_share_a_weight_are_one_row(name, scaled):
    table, copies = tables(name)
    p = len(table.columns)
    scales = np.random.default_rng(0).uniform(0.5, 2.0, (p, p)) if scaled else None
    scales = None if scales is None else (scales + scales.T) / 2
    assert CountedRows.of(copies).unit == 1 / 8
    one, other = (learn_neighbourhoods(of, 0.002, scales=scales) for of in (table, copies))
    for r in range(p):
        steps, again = one.path(r).steps, other.path(r).steps
        assert [(s.kind, s.variable) for s in steps] == [(s.kind, s.variable) for s in again]
        for step, twin in zip(steps, again, strict=True):
            assert (step.gain or step.cost) == pytest.approx(twin.gain or twin.cost, abs=1e-9)
            assert step.loss == pytest.approx(twin.loss, abs=1e-10)


@pytest.mark.parametrize("name", FIELDS)
def test_values_of_edges(name):
    table, copies = tables(name)
    pairs = sorted(FIELDS[name].couplings)
    one, other = (RefittedValues(of, True, 1)(pairs) for of in (table, copies))
    for value, twin in zip(one, other, strict=True):
        assert value == pytest.approx(twin, rel=1e-7)


@pytest.mark.parametrize("name", FIELDS)
def test_both_ends(name):
    table, copies = tables(name)
    one, other = (learn_joint(of, 0.002) for of in (table, copies))
    assert one.pairs(0.01) == other.pairs(0.01)


def test_units():
    assert unit_of(np.array([1.0, 2.0])) == 1
    assert unit_of(np.array([0.1, 0.25])) == 1  # no multiple
    assert unit_of(np.array([0.5, 0.5])) == 0.5
