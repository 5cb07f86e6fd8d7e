"""Gains divided by the scale of their pair: both solvers alike, in any order of the columns."""

from dataclasses import replace

import numpy as np
import pytest

import isinglass as ig
from engine.adversarial import Case, case
from engine.agreement import as_table, assert_same_runs, settings_of
from engine.test_against_readable import middle
from isinglass.engine import RefittedValues, learn_joint, learn_neighbourhoods, pairs_at
from isinglass.engine.joint import both_ends_of
from isinglass.engine.native import learn_native
from isinglass.engine.readable import learn_readable, node_loss
from isinglass.solvers.equivalent import calibrated_gain
from isinglass.table import Table, encode
from selections import mostly_long

SEEDS = mostly_long(range(60), 18)


def random_scales(rng: np.random.Generator, p: int) -> np.ndarray:
    scales = np.exp(rng.normal(scale=0.5, size=(p, p)))
    return np.triu(scales) + np.triu(scales, 1).T


def both_solvers(drawn: Case, scales: np.ndarray, level: float = np.inf) -> None:
    table, settings = as_table(drawn), {**settings_of(drawn), "threads": 1, "scales": scales}
    settings["level"] = level
    native = learn_native(table, drawn.threshold, check=True, **settings)
    assert_same_runs(native, learn_readable(table, drawn.threshold, **settings), drawn.threshold)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_solvers_take_the_same_steps(seed):
    drawn = case(seed)
    both_solvers(drawn, random_scales(np.random.default_rng(seed), drawn.codes.shape[1]))


@pytest.mark.parametrize("kind", ["binary", "mixed", "mixed, weights"])
def test_both_solvers_on_tables_of_middle_size(kind):
    drawn = middle(kind, 3, n=300, p=12)
    both_solvers(drawn, random_scales(np.random.default_rng(5), 12))


@pytest.mark.parametrize("seed", SEEDS)
def test_both_solvers_rank_alike_above_a_level(seed):
    drawn, rng = case(seed), np.random.default_rng(seed)
    scales = random_scales(rng, drawn.codes.shape[1])
    both_solvers(drawn, scales, drawn.threshold * rng.choice([0.5, 1.0, 2.0, 5.0]))


@pytest.mark.parametrize("kind", ["binary", "mixed", "mixed, weights"])
@pytest.mark.parametrize("times", [0.5, 3.0])
def test_both_solvers_rank_alike_on_tables_of_middle_size(kind, times):
    drawn = middle(kind, 3, n=300, p=12)
    both_solvers(drawn, random_scales(np.random.default_rng(5), 12), times * drawn.threshold)


def test_above_the_level_the_larger_gain_comes_first_not_the_surer_one():
    """A chain a -- b -- c whose middle is known less well: c must not come in before b."""
    field = ig.simulate.ising(ig.simulate.chain(3), coupling=1.0, signs="positive")
    table = encode(field.sample(2000, seed=0))
    scales = np.array([[1.0, 3.0, 1.0], [3.0, 1.0, 3.0], [1.0, 3.0, 1.0]])
    divided = learn_neighbourhoods(table, 0.003, n_jobs=1, scales=scales)
    ranked = learn_neighbourhoods(table, 0.003, n_jobs=1, scales=scales, level=0.003)
    assert divided.path(0).steps[0].variable == 2
    (step,) = ranked.path(0).steps
    raw = learn_neighbourhoods(table, 0.003, n_jobs=1).path(0).steps[0].gain
    assert step.variable == 1
    assert step.gain == pytest.approx(raw / 3, rel=1e-9)  # recorded as sure as it is


def test_scales_of_one_change_nothing():
    table = as_table(middle("mixed", 4, n=300, p=10))
    plain = learn_neighbourhoods(table, 0.005, n_jobs=1)
    ones = learn_neighbourhoods(table, 0.005, n_jobs=1, scales=np.ones((10, 10)))
    for r in range(10):
        gains = [[step.gain for step in runs.path(r).steps] for runs in (plain, ones)]
        assert gains[0] == gains[1]


def graph_by_names(table: Table, scales: np.ndarray, rule: str) -> set[frozenset[str]]:
    learn = learn_joint if rule == "joint" else learn_neighbourhoods
    runs = learn(table, 0.004, n_jobs=1, scales=scales)
    return {frozenset(table.names[v] for v in pair) for pair in pairs_at(runs, 0.004, rule)}


