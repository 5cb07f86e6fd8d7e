"""How the odds of one answer shift when another is known."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class OddsShift:
    """The odds of one answer with and without another; frozen.

    Attributes
    ----------
    of, when : tuple of str and label
        The answer asked about, and the one that becomes known.
    against : label or None
        The other answer that ``when`` is compared with; None: with not knowing it.
    before, after : float
        The chance of ``of`` without and with ``when``.
    log_odds : float
        Log of the ratio of the odds after to the odds before.
    error : float or None
        Its standard error if it was sampled; None if it is exact.
    """

    of: tuple[str, Hashable]
    when: tuple[str, Hashable]
    against: Hashable | None
    before: float
    after: float
    log_odds: float
    error: float | None = None

    @property
    def odds_ratio(self) -> float:
        """The odds after, over the odds before."""
        return float(np.exp(self.log_odds))

    @property
    def sentence(self) -> str:
        """The answer in words."""
        other = "not knowing" if self.against is None else f"{self.when[0]} = {self.against}"
        error = "" if self.error is None else f" (log-odds {self.log_odds:.2f} ± {self.error:.2g})"
        return (
            f"with {self.when[0]} = {self.when[1]} the odds of {self.of[0]} = {self.of[1]} are "
            f"{self.odds_ratio:.3g} times those with {other}{error}: a chance of {self.after:.3g} "
            f"instead of {self.before:.3g}"
        )

    def __repr__(self) -> str:
        return self.sentence


def shift_in(joint: Array, of: int, when: int, against: int | None) -> tuple[float, float, float]:
    """Chance before, chance after and the log odds ratio, from a joint table of two columns.

    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> before, after, shift = shift_in(joint, 1, 1, None)
    >>> round(before, 3), round(after, 3), round(float(np.exp(shift)), 3)
    (0.5, 0.8, 4.0)
    """
    without = joint.sum(axis=1) if against is None else joint[:, against]
    before, after = (_chance_and_log_odds(column, of) for column in (without, joint[:, when]))
    return before[0], after[0], after[1] - before[1]


def _chance_and_log_odds(weights: Array, of: int) -> tuple[float, float]:
    yes, no = weights[of], np.delete(weights, of).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(yes / (yes + no)), float(np.log(yes) - np.log(no))
