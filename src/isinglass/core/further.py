"""Edges that nobody has proposed, and how columns look for them."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isinglass.core.lists import as_pairs


@dataclass(frozen=True)
class LookFurther:
    """When and how; see ``core/ends/elimination.hpp``.

    Attributes
    ----------
    firm : float
        Once all statistics are above it, every column looks for further neighbours. What both ends
        together say of these must be above it, too.
    alone, gain : float
        What one end must gain by itself, per row and as one parameter, or what both ends must.
    forbidden : mapping
        For each column, others that are never looked at.
    max_degree : int or None
        The number of neighbours from which on a column does not look.
    """

    firm: float
    alone: float
    gain: float
    forbidden: Mapping[int, Set[int]] = field(default_factory=dict)
    max_degree: int | None = None


class Further(NamedTuple):
    """An edge that came in so, whether it has the smaller of its forms, and which ends found it."""

    pair: tuple[int, int]
    small: bool
    by: tuple[bool, bool]


class Seen(NamedTuple):
    """What was seen of edges: those that were asked for, then further ones."""

    statistic: NDArray[np.float64]
    entry: NDArray[np.float64]
    further: list[Further]


def as_looking(looking: LookFurther | None) -> dict[str, Any]:
    """What the core takes; a gain below zero where nobody looks."""
    how = looking or LookFurther(0.0, -1.0, -1.0)
    return {
        "firm": how.firm,
        "alone": how.alone,
        "gain": how.gain,
        "forbidden": as_pairs(how.forbidden),
        "max_degree": -1 if how.max_degree is None else how.max_degree,
    }


def read_further(numbers: NDArray[np.int64]) -> list[Further]:
    """Edges as the core tells of them: two columns and three marks each."""
    return [
        Further((a, b), bool(small), (bool(one), bool(other)))
        for a, b, small, one, other in numbers.reshape(-1, 5).tolist()
    ]
