"""The tree that fits best: Chow and Liu (1968)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from isinglass.core import all_pair_counts
from isinglass.engine import Progress, merged_rows
from isinglass.graph import Graph
from isinglass.losses.association import pair_information
from isinglass.rivals.base import Rival, neighbours_of
from isinglass.rivals.paths import Array
from isinglass.selection import Selector, by_numbers
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.table import Table

#: Mutual information of less per row is none.
NONE = 1e-12


@dataclass(repr=False, eq=False)
class ChowLiuTree(Rival):
    """The tree of largest likelihood: a maximum spanning tree on mutual information.

    Columns may have any numbers of states. Of equal pairs the first in column order wins; pairs
    without mutual information are not joined, so the answer can be a forest.

    Parameters
    ----------
    threshold : float, str or selector, optional
        None: a whole tree. Else a forest: only pairs whose mutual information, brought to the
        scale of a one-parameter edge, is larger, as for the first edge of `GreedyGraph`.
    missing : "error", "drop" or "state"
    n_eff, n_jobs, bins, max_states, high
        As for `GreedyGraph`.

    Attributes
    ----------
    mutual_information_ : (p, p) array
        In nats per row; zero on the diagonal. Other attributes are as for `GreedyGraph`.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.potts(ig.simulate.chain(3), 3, seed=0)
    >>> ig.ChowLiuTree().fit(field.sample(1000, seed=0)).graph_.edges
    [('x0', 'x1'), ('x1', 'x2')]
    """

    threshold: float | str | Selector | None = None

    def _find_graph(self, table: Table, progress: Progress | None) -> Graph:
        rule = None if self.threshold is None else by_numbers(self.threshold)
        self.mutual_information_ = mutual_information(table, self._threads())
        allowed = self.mutual_information_ > NONE
        if rule is not None:
            free = np.maximum(np.asarray(table.n_states) - 1, 1)
            information, df = self.mutual_information_, np.outer(free, free)
            gains = one_parameter_gain(information, df, table.n)
            allowed &= gains > rule.threshold(table.n, len(table.columns))
        linked = spanning_tree(self.mutual_information_, allowed)
        return self._graph(neighbours_of(linked), "or")


def mutual_information(table: Table, threads: int = 1) -> Array:
    """Return the mutual information of every pair of columns, in nats per row.

    >>> from isinglass.table import encode
    >>> mutual_information(encode([[0, 0], [1, 1], [0, 0], [1, 1]])).round(4).tolist()
    [[0.0, 0.6931], [0.6931, 0.0]]
    """
    codes, weights, n_states = merged_rows(table)
    cells = all_pair_counts(codes, weights, n_states, threads)
    found = pair_information(cells, np.cumsum([0, *n_states[:-1]])) / weights.sum()
    np.fill_diagonal(found, 0.0)
    return np.asarray((found + found.T) / 2)


def spanning_tree(weights: Array, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the adjacency of the maximum spanning forest over allowed pairs.

    Of equal pairs the first in column order is taken: ranks have no ties.

    >>> weights = np.array([[0, 3, 2], [3, 0, 1], [2, 1, 0]], dtype=float)
    >>> spanning_tree(weights, weights > 0).astype(int).tolist()
    [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    """
    sources, targets = np.nonzero(np.triu(allowed, 1))
    rank = np.empty(len(sources))
    rank[np.argsort(-weights[sources, targets], kind="stable")] = np.arange(1, len(sources) + 1)
    forest = minimum_spanning_tree(csr_array((rank, (sources, targets)), shape=weights.shape))
    linked = forest.toarray() > 0
    return np.asarray(linked | linked.T)
