"""Links that must be in a graph, and links that must not.

In the search of a column its required others are in the support from the start and are never
dropped; forbidden ones are never looked at. All else is Algorithm 1: the path of a column begins
with the fit on what is required, and its steps are the steps from there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

Pair = tuple[int, int]
Others = Mapping[int, Set[int]]


@dataclass(frozen=True)
class Constraints:
    """For each column that is concerned, its required and its forbidden others.

    >>> Constraints.of_pairs(required=[(0, 2)], forbidden=[(1, 2)]).required
    {0: {2}, 2: {0}}
    """

    required: Others = field(default_factory=dict)
    forbidden: Others = field(default_factory=dict)

    @classmethod
    def of_pairs(cls, required: Iterable[Pair] = (), forbidden: Iterable[Pair] = ()) -> Constraints:
        """Pairs of columns, each seen from both its ends."""
        return cls(_from_both_ends(required), _from_both_ends(forbidden))

    @property
    def pairs(self) -> frozenset[Pair]:
        """Required pairs, each once, the lower column first."""
        return frozenset((r, t) for r, others in self.required.items() for t in others if r < t)

    def candidates(self, r: int, possible: Iterable[int]) -> tuple[int, ...]:
        """Of the columns that could be neighbours of r, those that may be."""
        return tuple(t for t in possible if t not in self.forbidden.get(r, ()))

    def start(self, r: int, possible: Iterable[int]) -> tuple[int, ...]:
        """Of the columns that could be neighbours of r, those that must be."""
        return tuple(t for t in possible if t in self.required.get(r, ()))


def _from_both_ends(pairs: Iterable[Pair]) -> dict[int, set[int]]:
    others: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in pairs:
        others[a].add(b)
        others[b].add(a)
    return dict(others)


#: Nothing is required, nothing forbidden.
FREE = Constraints()
