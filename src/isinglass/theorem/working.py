"""The working numbers: rows with which links are found, margins, and the condition of l1.

They are no theorem. They come from what a search does on a very large draw from the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import chndtr, ndtri

from isinglass.losses.protocol import Block
from isinglass.solvers.blocks import Blocks
from isinglass.solvers.path import Path
from isinglass.theorem.curvature import Instance
from isinglass.uncertainty.power.smallest_link import critical_value

Array = NDArray[np.float64]

#: The probability with which a link is to be found.
POWER = 0.95


def last_gain(blocks: Blocks, support: Sequence[int], t: int) -> float:
    """What one member gains per row if it is the last to come in."""
    others = [j for j in support if j != t]
    return float(blocks.gains(blocks.fit(others), [t])[0])


def rows_to_find(gain: float, df: int, needed: float) -> float:
    """Rows with which a candidate is found with probability 0.95.

    2n times its gain is about a noncentral chi-square around 2n times `gain`; `needed` is what that
    must exceed for one parameter.

    >>> round(rows_to_find(0.01, 1, 10.0))
    1155
    """
    if not gain > 0:
        return float("inf")
    critical = critical_value(needed, df)
    if df == 1:
        centre = float((np.sqrt(critical) + ndtri(POWER)) ** 2)
    else:
        most = 4 * (critical + df + 20.0)
        centre = float(brentq(lambda c: 1 - chndtr(critical, df, c) - POWER, 0.0, most))
    return centre / (2 * gain)


def smallest_margin(blocks: Blocks, path: Path, truth: Sequence[int]) -> float:
    """How many times more the best true candidate gained than the best false one, at the least.

    Of the steps of a search at which a true candidate was still outside; infinite if there was
    none, or no false candidate.
    """
    true = set(truth)
    margin = float("inf")
    fits = [path.start, *(step.fit for step in path.steps)]
    supports: list[Block] = [path.required, *(step.support for step in path.steps)]
    for fit, support in zip(fits, supports, strict=True):
        left = [j for j in blocks.candidates if j not in support]
        if not true - set(support):
            break
        gains = dict(zip(left, blocks.gains(fit, left), strict=True))
        best = max((gain for j, gain in gains.items() if j in true), default=0.0)
        wrong = max((gain for j, gain in gains.items() if j not in true), default=0.0)
        margin = min(margin, float(best / wrong) if wrong > 0 else float("inf"))
    return margin


def irrepresentability(curvature: Array, instance: Instance) -> float:
    """What l1 regression needs to be below 1: the pull of the support on the others.

    The largest norm of H_tS H_SS^-1 z over candidates t outside the support S, where z has the
    coefficients of each member, divided by their norm: for one parameter their signs.
    """
    blocks, inside = instance.blocks, instance.support
    outside = [at for at in range(len(blocks)) if at not in inside]
    if not inside or not outside:
        return 0.0
    own = np.concatenate([blocks[at] for at in inside])
    flat = instance.coef.ravel()
    signs = np.concatenate([flat[blocks[at]] / np.linalg.norm(flat[blocks[at]]) for at in inside])
    pull = np.linalg.lstsq(curvature[np.ix_(own, own)], signs, rcond=None)[0]
    return max(float(np.linalg.norm(curvature[np.ix_(blocks[t], own)] @ pull)) for t in outside)


def by_either_end(gains: Mapping[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    """The larger gain of the two ends of each link: one end suffices."""
    best: dict[tuple[int, int], float] = {}
    for (r, t), gain in gains.items():
        pair = (min(r, t), max(r, t))
        best[pair] = max(best.get(pair, 0.0), gain)
    return best
