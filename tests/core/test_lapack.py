"""LAPACK as the core uses it: one thread for each of the core's own."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from isinglass import GreedyGraph, L1Graph


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.mark.parametrize("estimator", [GreedyGraph(), L1Graph(n_lambdas=3)])
def test_blas_has_one_thread_while_the_core_works(estimator):
    """Many threads on small systems wait for each other: a search took ten times as long."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 7, (500, 4))
    seen = set()
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        estimator.fit(x, progress=lambda done, total: seen.update(blas_threads()))
        assert blas_threads() == before
    assert seen == {1}
