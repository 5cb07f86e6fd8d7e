"""Each link in rows: how many were seen in every combination of states, and how many expected.

Expected is what the other links make of two columns. The conditional of each of the two is fitted
on its other neighbours alone, and its predictions are summed by the states of its partner. The
mean of both ends is kept; it has the margins that were seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from isinglass.core import MAX_STATES
from isinglass.engine import fit_neighbourhoods
from isinglass.engine.available import seen_rows
from isinglass.engine.readable import node_loss
from isinglass.graph import Graph
from isinglass.losses.conditional import NodeFit
from isinglass.model.link_tables import LinkTable
from isinglass.table import Table

#: With more links than this, the weakest have no table.
MOST_LINKS = 300
#: Seconds that all tables together may take, as they are guessed.
MOST_SECONDS = 1.5


def link_tables(
    table: Table, graph: Graph, intercept: bool = True
) -> dict[tuple[int, int], LinkTable]:
    """Return the table of each link, or of the strongest where all would take too long.

    What takes how long is guessed from sizes, so that the same table gives the same answer.

    Parameters
    ----------
    table : Table
    graph : Graph
        Its links are held fixed, except the one in question.
    intercept : bool
        Whether columns have fields; without them the margins of both tables may differ.

    Returns
    -------
    dict of (source, target) to LinkTable
        In column order. With ``missing="available"`` a table counts the rows in which both
        columns are seen.
    """
    open_ended = {end for link in graph for end in link[:2] if link.unbounded}
    ends: dict[int, _End] = {}
    found = {}
    left = MOST_SECONDS
    for link in sorted(graph.links, key=lambda link: -link.strength)[:MOST_LINKS]:
        i, j = link.source, link.target
        for r in {i, j} - ends.keys():
            neighbours = sorted(map(int, graph.adjacency[[r]].indices))
            near = _merged(table, [r, *neighbours])
            ends[r] = _End(neighbours, near, hard=r in open_ended)
            left -= 1e-8 * len(table.codes) * len(neighbours)
        seconds = ends[i].seconds + ends[j].seconds
        if left <= 0:
            break
        if seconds > left:
            continue
        left -= seconds
        one, other = ends[i].without(j, intercept), ends[j].without(i, intercept)
        found[i, j] = LinkTable(one.observed, (one.expected + other.expected.T) / 2)
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class _End:
    """A column with its neighbours: a table of these alone, the column first.

    It is hard to fit where some of its links are unbounded: many steps lead far out.
    """

    neighbours: Sequence[int]
    table: Table
    hard: bool

    @property
    def seconds(self) -> float:
        """A guess at the time of one fit: what grows is each step of Newton's method."""
        own, *others = self.table.n_states
        parameters = (own - 1) * (sum(others) - len(others) + 1)
        step = 1e-10 * parameters**2 * (len(self.table.codes) + parameters)
        return 1.5e-3 + (100 if self.hard else 10) * step

    def without(self, neighbour: int, intercept: bool) -> LinkTable:
        """The table of one link, own states down, expected by this end alone."""
        at = 1 + self.neighbours.index(neighbour)
        part, kept = self.table.part(seen_rows(self.table, 0) & seen_rows(self.table, at))
        others = [other for other in range(1, len(part.columns)) if other != at]
        predicted = softmax(_fit(part, others, intercept).scores(part.codes), axis=1)
        own, partner = (np.eye(part.n_states[c])[part.codes[:, c]] for c in (0, at))
        observed, expected = np.zeros((2, self.table.n_answers[0], self.table.n_answers[at]))
        cells = np.ix_(kept[0], kept[at])
        weighted = part.weights[:, None] * partner
        observed[cells] = own.T @ weighted
        expected[cells] = predicted.T @ weighted
        return LinkTable(observed, expected)


def _fit(table: Table, neighbours: list[int], intercept: bool) -> NodeFit:
    """The first column's conditional given some others."""
    if max(table.n_states) > MAX_STATES:
        return node_loss(table, 0, intercept=intercept).fit(neighbours)
    all_neighbours = [neighbours, *([] for _ in table.columns[1:])]
    return fit_neighbourhoods(table, all_neighbours, intercept=intercept, threads=1).fit(0, 0)


def _merged(table: Table, columns: Sequence[int]) -> Table:
    """Some columns, equal rows merged; as they are if their combinations cannot be numbered."""
    codes, weights = table.codes[:, columns], table.weights
    sizes = [table.n_states[t] for t in columns]
    if math.prod(sizes) < 2**62:
        key = np.ravel_multi_index(tuple(codes.T), sizes)
        _, first, row = np.unique(key, return_index=True, return_inverse=True)
        codes = np.asfortranarray(codes[first])
        weights = np.bincount(row, weights).astype(np.float64)
    return replace(
        table, codes=codes, weights=weights, columns=tuple(table.columns[t] for t in columns)
    )
