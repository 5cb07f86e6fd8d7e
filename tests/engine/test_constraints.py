"""Required and forbidden links: both solvers do the same, and it is what the definition says."""

from itertools import combinations

import numpy as np
import pytest

from engine.adversarial import Case, case
from engine.agreement import (
    as_table,
    assert_same_column,
    settings_of,
    steps_of,
    thresholds_of,
)
from instances import instance
from isinglass.engine import learn_neighbourhoods
from isinglass.engine.constraints import Constraints
from isinglass.engine.native import NativeRuns, learn_native
from isinglass.engine.readable import learn_readable
from isinglass.engine.runs import KeptRuns
from isinglass.table import encode
from reference import search

CLEAR = 2e-10  # the closest decision must not hinge on rounding


def draw_constraints(seed: int, p: int) -> Constraints:
    """Some pairs required, some forbidden, the others free."""
    rng = np.random.default_rng([31, seed])
    pairs = list(combinations(range(p), 2))
    fate = rng.choice(["required", "forbidden", "free"], p=[0.2, 0.3, 0.5], size=len(pairs))
    return Constraints.of_pairs(
        [pair for pair, what in zip(pairs, fate, strict=True) if what == "required"],
        [pair for pair, what in zip(pairs, fate, strict=True) if what == "forbidden"],
    )


def both(drawn: Case, constraints: Constraints) -> tuple[NativeRuns, KeptRuns]:
    settings = settings_of(drawn) | {"threads": 1, "constraints": constraints}
    table = as_table(drawn)
    native = learn_native(table, drawn.threshold, check=True, **settings)
    return native, learn_readable(table, drawn.threshold, **settings)


def agree(seed: int) -> None:
    drawn = case(seed)
    constraints = draw_constraints(seed, drawn.codes.shape[1])
    native, readable = both(drawn, constraints)
    for r in range(drawn.codes.shape[1]):
        assert_same_column(native, readable, r)
    for threshold in thresholds_of(readable, drawn.threshold):
        one, two = native.choices(threshold), readable.choices(threshold)
        np.testing.assert_array_equal(one.column, two.column)
        np.testing.assert_array_equal(one.neighbour, two.neighbour)


@pytest.mark.parametrize("seed", [seed for seed in range(60) if len(case(seed).codes) < 400][:18])
def test_native_is_readable(seed):
    agree(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", [s for s in range(60, 300) if len(case(s).codes) < 400])
def test_native_is_readable_at_length(seed):
    agree(seed)


@pytest.mark.parametrize("seed", [s for s in range(22) if s != 19])
def test_both_are_the_definition(seed):
    drawn = instance(seed)
    table = encode(drawn.codes, drawn.weights, max_states=200)
    constraints = draw_constraints(seed, drawn.codes.shape[1])
    runs = learn_native(
        table,
        drawn.threshold,
        nu=drawn.nu,
        intercept=drawn.intercept,
        max_degree=None,
        threads=1,
        constraints=constraints,
    )
    for r in range(drawn.codes.shape[1]):
        expected = search(
            drawn.codes,
            drawn.weights,
            r,
            drawn.threshold,
            drawn.nu,
            drawn.intercept,
            required=frozenset(constraints.required.get(r, ())),
            forbidden=frozenset(constraints.forbidden.get(r, ())),
        )
        path = runs.path(r)
        assert path.required == tuple(sorted(expected.start.support))
        assert path.start.loss == pytest.approx(expected.start.loss, abs=1e-10)
        for step, truth in zip(path.steps, expected, strict=False):
            if truth.margin < CLEAR:
                break
            assert (step.kind, step.variable) == (truth.kind, truth.variable)
            assert step.loss == pytest.approx(truth.loss, abs=1e-10)
        else:
            if expected.margin >= CLEAR:
                assert len(path.steps) == len(expected)


@pytest.mark.parametrize("seed", range(0, 40, 3))
def test_constraints_hold_at_every_step(seed):
    drawn = instance(seed)
    table = encode(drawn.codes, drawn.weights, max_states=200)
    constraints = draw_constraints(seed, len(table.columns))
    runs = learn_neighbourhoods(table, 1e-4, n_jobs=1, constraints=constraints)
    for r in range(len(table.columns)):
        path = runs.path(r)
        for support in [path.required, *(step.support for step in path.steps)]:
            assert set(path.required) <= set(support)
            assert not set(support) & set(constraints.forbidden.get(r, ()))


def test_nothing_required_changes_nothing():
    drawn = instance(0)
    table = encode(drawn.codes, drawn.weights)
    free = learn_neighbourhoods(table, 1e-3, n_jobs=1)
    far = Constraints.of_pairs(forbidden=[])
    same = learn_neighbourhoods(table, 1e-3, n_jobs=1, constraints=far)
    assert [steps_of(free, r) for r in range(len(free))] == [
        steps_of(same, r) for r in range(len(same))
    ]


def test_required_columns_count_towards_the_degree():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (300, 4))
    x[:, 3] = np.where(rng.random(300) < 0.9, x[:, 0], 1 - x[:, 0])
    table = encode(x)
    constraints = Constraints.of_pairs(required=[(1, 3)])
    runs = learn_neighbourhoods(table, 1e-3, n_jobs=1, constraints=constraints, max_degree=1)
    assert runs.path(3).support == (1,)
    assert "max_degree" in runs.path(3).status


def test_missing_values_left_out():
    """Each column on the rows where it is seen; a pair may be constant in one end's rows."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (200, 4)).astype(float)
    x[:40, 0] = np.nan
    x[x[:, 0] == x[:, 0], 1] = 1.0  # seen with column 0, column 1 is constant
    x[60:90, 2] = np.nan
    table = encode(x, missing="available")
    constraints = Constraints.of_pairs(required=[(0, 1), (2, 3)], forbidden=[(0, 3)])
    runs = learn_neighbourhoods(table, 1e-4, n_jobs=1, constraints=constraints)
    assert 0 in runs.path(1).support
    assert 3 in runs.path(2).support
    choices = runs.choices(1e-4)
    np.testing.assert_array_equal(runs.chosen(1e-4), (choices.column, choices.neighbour))
    assert not {(0, 3), (3, 0)} & set(zip(choices.column, choices.neighbour, strict=True))
