"""In which order columns are summed out, and what that costs in memory.

Summing out a column needs a table over it and all columns it meets by then, through couplings
or through columns that are gone already. How large the largest table becomes depends on the
order. The best order is hard to find; a few quick rules are tried, and their costs compared.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Adjacency = list[set[int]]
Cost = Callable[[Adjacency, int], float]

#: Bytes of tables below which no better order is looked for.
CHEAP = 10**7

NUMBER = 8
"""Bytes of a number in a table."""


@dataclass(frozen=True)
class Elimination:
    """An order, and the tables it needs.

    Attributes
    ----------
    scopes : tuple of tuple of int
        One for each column, in the order of elimination: the column itself, then those it
        still meets, in that same order.
    sizes : tuple of int
        How many combinations of states each scope has.
    """

    scopes: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]

    def bytes_needed(self, rows: int = 0) -> int:
        """Predict the memory for all tables, the work on the largest, and some rows.

        For every column its conditional chances are kept and a message is handed on, together
        one number for each combination; the work on a table needs three of its size at most.
        A row has a byte for each column, and needs an index, a random number and a chance
        while a column is drawn.
        """
        tables = NUMBER * (sum(self.sizes) + 3 * max(self.sizes))
        return tables + rows * (len(self.scopes) + 4 * NUMBER)


def plan_elimination(
    n_states: Sequence[int], edges: Iterable[tuple[int, int]], memory: float = math.inf
) -> Elimination:
    """Find a cheap order: the smallest table next, or else the fewest new links, or as given.

    The other two are tried where the first is not cheap, and given up where one table alone
    exceeds the memory there may be. A chain and a star take tables over two columns, a grid
    tables over about one of its rows.

    >>> plan_elimination([2, 2, 3], [(0, 1), (1, 2)]).sizes
    (4, 6, 3)
    """
    adjacency: Adjacency = [set() for _ in n_states]
    for a, b in edges:
        adjacency[a].add(b)
        adjacency[b].add(a)
    logs = [math.log(m) for m in n_states]

    def table_size(left: Adjacency, v: int) -> float:
        return sum(map(logs.__getitem__, left[v]), logs[v])

    best = _eliminate(n_states, adjacency, table_size, math.inf)
    assert best is not None
    for cost in (_new_links, _position):
        if best.bytes_needed() > CHEAP:
            most = min(max(best.sizes), memory / NUMBER)
            best = _eliminate(n_states, adjacency, cost, most) or best
    return best


def _new_links(left: Adjacency, v: int) -> float:
    """Pairs of neighbours that are no neighbours yet, twice."""
    return sum(len(left[v] - left[u]) - 1 for u in left[v])


def _position(left: Adjacency, v: int) -> float:
    return v


def _eliminate(
    n_states: Sequence[int], adjacency: Adjacency, cost: Cost, most: float
) -> Elimination | None:
    """Take the column of least cost next; None as soon as a table reaches `most` entries."""
    left = [set(others) for others in adjacency]
    present = [cost(left, v) for v in range(len(left))]
    waiting = [(c, v) for v, c in enumerate(present)]
    heapq.heapify(waiting)
    met: dict[int, set[int]] = {}
    sizes: list[int] = []
    while waiting:
        c, v = heapq.heappop(waiting)
        if v in met or c != present[v]:
            continue
        met[v] = _take_out(left, v)
        sizes.append(math.prod((n_states[u] for u in met[v]), start=n_states[v]))
        if sizes[-1] >= most:
            return None
        for u in _touched(left, met[v], far=cost is _new_links):
            present[u] = cost(left, u)
            heapq.heappush(waiting, (present[u], u))
    position = {v: at for at, v in enumerate(met)}
    scopes = tuple((v, *sorted(others, key=position.__getitem__)) for v, others in met.items())
    return Elimination(scopes, tuple(sizes))


def _take_out(left: Adjacency, v: int) -> set[int]:
    """Link all neighbours of a column to each other, and remove it."""
    others = left[v]
    for u in others:
        left[u] |= others
        left[u] -= {u, v}
    left[v] = set()
    return others


def _touched(left: Adjacency, others: set[int], far: bool) -> set[int]:
    """Columns whose cost may have changed: those that were met, and their neighbours if `far`."""
    return others.union(*(left[u] for u in others)) if far else others
