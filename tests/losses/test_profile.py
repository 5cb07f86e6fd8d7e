"""The small search behind gains and costs, in the readable solver."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from isinglass.losses.profile import profiled_minimum


def least_value(scores, rows, totals) -> float:
    """The minimum that a general solver finds."""

    def shifted(v):
        return scores + np.append(0.0, v)

    def value(v):
        return rows @ logsumexp(shifted(v), axis=1) - totals[1:] @ v

    def slope(v):
        return (rows @ softmax(shifted(v), axis=1) - totals)[1:]

    def curvature(v):
        probability = softmax(shifted(v), axis=1)
        crossed = np.einsum("s,sa,sb->ab", rows, probability, probability)
        return (np.diag(rows @ probability) - crossed)[1:, 1:]

    start = np.zeros(len(totals) - 1)
    options = {"gtol": 1e-9, "maxiter": 2000}
    return minimize(
        value, start, jac=slope, hess=curvature, method="trust-exact", options=options
    ).fun


# The last four need halved steps.
@pytest.mark.parametrize("seed", [*range(20), 265, 412, 1137, 1267])
def test_saturated_problems_end_at_their_minimum(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 30, (12, 4))
    rows = rng.integers(1, 40, 12).astype(float)
    seen = 1.0 + rng.multinomial(100, rng.dirichlet(np.full(4, 0.3)))
    totals = seen / seen.sum() * rows.sum()
    found = profiled_minimum(scores, rows[:, None], totals[None])[0]
    assert found == pytest.approx(least_value(scores, rows, totals), abs=1e-5)


def test_states_that_are_nearly_separated_end_at_their_minimum():
    # A step that promised less than rounding once raised the value by 700, and was taken.
    scores = np.array(
        [
            [110.55, 102.01, 75.96, -53.59, -234.94],
            [55.27, 64.0, 55.23, -22.49, -152.01],
            [-55.3, -12.01, 13.77, 39.7, 13.84],
            [-110.58, -50.02, -6.96, 70.8, 96.77],
        ]
    )
    rows = np.array([7.0, 16.0, 15.0, 4.0])
    totals = np.array([7.0, 16.0, 0.0, 15.0, 4.0])
    seen = totals > 0
    found = profiled_minimum(scores, rows[:, None], totals[None])[0]
    slow = least_value(scores[:, seen], rows, totals[seen])
    assert found == pytest.approx(slow, abs=1e-6)
    assert found > rows @ scores[np.arange(4), [0, 1, 3, 4]]  # nothing is more than certain
