"""What a comparison of groups found."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from scipy.special import ndtri

from isinglass.frames import by_column, frame
from isinglass.graph import Graph
from isinglass.model import MarkovField
from isinglass.notebook import small_table
from isinglass.parameters import checked
from isinglass.table.column import as_text
from isinglass.uncertainty.groups.words import paragraph, sentence
from isinglass.wording import counted


@dataclass(frozen=True, eq=False)
class Group:
    """One of the groups.

    Attributes
    ----------
    label : the state of the column that defines the groups
    rows : float
        What its rows stand for.
    model : MarkovField
        The graph of all rows, fitted to the rows of the group, with errors.
    strength, error : float
        The global strength, and its standard error.
    graph : Graph
        What the search finds in the rows of the group alone.
    """

    label: Hashable
    rows: float
    model: MarkovField
    strength: float
    error: float
    graph: Graph

    @property
    def name(self) -> str:
        """The label as text."""
        return as_text(self.label)


@dataclass(frozen=True)
class EdgeDifference:
    """How one edge differs between the groups.

    Attributes
    ----------
    source, target : str
    log_odds, errors : tuple of float or None
        In each group, the log odds ratio per step from one state to the next, by least squares over
        all states, and its standard error. None if a column has no order.
    difference, error : float or None
        Of the second group from the first, where there are two.
    statistic, df, p_value : float
        Of the Wald test that the edge's whole table is the same in all groups; NaN if it is not
        tested.
    adjusted : float
        The p-value for all edges together, by Holm's rule.
    untested : str
        Why there is no test; empty if there is one.
    """

    source: str
    target: str
    log_odds: tuple[float | None, ...]
    errors: tuple[float | None, ...]
    difference: float | None
    error: float | None
    statistic: float
    df: float
    p_value: float
    adjusted: float
    untested: str = ""

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """A normal interval around the difference; None where there is none."""
        if self.difference is None or self.error is None:
            return None
        half = -float(ndtri((1.0 - level) / 2.0)) * self.error
        return self.difference - half, self.difference + half


@dataclass(frozen=True)
class GroupTest:
    """A test of all edges together, or of global strength: is it the same in all groups?"""

    statistic: float
    df: float
    p_value: float


@dataclass(frozen=True)
class OneGroupEdge:
    """An edge that is firm in the rows of some groups only; exploratory, without a test."""

    source: str
    target: str
    firm_in: tuple[str, ...]
    not_in: tuple[str, ...]
    pooled: bool  #: whether it is in the graph of all rows


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison:
    """What `compare_groups` returns; frozen.

    Attributes
    ----------
    by : str
        The column that defines the groups.
    groups : tuple of Group
    graph : Graph
        Learned from all rows, adjusted for the groups: its edges are compared.
    edges : tuple of EdgeDifference
        In column order.
    omnibus : GroupTest
        Of all edges together.
    strength : GroupTest
        Of global strength.
    exploratory : tuple of OneGroupEdge
        Edges that are firm in some groups only. Such a difference may be due to chance or to
        different numbers of rows: it is not tested.
    level : float
        The level of `different`.
    adjusted : tuple of str
        Columns that all fits are adjusted for, besides `by`.

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, signs="positive")
    >>> rows = np.column_stack([field.sample(800, seed=0), np.repeat([0, 1], 400)])
    >>> ig.compare_groups(rows, by=4)
    GroupComparison(2 groups by x4, 3 edges, 0 differ at level 0.05; all together: p = ...)
    """

    by: str
    groups: tuple[Group, ...]
    graph: Graph
    edges: tuple[EdgeDifference, ...]
    omnibus: GroupTest
    strength: GroupTest
    exploratory: tuple[OneGroupEdge, ...]
    level: float
    adjusted: tuple[str, ...] = ()
    clustered: bool = False
    library: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def different(self) -> list[EdgeDifference]:
        """Edges that differ at the level, all tests together, the smallest p-value first."""
        found = [edge for edge in self.edges if edge.adjusted <= self.level]
        return sorted(found, key=lambda edge: edge.p_value)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence or two."""
        return sentence(self)

    @property
    def paragraph(self) -> str:
        """Methods and results, for a paper."""
        return paragraph(self)

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame with one row per edge, in column order.

        ``log_odds`` and ``error`` have the label of their group in their names.
        """
        names = [group.name for group in self.groups]
        of_groups = [f"{what}_{name}" for name in names for what in ("log_odds", "error")]
        tests = (
            *("difference", "difference_error", "low", "high"),
            *("statistic", "df", "p_value", "adjusted", "differs", "untested"),
        )
        rows = [
            (
                *(edge.source, edge.target),
                *(v for both in zip(edge.log_odds, edge.errors, strict=True) for v in both),
                *(edge.difference, edge.error, *(edge.interval() or (None, None))),
                *map(_known, (edge.statistic, edge.df, edge.p_value, edge.adjusted)),
                *(edge.adjusted <= self.level, edge.untested),
            )
            for edge in self.edges
        ]
        columns = by_column(("source", "target", *of_groups, *tests), rows)
        return frame(columns, library or self.library)

    @checked
    def exploratory_frame(self, library: str | None = None) -> Any:
        """Return a data frame of the edges that are firm in some groups only."""
        rows = [
            (e.source, e.target, ", ".join(e.firm_in), ", ".join(e.not_in), e.pooled)
            for e in self.exploratory
        ]
        columns = by_column(("source", "target", "firm_in", "not_in", "pooled"), rows)
        return frame(columns, library or self.library)

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        return (
            f"GroupComparison({counted(len(self.groups), 'group')} by {self.by}, "
            f"{counted(len(self.edges), 'edge')}, {len(self.different)} differ at level "
            f"{self.level:g}; all together: p = {self.omnibus.p_value:.2g})"
        )

    def _repr_html_(self) -> str:
        """Edges as a small table, for notebooks."""
        heads = ("source", "target", *(group.name for group in self.groups), "p-value", "Holm")
        rows = [
            [
                *(edge.source, edge.target),
                *("" if value is None else f"{value:.2f}" for value in edge.log_odds),
                *(f"{edge.p_value:.3g}", f"{edge.adjusted:.3g}"),
            ]
            for edge in sorted(self.edges, key=lambda edge: (edge.adjusted, edge.p_value))
        ]
        return small_table(self.sentence, heads, rows, "edges with larger p-values")


def _known(value: float) -> float | None:
    """None in the place of NaN, which data frames do not take among whole numbers."""
    return None if isnan(value) else float(value)
