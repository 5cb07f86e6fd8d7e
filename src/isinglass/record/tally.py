"""What the record of a fit keeps of its table: how often each state, and how pairs go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.documents.document import Fault, items, member, number, numbers

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """How each two columns go together with nothing else held; pairs in column order.

    Attributes
    ----------
    information : array (p(p-1)/2,)
        What one column says of the other, in nats per row of the whole table.
    sign : array (p(p-1)/2,) of int
        +1 or -1 where both columns are ordered and one rises or falls with the other, else 0.
    smallest : array (p(p-1)/2,)
        The rows of the smallest cell of the two columns' table.
    """

    information: Array
    sign: NDArray[np.int8]
    smallest: Array

    def to_json(self) -> dict[str, list[Any]]:
        """Plain lists."""
        return {
            "information": self.information.tolist(),
            "sign": self.sign.tolist(),
            "smallest": self.smallest.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Tally:
    """Rows of each state of each column, gaps last where they are left out; and the pairs.

    `pairs` is None where a table has too many columns for a number each.
    """

    counts: tuple[tuple[float, ...], ...]
    pairs: Pairs | None

    def to_json(self) -> dict[str, Any]:
        """Plain lists."""
        return {
            "counts": [list(rows) for rows in self.counts],
            "pairs": None if self.pairs is None else self.pairs.to_json(),
        }


def tally_from_json(value: Any, states: tuple[int, ...]) -> Tally | None:
    """The tally that `Tally.to_json` wrote; Fault if anything is odd."""
    if value is None:
        return None
    rows = items(member(value, "counts", "the tally"), "the counts", len(states))
    counts = tuple(
        tuple(numbers(some, "the counts of a column", m))
        for some, m in zip(rows, states, strict=True)
    )
    if any(count < 0 for some in counts for count in some):
        raise Fault("the counts of a column must not be negative")
    pairs = member(value, "pairs", "the tally")
    return Tally(counts, None if pairs is None else _pairs_from_json(pairs, len(states)))


def _pairs_from_json(value: Any, p: int) -> Pairs:
    def part(key: str) -> list[Any]:
        return items(member(value, key, "the pairs"), f"the {key} of pairs", p * (p - 1) // 2)

    signs = part("sign")
    if not all(type(sign) is int and -1 <= sign <= 1 for sign in signs):
        raise Fault("the sign of a pair must be -1, 0 or 1")
    information, smallest = (
        np.array([_not_negative(one, f"the {key} of a pair") for one in part(key)])
        for key in ("information", "smallest")
    )
    return Pairs(information, np.array(signs, dtype=np.int8), smallest)


def _not_negative(value: Any, where: str) -> float:
    size = number(value, where)
    if size < 0:
        raise Fault(f"{where} must not be negative")
    return size
