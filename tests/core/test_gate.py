"""What is no table does not reach the core."""

import numpy as np
import pytest

from isinglass.core import (
    all_pair_counts,
    edge_losses,
    factorise_integers,
    fit_columns,
    l1_paths,
    pair_counts,
    search_columns,
)

CODES = np.array([[0, 2], [1, 0], [1, 1]])
ONES = np.ones(3)


def search(codes, weights, n_states):
    settings = {"nu": 0.5, "intercept": True, "max_degree": None, "threads": 1}
    return search_columns(codes, weights, n_states, 0.1, **settings)


def value(codes, weights, n_states):
    return fit_columns(codes, weights, n_states, [[1], [0]], intercept=True, threads=1)


def losses(codes, weights, n_states):
    settings = {"left_out": [[1], [0]], "intercept": True, "threads": 1}
    return edge_losses(codes, weights, n_states, [0, 1], [[1], [0]], **settings)


def l1(codes, weights, n_states):
    settings = {"scales": np.ones(2), "intercept": True, "threads": 1}
    return l1_paths(codes, weights, n_states, np.array([0.1]), **settings)


def pairs(codes, weights, n_states):
    return all_pair_counts(codes, weights, n_states, 1)


@pytest.mark.parametrize("call", [search, value, losses, l1, pairs])
def test_what_is_no_table_is_refused(call):
    call(CODES, ONES, [2, 3])
    refused = [
        (CODES, ONES, [2, 2], "a code without a state"),
        (CODES.astype(np.uint8), ONES, [2, 2], "a code without a state"),
        (CODES - 1, ONES, [2, 3], "a code without a state"),
        (CODES + 256, ONES, [2, 3], "a code without a state"),
        (CODES + 255, ONES, [256, 256], "a code without a state"),
        (CODES.astype(float), ONES, [2, 3], "codes are whole numbers"),
        (CODES[:, 0], ONES, [2, 3], "codes are whole numbers in rows and columns"),
        (CODES, ONES, [2], "2 columns of codes, but 1 numbers of states"),
        (CODES, ONES, [2, 3, 2], "2 columns of codes, but 3 numbers of states"),
        (CODES, ONES, [2, 257], "every column has 1 to 256 states"),
        (CODES, ONES, [2, -1], "every column has 1 to 256 states"),
        (CODES, ONES, [2, 3.5], "every column has 1 to 256 states"),
        (CODES, ONES[:2], [2, 3], "one weight for each row"),
        (CODES, ONES * np.nan, [2, 3], "weights are finite, and not negative"),
        (CODES, -ONES, [2, 3], "weights are finite, and not negative"),
    ]
    for codes, weights, n_states, says in refused:
        with pytest.raises(ValueError, match=says):
            call(codes, weights, n_states)


def test_pair_counts_and_threads():
    with pytest.raises(ValueError, match="a code without a state"):
        pair_counts(CODES + 256, [2, 3], 0, 1)
    with pytest.raises(ValueError, match="at least one thread"):
        all_pair_counts(CODES, ONES, [2, 3], 0)


def test_tables_of_integers_without_a_cell():
    for data in (np.empty((0, 2), int), np.empty((2, 0), int), np.ones((2, 2)), np.arange(3)):
        with pytest.raises(ValueError, match="integers in at least one row and one column"):
            factorise_integers(data, 1)
