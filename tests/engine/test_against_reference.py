"""The native engine takes the steps of the slow, literal definition, and skips nothing better."""

import numpy as np
import pytest

from engine.adversarial import Case, case
from instances import instance
from isinglass.engine.native import NativeRuns, learn_native
from isinglass.solvers.path import Path
from isinglass.table import encode
from reference import Path as Truth
from reference import search

# The closest decision must not hinge on rounding; exact ties do not count as close. Two gains
# that differ by 0.9e-9 to 1.1e-9 are 1e-10 or less from the edge of a tie: skipped as well.
CLEAR = 2e-10
SHORT, LONG = 54, 2052


def run(drawn: Case) -> NativeRuns:
    n = float(drawn.weights.sum())  # not "sum", which takes counts only
    return learn_native(
        encode(drawn.codes, drawn.weights, n_eff=n, max_states=200),
        drawn.threshold,
        nu=drawn.nu,
        intercept=drawn.intercept,
        max_degree=drawn.max_degree,
        threads=1,
        progress=None,
        check=True,
    )


def definition(drawn: Case, r: int) -> Truth:
    return search(
        drawn.codes,
        drawn.weights,
        r,
        drawn.threshold,
        drawn.nu,
        drawn.intercept,
        drawn.max_degree,
    )


def compare(path: Path, expected: Truth) -> None:
    assert path.start.loss == pytest.approx(expected.start.loss, abs=1e-10)
    for step, truth in zip(path.steps, expected, strict=False):
        if truth.margin < CLEAR:
            return
        assert (step.kind, step.variable) == (truth.kind, truth.variable)
        change = step.gain if step.kind == "add" else step.cost
        assert change == pytest.approx(truth.gain, abs=1e-8)
        assert step.loss == pytest.approx(truth.loss, abs=1e-10)
        for t, table in truth.tables.items():
            np.testing.assert_allclose(step.coef[t], table, atol=1e-2)
    if expected.margin >= CLEAR:
        assert len(path.steps) == len(expected)


def compare_adversarial(seed: int) -> None:
    drawn = case(seed)
    runs = run(drawn)
    for r in drawn.targets or range(drawn.codes.shape[1]):
        compare(runs.path(r), definition(drawn, r))


def compare_instance(seed: int) -> None:
    drawn = instance(seed)
    same = Case(drawn.codes, drawn.weights, drawn.threshold, drawn.nu, drawn.intercept)
    runs = run(same)
    for r in range(drawn.codes.shape[1]):
        compare(runs.path(r), definition(same, r))


@pytest.mark.parametrize("seed", range(SHORT))
def test_same_steps(seed):
    compare_adversarial(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SHORT, LONG))
def test_same_steps_at_length(seed):
    compare_adversarial(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1220))
def test_same_steps_on_common_instances(seed):
    compare_instance(seed)
