"""The native engine takes the steps of the slow, literal definition, and skips nothing better."""

import numpy as np
import pytest

from engine.adversarial import Case, case
from engine.agreement import assert_same_column, run_native, run_readable
from instances import instance
from isinglass.solvers.path import Path
from reference import Path as Truth
from reference import search

# The closest decision must not hinge on rounding; exact ties do not count as close. Two gains
# that differ by 0.9e-9 to 1.1e-9 are 1e-10 or less from the edge of a tie: skipped as well.
CLEAR = 2e-10
SHORT, LONG = 54, 2106


def compare(drawn: Case) -> None:
    runs = run_native(drawn)
    for r in drawn.targets or range(drawn.codes.shape[1]):
        try:
            truth = definition(drawn, r)
        except ArithmeticError:  # rounding stopped the definition's own Newton steps
            assert_same_column(runs, run_readable(drawn), r)
        else:
            compare_paths(runs.path(r), truth)


def definition(drawn: Case, r: int) -> Truth:
    settings = (drawn.threshold, drawn.nu, drawn.intercept, drawn.max_degree)
    return search(drawn.codes, drawn.weights, r, *settings)


def compare_paths(path: Path, expected: Truth) -> None:
    assert path.start.loss == pytest.approx(expected.start.loss, abs=1e-10)
    for step, truth in zip(path.steps, expected, strict=False):
        if truth.margin < CLEAR:
            return
        assert (step.kind, step.variable) == (truth.kind, truth.variable)
        assert (step.gain or step.cost) == pytest.approx(truth.gain, abs=1e-8)
        assert step.loss == pytest.approx(truth.loss, abs=1e-10)
        for t, table in truth.tables.items():
            np.testing.assert_allclose(step.coef[t], table, atol=1e-4)
    if expected.margin >= CLEAR:
        assert len(path.steps) == len(expected)


@pytest.mark.parametrize("seed", range(SHORT))
def test_same_steps(seed):
    compare(case(seed))


def test_a_plateau_between_nearly_certain_cells():
    """Newton's steps mean nothing where hardly a row is in doubt: gains must still converge."""
    codes = [[0, 1, 2, 1, 2], [2, 1, 2, 0, 1], [2, 2, 2, 2, 2], [1, 2, 0, 1, 0], [2, 1, 0, 1, 0]]
    compare(Case(np.array(codes), np.array([1000.0, 1, 1000, 1000, 3]), 1e-4))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(SHORT, LONG))
def test_same_steps_at_length(seed):
    compare(case(seed))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1220))
def test_same_steps_on_common_instances(seed):
    drawn = instance(seed)
    compare(Case(drawn.codes, drawn.weights, drawn.threshold, drawn.nu, drawn.intercept))
