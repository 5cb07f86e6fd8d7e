"""Small models row by row: every combination of states, its probability, and their moments.

Nothing here uses the package; a model is read through its names, intercepts and couplings.
"""

import math
from itertools import combinations, product

import numpy as np


def all_rows(field) -> np.ndarray:
    """Codes of every row there could be."""
    return np.array(list(product(*(range(len(labels)) for labels in field.states))))


def log_potential(field, row) -> float:
    total = sum(field.intercepts[i][code] for i, code in enumerate(row))
    return total + sum(table[row[i], row[j]] for (i, j), table in field.couplings.items())


def log_partition(field) -> float:
    return math.log(math.fsum(math.exp(log_potential(field, row)) for row in all_rows(field)))


def probabilities(field) -> np.ndarray:
    weights = np.array([math.exp(log_potential(field, row)) for row in all_rows(field)])
    return weights / weights.sum()


def moments(field, rows, weights) -> np.ndarray:
    """Probabilities of each state of each column, and of each pair of states of two columns."""
    m = [len(labels) for labels in field.states]
    single = [np.bincount(rows[:, j], weights, minlength=m[j]) for j in range(len(m))]
    pairs = [
        np.bincount(rows[:, i] * m[j] + rows[:, j], weights, minlength=m[i] * m[j])
        for i, j in combinations(range(len(m)), 2)
    ]
    return np.concatenate([*single, *pairs])


def standard_errors_off(field, codes, rows_worth: float | None = None) -> float:
    """The largest distance of a sample's moments from the true ones, in standard errors."""
    n = len(codes)
    expected = moments(field, all_rows(field), probabilities(field))
    found = moments(field, codes.astype(np.int64), np.full(n, 1 / n))
    error = np.sqrt(np.maximum(expected * (1 - expected), 0) / (rows_worth or n))
    certain = error < 1e-9
    assert np.abs(found - expected)[certain].max(initial=0) < 1e-9
    return float((np.abs(found - expected)[~certain] / error[~certain]).max(initial=0))
