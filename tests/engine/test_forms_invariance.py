"""Edges of two forms do not depend on what scores are measured in, nor on which end is high."""

from dataclasses import replace

import numpy as np
import pytest

from engine.test_forms_agree import draw, steps_of
from isinglass import GreedyGraph
from isinglass.engine import learn_neighbourhoods


def with_scores(table, change):
    """The table with other scores of its ordered columns."""
    columns = [
        column
        if scores is None
        else replace(column, scores=tuple(change(np.array(scores)).tolist()))
        for column, scores in zip(table.columns, table.scores, strict=True)
    ]
    return replace(table, columns=tuple(columns))


def reversed_states(table, which):
    """The table with the states of some columns in the opposite order."""
    codes = table.codes.copy(order="F")
    columns = list(table.columns)
    for j in which:
        column = columns[j]
        codes[:, j] = len(column.states) - 1 - codes[:, j]
        scores = None
        if column.scores is not None:
            scores = tuple((-np.array(column.scores)[::-1]).tolist())
        columns[j] = replace(column, states=column.states[::-1], scores=scores)
    return replace(table, codes=codes, columns=tuple(columns))


def assert_same_steps(one, two, p):
    for r in range(p):
        ours, theirs = one.path(r), two.path(r)
        assert steps_of(ours) == steps_of(theirs)
        for a, b in zip(ours.steps, theirs.steps, strict=True):
            assert (a.gain or a.cost) == pytest.approx(b.gain or b.cost, abs=1e-9)
            assert a.loss == pytest.approx(b.loss, abs=1e-10)


@pytest.mark.parametrize("edges", ["auto", "scores"])
@pytest.mark.parametrize("seed", range(2, 30, 4))
def test_location_and_unit_of_scores_do_not_matter(seed, edges):
    table, rng = draw(seed)
    floor, p = 1.0 / table.n, len(table.columns)
    before = learn_neighbourhoods(table, floor, n_jobs=1, edges=edges)
    shift, scale = rng.uniform(-100, 100), rng.uniform(0.01, 100)
    other = with_scores(table, lambda scores: shift + scale * scores)
    assert_same_steps(before, learn_neighbourhoods(other, floor, n_jobs=1, edges=edges), p)


@pytest.mark.parametrize("edges", ["auto", "scores"])
@pytest.mark.parametrize("seed", range(3, 31, 4))
def test_reversing_states_flips_signs_and_nothing_else(seed, edges):
    table, rng = draw(seed)
    floor, p = 1.0 / table.n, len(table.columns)
    which = np.flatnonzero(rng.random(p) < 0.5)
    turned = reversed_states(table, which)
    one = learn_neighbourhoods(table, floor, n_jobs=1, edges=edges)
    two = learn_neighbourhoods(turned, floor, n_jobs=1, edges=edges)
    assert_same_steps(one, two, p)
    for r in range(p):
        ours, theirs = one.path(r).final, two.path(r).final
        for t in set(ours.coef) - ours.unbounded:
            table_of_t = theirs.coef[t]
            table_of_t = table_of_t[::-1] if r in which else table_of_t
            table_of_t = table_of_t[:, ::-1] if t in which else table_of_t
            np.testing.assert_allclose(ours.coef[t], table_of_t, atol=2e-4)


def test_signs_flip_in_the_graph():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 5, 600)
    b = np.clip(np.rint(a + rng.normal(0, 1.5, 600)), 0, 4).astype(int)
    up = GreedyGraph(edges="auto").fit(np.column_stack([a, b])).graph_.links[0]
    down = GreedyGraph(edges="auto").fit(np.column_stack([4 - a, b])).graph_.links[0]
    assert up.form == down.form == "product"
    assert (up.sign, down.sign) == (1, -1)
    assert up.strength == pytest.approx(down.strength, rel=1e-6)


def test_weight_two_is_two_copies():
    table, _ = draw(8)
    twice = replace(table, weights=np.full(len(table.codes), 2.0))
    copies = replace(
        table,
        codes=np.asfortranarray(np.repeat(table.codes, 2, axis=0)),
        weights=np.ones(2 * len(table.codes)),
    )
    runs = [learn_neighbourhoods(x, 0.5 / table.n, n_jobs=1, edges="auto") for x in (twice, copies)]
    assert_same_steps(*runs, len(table.columns))
