"""What a selector chose, and why; and what it may look at before it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from isinglass.engine import Progress, Search, cuts_of
from isinglass.solvers.cuts import Cuts, edges_at_each, one_threshold_per_graph
from isinglass.table import Table

Array = NDArray[np.float64]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Selection:
    """How a threshold was chosen: ``GreedyGraph.selection_``.

    Attributes
    ----------
    rule, why : str
        The selector, in words; the reason, in a sentence.
    threshold : float
    curve : dict of str to list, or None
        What the selector looked at: ``threshold``, falling, and beside it ``edges`` (how many the
        graph has there) and the selector's own numbers; lists of one length. None for a rule that
        needs no more than the numbers of rows and columns.
    looked_at : str
        The name of the column of `curve` that decided; empty if there is no curve.
    kept : frozenset of pairs of columns, or None
        The edges that may be in the graph, where a selector asks for more than the threshold;
        None means all.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import GreedyGraph
    >>> x = np.random.default_rng(0).integers(0, 2, (200, 4))
    >>> GreedyGraph("paper").fit(x).selection_.why
    'with 200 rows and 4 columns the rule gives 0.0334231.'
    """

    rule: str
    threshold: float
    curve: dict[str, list[float]] | None
    why: str
    looked_at: str = ""
    kept: frozenset[Pair] | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Look:
    """What a selector may look at: the table, the run, and how to run again on other rows.

    A selector that does run again calls `progress` with the numbers of runs done and in all.
    """

    search: Search
    progress: Progress = lambda done, total: None

    @property
    def table(self) -> Table:
        """The table as it came."""
        return self.search.rows

    @cached_property
    def cuts(self) -> list[Cuts]:
        """Where each column's path may be cut."""
        return cuts_of(self.search.runs)

    @cached_property
    def thresholds(self) -> Array:
        """One threshold for each graph of the run, falling."""
        return one_threshold_per_graph(self.cuts, self.search.floor)

    def edge_counts(self, thresholds: Array) -> list[int]:
        """How many edges the graph has at each of some falling thresholds."""
        return [len(edges) for edges in edges_at_each(self.cuts, thresholds, self.search.rule)]

    def others(self, table: Table, thresholds: Array) -> tuple[list[Cuts], Array]:
        """Run on other rows; and the thresholds that are as surprising for so many of them.

        Gains of noise go as 1/n, so a threshold stands for the same evidence, 2 n times itself,
        where there are fewer rows.
        """
        scale = self.table.n / table.n
        runs = self.search.learn(table, self.search.floor * scale)
        return cuts_of(runs), thresholds * scale


@runtime_checkable
class Looking(Protocol):
    """A way to choose the threshold of a graph by looking at its run."""

    def floor(self, n: float, p: int) -> float:
        """Return the smallest threshold the search has to run to."""
        ...

    def select(self, look: Look) -> Selection:
        """Return the choice, and why."""
        ...


def at_floor(position: int, thresholds: Sequence[float] | Array, noun: str = "graph") -> str:
    """Words for a choice at the end of the run, where a longer one might choose less; or none."""
    if len(thresholds) > 1 and position == len(thresholds) - 1:
        return f" It is the last {noun} of the run: a smaller floor may give another answer."
    return ""


def curve_of(thresholds: Array, edges: Sequence[int], **numbers: Any) -> dict[str, list[float]]:
    """A curve of plain lists."""
    return {
        "threshold": [float(t) for t in thresholds],
        "edges": list(edges),
        **{name: [float(v) for v in values] for name, values in numbers.items()},
    }