@pytest.mark.parametrize("rule", ["or", "and", "joint"])
def test_the_graph_does_not_depend_on_the_order_of_columns(rule):
    rng = np.random.default_rng(6)
    drawn = middle("mixed", 6, n=400, p=9)
    scales, order = random_scales(rng, 9), rng.permutation(9)
    table = as_table(drawn)
    turned = as_table(replace(drawn, codes=drawn.codes[:, order]))
    turned = replace(turned, columns=tuple(table.columns[v] for v in order))
    found = graph_by_names(table, scales, rule)
    assert found
    assert found == graph_by_names(turned, scales[np.ix_(order, order)], rule)


def test_a_scale_for_all_is_fewer_rows():
    """Divided by two, gains are those of a table with half the rows in every combination."""
    table = as_table(middle("mixed", 7, n=200, p=6))
    codes = np.repeat(table.codes, 2, axis=0)
    twice = learn_neighbourhoods(encode(codes), 0.01, n_jobs=1, scales=np.full((6, 6), 2.0))
    once = learn_neighbourhoods(encode(table.codes), 0.02, n_jobs=1)
    for r in range(6):
        expected = [(step.variable, step.gain) for step in once.path(r).steps]
        found = [(step.variable, 2 * step.gain) for step in twice.path(r).steps if step.gain]
        assert [v for v, _ in found] == [v for v, _ in expected]
        assert [g for _, g in found] == pytest.approx([g for _, g in expected], rel=1e-6)


def test_evidence_is_divided_too():
    field = ig.simulate.potts(ig.simulate.chain(4), states=3, coupling=1.0)
    table = encode(field.sample(600, seed=0))
    pairs, scales = [(0, 1), (1, 2), (2, 3)], random_scales(np.random.default_rng(1), 4)
    plain = RefittedValues(table, True, 1)(pairs)
    divided = RefittedValues(table, True, 1, scales=scales)(pairs)
    assert [v.strength for v in plain] == [v.strength for v in divided]
    both, *_ = both_ends_of(table, pairs, intercept=True, threads=1)
    both_divided, *_ = both_ends_of(table, pairs, intercept=True, threads=1, scales=scales)
    for i, (pair, one, other) in enumerate(zip(pairs, plain, divided, strict=True)):
        assert (other.evidence < one.evidence) == (scales[pair] > 1)
        assert (both_divided[i] < both[i]) == (scales[pair] > 1)


def test_evidence_of_one_degree_is_divided_exactly():
    table = encode(ig.simulate.ising(ig.simulate.chain(3), coupling=0.5).sample(300, seed=0))
    pairs, scales = [(0, 1), (1, 2)], random_scales(np.random.default_rng(2), 3)
    plain = RefittedValues(table, True, 1)(pairs)
    divided = RefittedValues(table, True, 1, scales=scales)(pairs)
    for pair, one, other in zip(pairs, plain, divided, strict=True):
        assert other.evidence == pytest.approx(one.evidence / scales[pair], rel=1e-12)


def test_a_recorded_gain_is_that_of_the_divided_one():
    table = as_table(middle("mixed", 8, n=300, p=6))
    scales = random_scales(np.random.default_rng(3), 6)
    runs = learn_neighbourhoods(table, 1e-4, n_jobs=1, scales=scales, max_degree=1)
    for r in range(6):
        (step,) = runs.path(r).steps
        raw = runs.path(r).start.loss - step.loss  # with nothing else in, a refit gains the gain
        null = node_loss(table, r).null(step.variable).times(scales[r, step.variable])
        assert step.gain == pytest.approx(float(calibrated_gain(raw, [null], table.n)[0]), rel=1e-5)


@pytest.mark.parametrize("bad", [np.ones((2, 2)), np.zeros((3, 3)), np.full((3, 3), np.nan)])
def test_bad_scales_are_refused(bad):
    table = encode(np.random.default_rng(0).integers(0, 2, (50, 3)))
    with pytest.raises(ValueError, match="scales are positive numbers, 3 x 3 of them"):
        learn_neighbourhoods(table, 0.01, scales=bad)
