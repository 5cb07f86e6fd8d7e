"""In which order columns are summed out, and what that costs in memory.

Summing out a column needs a table over it and all columns it meets by then, through couplings
or through columns that are gone already. How large the largest table becomes depends on the
order. The best order is hard to find; a few quick rules are tried, and their costs compared.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

Columns = int
"""A set of columns: bit v is set if column v is in it. Large sets are joined in no time."""

Cost = Callable[[list[Columns], int], float]
"""What it costs to take out a column next, from the neighbours of each that are left."""

#: Bytes of tables below which no better order is looked for.
CHEAP = 10**7

#: No other order is tried for tables larger than this many times the memory.
HOPELESS = 10**6

#: Bytes of a number in a table.
NUMBER = 8


@dataclass(frozen=True)
class Elimination:
    """An order, and the tables it needs."""

    #: For each column, in the order of elimination: itself, then those it still meets, in order.
    scopes: tuple[tuple[int, ...], ...]
    #: How many combinations of states each scope has.
    sizes: tuple[int, ...]

    def bytes_needed(self, rows: int = 0, *, beliefs: bool = False) -> int:
        """Predict the memory for all tables, the work on the largest, and some rows."""
        # A column keeps its conditional probabilities and hands on a message, together one number
        # for each combination; beliefs are one more. The work on a table needs three of its size.
        # A row has a byte for each column, and an index and numbers while a column is drawn.
        tables = NUMBER * ((1 + beliefs) * sum(self.sizes) + 3 * max(self.sizes))
        return tables + rows * (len(self.scopes) + 4 * NUMBER)


def plan_elimination(
    n_states: Sequence[int], edges: Iterable[tuple[int, int]], memory: float = math.inf
) -> Elimination:
    """Find a cheap order: the smallest table next, or else the fewest new links, or as given.

    The other two are tried where the first is neither cheap nor hopeless, and given up where one
    table alone exceeds the memory. A chain and a star take tables over two columns,
    a grid tables over about one of its rows.

    >>> plan_elimination([2, 2, 3], [(0, 1), (1, 2)]).sizes
    (4, 6, 3)
    """
    neighbours = [0] * len(n_states)
    for a, b in edges:
        neighbours[a] |= 1 << b
        neighbours[b] |= 1 << a
    best = _eliminate(n_states, neighbours, _table_size(n_states), math.inf)
    assert best is not None
    for cost in (_new_links, _position):
        if CHEAP < best.bytes_needed() < HOPELESS * memory:
            most = min(max(best.sizes), memory / NUMBER)
            other = _eliminate(n_states, neighbours, cost, most)
            best = min(best, other or best, key=Elimination.bytes_needed)
    return best


def _table_size(n_states: Sequence[int]) -> Cost:
    """Log of the number of combinations of states of a column and its neighbours."""
    having = {m: _union(v for v, count in enumerate(n_states) if count == m) for m in set(n_states)}
    logs = [(math.log(m), columns) for m, columns in having.items()]

    def cost(left: list[Columns], v: int) -> float:
        table = left[v] | 1 << v
        return sum(log * (table & columns).bit_count() for log, columns in logs)

    return cost


def _new_links(left: list[Columns], v: int) -> float:
    """Pairs of neighbours that are no neighbours yet, twice."""
    return sum((left[v] & ~left[u]).bit_count() - 1 for u in _members(left[v]))


def _position(left: list[Columns], v: int) -> float:
    return v


def _eliminate(
    n_states: Sequence[int], neighbours: list[Columns], cost: Cost, most: float
) -> Elimination | None:
    """Take the column of least cost next; None as soon as a table reaches `most` entries."""
    left = list(neighbours)
    present = [cost(left, v) for v in range(len(left))]
    waiting = [(c, v) for v, c in enumerate(present)]
    heapq.heapify(waiting)
    met: dict[int, list[int]] = {}
    sizes: list[int] = []
    while waiting:
        c, v = heapq.heappop(waiting)
        if v in met or c != present[v]:
            continue  # its cost has changed since
        met[v] = list(_members(left[v]))
        sizes.append(math.prod((n_states[u] for u in met[v]), start=n_states[v]))
        if sizes[-1] >= most:
            return None
        _take_out(left, v, met[v])
        for u in _touched(left, met[v], far=cost is _new_links):
            present[u] = cost(left, u)
            heapq.heappush(waiting, (present[u], u))
    position = {v: at for at, v in enumerate(met)}
    scopes = tuple((v, *sorted(others, key=position.__getitem__)) for v, others in met.items())
    return Elimination(scopes, tuple(sizes))


def _take_out(left: list[Columns], v: int, others: Sequence[int]) -> None:
    """Link all neighbours of a column to each other, and remove it."""
    for u in others:
        left[u] = (left[u] | left[v]) & ~(1 << u | 1 << v)
    left[v] = 0


def _touched(left: list[Columns], others: Sequence[int], far: bool) -> Iterable[int]:
    """Columns whose cost may have changed: those that were met, and their neighbours if `far`."""
    if not far:
        return others
    around = _union(others)
    for u in others:
        around |= left[u]
    return _members(around)


def _union(columns: Iterable[int]) -> Columns:
    union = 0
    for v in columns:
        union |= 1 << v
    return union


def _members(columns: Columns) -> Iterator[int]:
    while columns:
        lowest = columns & -columns
        yield lowest.bit_length() - 1
        columns ^= lowest
