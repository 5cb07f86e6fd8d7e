"""The noise level of the theorem: the largest slope at the parameters that rows are drawn from.

The slope at an estimate is no such thing: it vanishes on the support. So tables are drawn from a
model whose parameters are known, and the slope is taken there. Of a regression's rows, the slopes
are multiplied by random signs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from isinglass.engine import Progress
from isinglass.model import Exact, Gibbs, MarkovField
from isinglass.theorem.curvature import Instance, column_instance, contrasts

Array = NDArray[np.float64]

#: The share of drawn tables whose largest slope is below the noise level.
QUANTILE = 0.95
#: Tables have at most so many rows; the noise of larger ones follows by the root of the rows.
MOST_ROWS = 4000
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
    slopes = np.empty((draws, len(field.names)))
    for at in range(draws):
        codes = draw(field, drawn, seed, at + 1)
        prepared = contrasts(codes, field.n_states)
        weights = np.ones(drawn)
        for r, m in enumerate(field.n_states):
            tables = {t: table.T for t, table in field.tables_of(r).items()}
            slopes[at, r] = 0.0
            if m > 1:
                here = column_instance(
                    codes, weights, field.n_states, r, tables,
                    intercept=intercept, prepared=prepared,
                )  # fmt: skip
                slopes[at, r] = here.largest_slope()
        if progress is not None:
            progress(at + 1, draws)
    scaled: Array = slopes * np.sqrt(drawn / rows)
    return scaled


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
