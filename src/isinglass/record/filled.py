"""What the record of a fit keeps of missing values that were filled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Pair = tuple[int, int]


@dataclass(frozen=True)
class Filled:
    """Missing values, and how they were filled.

    Attributes
    ----------
    missing : tuple of int
        Missing cells of each column.
    lost : dict of (int, int) to float
        The share of the information about an edge that they cost.
    draws, rounds : int
        How often each cell was filled, and the searches until the graph no longer changed.
    settled : bool
        Whether it stopped changing.
    """

    missing: tuple[int, ...]
    lost: Mapping[Pair, float]
    draws: int
    rounds: int
    settled: bool

    def how(self) -> dict[str, int | bool]:
        """How values were filled, without what is known of columns and edges."""
        return {"draws": self.draws, "rounds": self.rounds, "settled": self.settled}
