"""The noise level of the theorem: the largest slope at the parameters that rows are drawn from.

The slope at an estimate is no such thing: it vanishes on the support. So tables are drawn from a
model whose parameters are known, and the slope is taken there. Of a regression's rows, the slopes
are multiplied by random signs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.engine import Progress
from isinglass.losses.forms import zero_sum_basis
from isinglass.losses.protocol import Block
from isinglass.model import Exact, Gibbs, MarkovField
from isinglass.theorem.curvature import Instance, contrasts

Array = NDArray[np.float64]

#: The share of drawn tables whose largest slope is below the noise level.
QUANTILE = 0.95
#: Tables have at most so many rows; the noise of larger ones follows by the root of the rows.
MOST_ROWS = 4000
#: Newton's steps to the best intercept, which is near that of the model.
STEPS = 50
#: Bytes that exact sampling may take; beyond, Gibbs sampling.
METHOD = (Exact(memory=2e8), Gibbs())


def draw(field: MarkovField, rows: int, seed: int, stream: int) -> NDArray[np.integer]:
    """Rows of codes; the streams of a seed do not overlap."""
    state = int(np.random.SeedSequence([seed, stream]).generate_state(1)[0])
    return field.sample_codes(rows, seed=state, n_jobs=1, method=METHOD)


def largest_slopes(
    field: MarkovField,
    rows: float,
    draws: int,
    seed: int,
    *,
    intercept: bool = True,
    progress: Progress | None = None,
) -> Array:
    """The largest slope of each column at the parameters of the model: (draws, columns).

    Each is of a table of so many rows drawn from the model.
    """
    drawn = int(min(max(round(rows), 2), MOST_ROWS))
    slopes = np.zeros((draws, len(field.names)))
    for at in range(draws):
        codes = draw(field, drawn, seed, at + 1)
        prepared = contrasts(codes, field.n_states)
        for r, m in enumerate(field.n_states):
            if m > 1:
                slopes[at, r] = largest_slope(field, codes, r, *prepared, intercept=intercept)
        if progress is not None:
            progress(at + 1, draws)
    scaled: Array = slopes * np.sqrt(drawn / rows)
    return scaled


def largest_slope(
    field: MarkovField,
    codes: NDArray[np.integer],
    r: int,
    design: Array,
    groups: Sequence[Block],
    *,
    intercept: bool = True,
) -> float:
    """The largest slope of one column at the model's parameters, its intercept re-optimised.

    The same as `Instance.largest_slope`, for many draws: no curvature of single rows is made.
    """
    n, m = len(codes), field.n_states[r]
    scores = np.tile(field.intercepts[r] if intercept else np.zeros(m), (n, 1))
    for t, table in field.tables_of(r).items():
        scores += table[codes[:, t]]
    seen = np.eye(m)[codes[:, r]]
    expected = _softmax(scores)
    if intercept:
        expected = _with_best_level(scores, expected, seen.mean(axis=0))
    pulls = design.T @ ((expected - seen) @ zero_sum_basis(m)) / n
    squares = (pulls**2).sum(axis=1)
    begin = [group[0] for group in groups if group]
    norms = np.add.reduceat(squares, begin)
    norms[[t for t, group in enumerate(groups) if group].index(r)] = 0.0
    return float(np.sqrt(norms.max(initial=0.0)))


def _softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    share: Array = weights / weights.sum(axis=1, keepdims=True)
    return share


def _with_best_level(scores: Array, expected: Array, seen: Array) -> Array:
    """Probabilities once the level of every state fits the rows; Newton's steps, from near by."""
    basis = zero_sum_basis(scores.shape[1])
    level = np.zeros(scores.shape[1])
    for _ in range(STEPS):
        mean = expected.mean(axis=0)
        slope = basis.T @ (mean - seen)
        if np.abs(slope).max() < 1e-12:
            break
        spread = np.diag(mean) - expected.T @ expected / len(scores)
        step = np.linalg.lstsq(basis.T @ spread @ basis, slope, rcond=None)[0]
        level = level - basis @ np.clip(step, -1.0, 1.0)
        expected = _softmax(scores + level)
    return expected


def signed_slopes(instance: Instance, draws: int, seed: int) -> Array:
    """The largest slope of a regression with random signs on its rows: (draws,).

    What a row adds to the slope at the truth has mean zero, so that its sign may as well be drawn.
    """
    rng = np.random.default_rng(seed)
    rows = instance.row_slopes()
    design = instance.design
    if instance.intercept:
        design = design - instance.shares @ design
    slopes = np.empty(draws)
    for at in range(draws):
        signs = rng.choice([-1.0, 1.0], len(rows))
        slope = (design.T @ (rows * signs[:, None])).ravel()
        slopes[at] = max(float(np.linalg.norm(slope[block])) for block in instance.blocks)
    return slopes


def noise_level(slopes: Array) -> Array:
    """The quantile over draws, per column."""
    level: Array = np.quantile(slopes, QUANTILE, axis=0)
    return level
