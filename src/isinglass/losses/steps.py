"""Tables in the forms "product" and "trend" as numbers per step of the ordered columns.

A step is one unit of a column's scores, as they were given. Numbers per step are linear in the
table, so that what is found for tables holds for their errors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.forms import PRODUCT, Scores

Array = NDArray[np.float64]
Ends = tuple[Scores | None, Scores | None]
"""The scores of the two columns of an edge; None where a column has none."""


def scored_ends(scores: Ends, form: str) -> tuple[bool, bool]:
    """Which columns of an edge go by scores: both in a product, the ordered one in a trend.

    >>> scored_ends(((0, 1, 2), None), "trend")
    (True, False)
    """
    if form == PRODUCT:
        return True, True
    return scores[0] is not None, scores[1] is not None


def per_step(table: Array, scores: Ends, form: str) -> Array:
    """The log odds ratio per step of a table, or of tables; in a trend one per unordered state.

    >>> float(per_step(0.5 * np.outer([-1, 0, 1], [-9, 9]), ((0, 1, 2), (20, 38)), "product"))
    0.5
    >>> per_step(np.outer([-1, 0, 1], [2, 0, -2]), (None, (1, 2, 3)), "trend").tolist()
    [2.0, 0.0, -2.0]
    """
    sides = zip(scores, table.shape[-2:], scored_ends(scores, form), strict=True)
    left, right = (
        _slope(_given(own, m))[None] if scored else np.eye(m) for own, m, scored in sides
    )
    ratios = left @ table @ right.T
    by_state = ratios.reshape(*table.shape[:-2], -1)
    return np.asarray(by_state[..., 0] if form == PRODUCT else by_state)


def step_log_odds(table: Array, scores: Ends, form: str) -> float | None:
    """The one number of a product of scores; None in other forms."""
    return float(per_step(table, scores, form)) if form == PRODUCT else None


def spread_of(scores: Scores | None, states: int) -> float:
    """The root mean square of centred scores: what a step is divided by where they are scaled.

    >>> spread_of(None, 2), spread_of((0, 2), 2)
    (0.5, 1.0)
    """
    return float(np.sqrt(np.mean(_centred(_given(scores, states)) ** 2)))


def step_in_words(names: Sequence[str], scores: Ends, form: str) -> str:
    """What a step of an edge is.

    >>> step_in_words(("age", "mood"), ((18, 30, 50), (0, 1, 2)), "product")
    'per unit of the scores of age and level of mood'
    """
    sides = zip(names, scores, scored_ends(scores, form), strict=True)
    parts = [f"{_unit(own)} of {name}" for name, own, scored in sides if scored]
    return f"per {' and '.join(parts)}"


def _unit(scores: Scores | None) -> str:
    return "level" if scores is None or set(np.diff(scores)) == {1.0} else "unit of the scores"


def _given(scores: Scores | None, states: int) -> Array:
    return np.arange(float(states)) if scores is None else np.asarray(scores[:states], dtype=float)


def _centred(scores: Array) -> Array:
    return np.asarray(scores - scores.mean())


def _slope(scores: Array) -> Array:
    """What a vector is multiplied with to find its least-squares slope on scores."""
    centred = _centred(scores)
    return np.asarray(centred / (centred @ centred))
