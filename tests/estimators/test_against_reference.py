"""GreedyGraph takes the steps of the slow, literal definition."""

import numpy as np
import pytest

from instances import instance
from isinglass import GreedyGraph
from reference import search
from selections import mostly_long

# The closest decision must not hinge on rounding; exact ties do not count as close.
CLEAR = 2e-10


def compare(seed: int) -> None:
    case = instance(seed)
    est = GreedyGraph(
        case.threshold,
        nu=case.nu,
        intercept=case.intercept,
        max_states=200,
        n_jobs=1,
        edges="table",
    ).fit(case.codes, sample_weight=case.weights)
    for r, path in enumerate(est.paths_):
        expected = search(case.codes, case.weights, r, case.threshold, case.nu, case.intercept)
        assert path.start.loss == pytest.approx(expected.start.loss, abs=1e-10)
        for step, truth in zip(path.steps, expected, strict=False):
            if truth.margin < CLEAR:
                break
            assert (step.kind, step.variable) == (truth.kind, truth.variable)
            change = step.gain if step.kind == "add" else step.cost
            assert change == pytest.approx(truth.gain, abs=1e-8)
            assert step.loss == pytest.approx(truth.loss, abs=1e-10)
            for t, table in truth.tables.items():
                np.testing.assert_allclose(step.coef[t], table, atol=1e-2)
        else:
            if expected.margin >= CLEAR:
                assert len(path.steps) == len(expected)


@pytest.mark.parametrize("seed", mostly_long(range(60), 30))
def test_same_steps(seed):
    compare(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60, 600))
def test_same_steps_at_length(seed):
    compare(seed)
