"""Design effects: how many times more a pair varies because of weights than its rows would.

The score of a pair is summed over rows, or over clusters of rows. Its variance, relative to what
rows drawn one by one would have, is tr(H^-1 B)/df (Rao and Scott 1981), at no link and no other
column in the model. Gains and evidence of the pair are divided by it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.integer]

#: Numbers that are worked on at a time.
AT_ONCE = 2**23


def weight_effects(codes: Codes, weights: Array, n_states: Sequence[int]) -> Array:
    """The design effect of sampling weights on each pair of columns, a symmetric (p, p) array.

    Weights are such that the sum of their squares is their sum, so that the effect is one on
    average. With `u` the mean weight of a row's worth of each cell, the sum of squares over the
    sum, tr(H^-1 B) is the sum over cells of ``u (1 - p_a) (1 - q_b)``: a mean of the `u`. Each
    cell has one row more, of the mean weight, so that few rows do not say much.
    """
    rows, squares = (_pair_sums(codes, w, n_states) for w in (weights, weights**2))
    per_row = (squares + 1.0) / (rows + 1.0)
    free = 1.0 - np.diag(rows) / weights.sum()
    return _by_pair(per_row * np.outer(free, free), n_states)


def _pair_sums(codes: Codes, weights: Array, n_states: Sequence[int]) -> Array:
    """The weight in each combination of two states, states of all columns in a row."""
    total = np.zeros((sum(n_states), sum(n_states)))
    for part in _parts(len(codes), sum(n_states)):
        seen = _indicators(codes[part], n_states)
        total += seen.T @ (seen * weights[part, None])
    return total


def _parts(rows: int, width: int) -> list[slice]:
    step = max(AT_ONCE // width, 1)
    return [slice(begin, begin + step) for begin in range(0, rows, step)]


def _indicators(codes: Codes, n_states: Sequence[int]) -> Array:
    return np.hstack([np.eye(m)[codes[:, t]] for t, m in enumerate(n_states)])


def _by_pair(cells: Array, n_states: Sequence[int]) -> Array:
    """Sums over the cells of each pair, per degree of freedom; one where there is none."""
    begin = np.cumsum([0, *n_states[:-1]])
    total = np.add.reduceat(np.add.reduceat(cells, begin, axis=0), begin, axis=1)
    df = np.outer(np.asarray(n_states) - 1, np.asarray(n_states) - 1)
    effects = np.where(df > 0, total / np.maximum(df, 1), 1.0)
    np.fill_diagonal(effects, 1.0)
    return effects
