"""What the record keeps of its table: rows of each state, and associations of columns.

For each link, it keeps how many rows were observed in every combination of states, and how many
would be expected with the other links alone: the conditional of each of the two columns is fitted
on its other neighbours, and its predictions are summed by the states of its partner. The mean of
both ends is kept; it has the observed margins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from isinglass.engine import fit_conditionals
from isinglass.engine.available import seen_rows
from isinglass.engine.deviance import Expected, expectations
from isinglass.engine.refits import PairForms
from isinglass.graph import Graph
from isinglass.losses.association import pair_information
from isinglass.table import Table

Array = NDArray[np.float64]
Pair = tuple[int, int]
LinkTables = Mapping[Pair, "LinkTable"]

#: With more combinations of states than this in all tables, the weakest links have none.
MOST_CELLS = 60_000
#: Seconds that tables of links with missing values may take together, as they are guessed.
MOST_SECONDS = 1.5

#: With more columns than this, pairs are not counted: there are half a million of them.
MOST_COLUMNS = 1000


@dataclass(frozen=True, eq=False)
class Associations:
    """The association of each two columns with nothing else held fixed; pairs in column order."""

    #: What one column says of the other, in nats per row of the whole table.
    information: Array
    #: +1 or -1 where both columns are ordered and one rises or falls with the other, else 0.
    sign: NDArray[np.int8]
    #: The rows of the smallest cell of the two columns' table.
    smallest: Array


@dataclass(frozen=True, eq=False)
class Tally:
    """Rows of each state of each column, missing values last where they are left out; the pairs."""

    counts: tuple[tuple[float, ...], ...]
    pairs: Associations | None  # None where there are more than MOST_COLUMNS


def tally_of(table: Table) -> Tally:
    """Rows of each state, and the association of each two columns with nothing else held fixed."""
    counts = tuple(tuple(table.rows_of_states(j).tolist()) for j in range(len(table.columns)))
    return Tally(counts, _associations(table) if len(table.columns) <= MOST_COLUMNS else None)


def _associations(table: Table) -> Associations:
    """Mutual information and direction of all pairs, from the counts of all cells at once."""
    cells = table.all_pair_counts()
    answer = np.concatenate(
        [np.arange(m) < a for m, a in zip(table.n_states, table.n_answers, strict=True)]
    )
    cells = cells[np.ix_(answer, answer)]
    begin = np.cumsum([0, *table.n_answers[:-1]])
    rows = np.add.reduceat(cells, begin, axis=1)  # of a state, where the other column is seen
    total = np.add.reduceat(rows, begin, axis=0)
    upper = np.triu_indices(len(table.columns), 1)
    return Associations(
        pair_information(cells, begin)[upper] / table.n,
        _signs(table, cells, rows, total, begin)[upper],
        _by_pair(np.minimum, cells, begin)[upper],
    )


def _by_pair(fold: np.ufunc, cells: Array, begin: NDArray[np.intp]) -> Array:
    return np.asarray(fold.reduceat(fold.reduceat(cells, begin, axis=1), begin, axis=0))


def _signs(
    table: Table, cells: Array, rows: Array, total: Array, begin: NDArray[np.intp]
) -> NDArray[np.int8]:
    """Whether high goes with high: the sign of the covariance of evenly spaced scores."""
    score = np.concatenate([np.arange(a, dtype=np.float64) for a in table.n_answers])
    product = _by_pair(np.add, cells * np.outer(score, score), begin)
    sums = np.add.reduceat(rows * score[:, None], begin, axis=0)
    covariance = product * total - sums * sums.T
    clear = np.abs(covariance) > 1e-9 * np.maximum(product * total, 1.0)
    ordered = np.outer(table.ordered, table.ordered)
    return np.asarray(np.where(clear & ordered, np.sign(covariance), 0).astype(np.int8))


@dataclass(frozen=True, eq=False)
class LinkTable:
    """Rows in each combination of the states of two linked columns, source down, target across."""

    observed: Array  # where both columns are seen
    expected: Array  # without this edge, all others kept


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
        expected = expectations(
            table, graph.pairs, intercept=intercept, threads=1, forms=graph.forms
        )
    pairs = sorted(pairs)
    return {
        (i, j): LinkTable(observed, (expected[i, j].table + expected[j, i].table.T) / 2)
        for (i, j), observed in zip(pairs, table.crossed(pairs), strict=True)
    }


def _of_seen_rows(
    table: Table, graph: Graph, pairs: Sequence[Pair], intercept: bool
) -> dict[Pair, LinkTable]:
    """Each link on the rows in which both its columns are seen, while the time lasts.

    The time is guessed from sizes, so that the same table gives the same answer.
    """
    found = {}
    left = MOST_SECONDS
    near = graph.neighbourhoods
    for i, j in pairs:
        part, kept = table.part(seen_rows(table, i) & seen_rows(table, j))
        left -= sum(_seconds(part, r, near[r]) for r in (i, j))
        if left < 0:
            break
        by_i = _predicted(part, i, [t for t in near[i] if t != j], intercept, graph.forms)
        by_j = _predicted(part, j, [t for t in near[j] if t != i], intercept, graph.forms)
        own_i, own_j = (np.eye(part.n_states[r])[part.codes[:, r]] for r in (i, j))
        weights = part.weights[:, None]
        both = by_i.T @ (weights * own_j) + own_i.T @ (weights * by_j)
        observed, expected = np.zeros((2, table.n_answers[i], table.n_answers[j]))
        cells = np.ix_(kept[i], kept[j])
        observed[cells], expected[cells] = part.crossed([(i, j)])[0], both / 2
        found[i, j] = LinkTable(observed, expected)
    return found


def _seconds(table: Table, r: int, neighbours: Sequence[int]) -> float:
    """A guess at the time of one fit: what grows is each step of Newton's method."""
    features = 1 + sum(table.n_states[t] - 1 for t in neighbours)
    parameters = (table.n_states[r] - 1) * features
    return 2e-3 + 1e-9 * parameters**2 * (len(table.codes) + parameters)


def _predicted(
    table: Table, r: int, neighbours: list[int], intercept: bool, forms: PairForms
) -> Array:
    """P(x_r | neighbours) in each row."""
    lists = [neighbours if at == r else [] for at in range(len(table.columns))]
    fit = fit_conditionals(table, lists, forms, intercept=intercept)[r]
    return np.asarray(softmax(fit.scores(table.wide.codes), axis=1))
