"""Each link in rows: how many were seen in every combination of states, and how many expected.

Expected is what the other links make of two columns. The conditional of each of the two is fitted
on its other neighbours alone, and its predictions are summed by the states of its partner. The
mean of both ends is kept; it has the margins that were seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from isinglass.engine import fit_neighbourhoods
from isinglass.engine.available import seen_rows
from isinglass.engine.deviance import Expected, expectations
from isinglass.graph import Graph
from isinglass.table import Table

Array = NDArray[np.float64]
Pair = tuple[int, int]
LinkTables = Mapping[Pair, "LinkTable"]

#: With more combinations of states than this in all tables, the weakest links have none.
MOST_CELLS = 60_000
#: Seconds that tables of links with missing values may take together, as they are guessed.
MOST_SECONDS = 1.5


@dataclass(frozen=True, eq=False)
class LinkTable:
    """Rows in each combination of the states of two linked columns, source down, target across.

    Both columns are seen in those that are observed; expected are the rows without this edge, all
    others kept.
    """

    observed: Array
    expected: Array


def link_tables(
    table: Table,
    graph: Graph,
    intercept: bool = True,
    *,
    expected: Mapping[Pair, Expected] | None = None,
) -> dict[Pair, LinkTable]:
    """Return the table of each link, or of the strongest where there are too many.

    In column order. With ``missing="available"`` a table counts the rows in which both columns are
    seen, and the conditionals are fitted on these. Without intercepts the margins of observed and
    expected rows may differ. `expected` may be what
    :func:`isinglass.engine.deviance.expectations` found for the links already.
    """
    links = sorted(graph.links, key=lambda link: -link.weight)
    cells = np.cumsum([table.n_answers[e.source] * table.n_answers[e.target] for e in links])
    pairs = [(e.source, e.target) for e in links[: int(np.sum(cells <= MOST_CELLS))]]
    if table.available:
        return dict(sorted(_of_seen_rows(table, graph, pairs, intercept).items()))
    if expected is None:
        expected = expectations(table, graph.pairs, intercept=intercept, threads=1)
    return {
        (i, j): LinkTable(
            _crossed(table, i, j), (expected[i, j].table + expected[j, i].table.T) / 2
        )
        for i, j in sorted(pairs)
    }


def _crossed(table: Table, i: int, j: int) -> Array:
    """Rows of each combination of the states of two columns."""
    across = table.n_states[j]
    key = table.codes[:, i].astype(np.intp) * across + table.codes[:, j]
    rows = np.bincount(key, table.weights, minlength=table.n_states[i] * across)
    return rows.astype(np.float64).reshape(-1, across)


def _of_seen_rows(
    table: Table, graph: Graph, pairs: Sequence[Pair], intercept: bool
) -> dict[Pair, LinkTable]:
    """Each link on the rows in which both its columns are seen, while the time lasts.

    The time is guessed from sizes, so that the same table gives the same answer.
    """
    found = {}
    left = MOST_SECONDS
    near = [sorted(map(int, graph.adjacency[[r]].indices)) for r in range(len(graph.names))]
    for i, j in pairs:
        part, kept = table.part(seen_rows(table, i) & seen_rows(table, j))
        left -= sum(_seconds(part, r, near[r]) for r in (i, j))
        if left < 0:
            break
        by_i = _predicted(part, i, [t for t in near[i] if t != j], intercept)
        by_j = _predicted(part, j, [t for t in near[j] if t != i], intercept)
        own_i, own_j = (np.eye(part.n_states[r])[part.codes[:, r]] for r in (i, j))
        weights = part.weights[:, None]
        both = by_i.T @ (weights * own_j) + own_i.T @ (weights * by_j)
        observed, expected = np.zeros((2, table.n_answers[i], table.n_answers[j]))
        cells = np.ix_(kept[i], kept[j])
        observed[cells], expected[cells] = _crossed(part, i, j), both / 2
        found[i, j] = LinkTable(observed, expected)
    return found


def _seconds(table: Table, r: int, neighbours: Sequence[int]) -> float:
    """A guess at the time of one fit: what grows is each step of Newton's method."""
    features = 1 + sum(table.n_states[t] - 1 for t in neighbours)
    parameters = (table.n_states[r] - 1) * features
    return 2e-3 + 1e-9 * parameters**2 * (len(table.codes) + parameters)


def _predicted(table: Table, r: int, neighbours: list[int], intercept: bool) -> Array:
    """P(x_r | neighbours) in each row."""
    lists = [neighbours if at == r else [] for at in range(len(table.columns))]
    fit = fit_neighbourhoods(table, lists, intercept=intercept, threads=1).fit(r, 0)
    predicted: Array = softmax(fit.scores(table.codes), axis=1)
    return predicted
