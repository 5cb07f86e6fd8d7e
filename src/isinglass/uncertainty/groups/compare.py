"""Which links differ between groups of rows, and by how much?

One graph is learned from all rows, adjusted for the groups, so that groups whose intercepts differ
create no links; then the same graph is fitted in each group, and its parameters are compared. The
edges were not chosen because they differ: the pooled graph is chosen by what groups have in common.
(A link with opposite signs cancels in the pooled graph; so edges that are firm in one group only
are listed, as an exploratory result, without a test.)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from isinglass.engine import Progress
from isinglass.errors import CoarseBins, IsinglassError, Setting, SettingError
from isinglass.estimators import GreedyGraph
from isinglass.estimators.folds import learn_like
from isinglass.graph import Graph
from isinglass.parameters import checked
from isinglass.table import Table
from isinglass.table.column import as_text
from isinglass.uncertainty.groups.fits import fit_group
from isinglass.uncertainty.groups.result import Group, GroupComparison, GroupTest, OneGroupEdge
from isinglass.uncertainty.groups.side_by_side import SideBySide
from isinglass.uncertainty.groups.testing import holm
from isinglass.wording import listing, quoted

#: Groups at most, and rows or clusters of each at least.
MOST_GROUPS, FEWEST = 12, 2


@checked
def compare_groups(
    table: Any,
    by: Any,
    estimator: GreedyGraph | None = None,
    *,
    sample_weight: ArrayLike | str | None = None,
    clusters: ArrayLike | str | None = None,
    level: float = 0.05,
    progress: Progress | None = None,
) -> GroupComparison:
    """Find which links differ between groups of rows.

    The graph is learned from all rows, adjusted for the groups. It is then fitted in each group,
    and every edge is tested for equal parameters in all groups (a Wald test with sandwich errors),
    with p-values adjusted by Holm's rule; one more test is of all edges together. All tests are
    conditional on this graph.

    Parameters
    ----------
    table : array or data frame
    by : str
        The column that defines the groups, two or more; for an array, its position.
    estimator : GreedyGraph, optional
        How graphs are learned, and what else is adjusted for; by default ``GreedyGraph()``.
    sample_weight, clusters : optional
        As in `GreedyGraph.fit`. Clusters may have rows in several groups.
    level : float
        For ``different``: the probability, for all edges together, of finding a difference although
        groups do not differ.
    progress : function of (steps done, steps in all), optional
        Steps are the search of all rows, and a fit and a search of each group.

    Returns
    -------
    GroupComparison

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> chain = ig.simulate.chain(4)
    >>> one = ig.simulate.ising(chain, coupling=0.6, signs="positive")
    >>> couplings = {**one.couplings, (0, 1): 0.1 * one.couplings[0, 1]}
    >>> other = ig.MarkovField(one.names, one.states, one.intercepts, couplings)
    >>> rows = np.vstack([one.sample(600, seed=0), other.sample(600, seed=1)])
    >>> found = ig.compare_groups(np.column_stack([rows, np.repeat([0, 1], 600)]), by=4)
    >>> [(edge.source, edge.target) for edge in found.different]
    [('x0', 'x1')]
    """
    given = GreedyGraph() if estimator is None else estimator
    if not isinstance(given, GreedyGraph):
        raise SettingError(f"compare_groups needs a GreedyGraph, not a {type(given).__name__}.")
    about_rows = {"sample_weight": sample_weight, "clusters": clusters}
    pooled = _pooled(given, table, by, about_rows)
    split = Split.of(pooled, by)
    tell = _counting(progress, 1 + 2 * len(split.labels))
    tell()
    fits, alone = [], []
    for code, label in enumerate(split.labels):
        fits.append(fit_group(pooled, split.table, split.codes == code, label))
        tell()
        alone.append(learn_like(pooled, fits[-1].table))
        tell()
    compared = SideBySide(pooled.graph_, split.table, fits, bool(pooled.intercept))
    differences = compared.differences
    tests = [differences.of_edge(at) for at in range(len(compared.tested))]
    adjusted = dict(zip(compared.tested, holm([test.p_value for test in tests]), strict=True))
    by_pair = dict(zip(compared.tested, tests, strict=True))
    overall = differences.of_all()
    strengths, strength = compared.strength()
    groups = tuple(
        Group(fit.label, float(fit.table.n), fit.model, *numbers, graph)
        for fit, numbers, graph in zip(fits, strengths, alone, strict=True)
    )
    edges = tuple(
        compared.edge(pair, by_pair.get(pair), adjusted.get(pair, float("nan")))
        for pair in pooled.graph_.pairs
    )
    return GroupComparison(
        split.by,
        groups,
        pooled.graph_,
        edges,
        GroupTest(overall.value, overall.df, overall.p_value),
        strength,
        tuple(_in_some_only(pooled.graph_, groups)),
        float(level),
        split.table.adjusted_names,
        split.table.clusters is not None,
        split.table.library,
        pooled.get_params(deep=False),
    )


def _as_name(by: Any) -> str:
    """The name of a column, or of one without a name that is given by its position."""
    return f"x{by}" if isinstance(by, Integral) else str(by)


def _counting(progress: Progress | None, total: int) -> Callable[[], None]:
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return tell


def _pooled(estimator: GreedyGraph, table: Any, by: Any, about_rows: dict[str, Any]) -> GreedyGraph:
    """The graph of all rows, adjusted for the groups."""
    adjust = [*(estimator.adjust or ()), *([] if by in (estimator.adjust or ()) else [by])]
    pooled: GreedyGraph = clone(estimator).set_params(adjust=adjust)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CoarseBins)  # groups may be two, whatever they are made of
        try:
            pooled.fit(table, **about_rows)
        except SettingError as error:
            raise _about_by(error) from None
    return pooled


def _about_by(error: IsinglassError) -> IsinglassError:
    """An error of `adjust` as one of `by`, which the user gave."""
    parts = [
        Setting("by") if isinstance(part, Setting) and part.name == "adjust" else part
        for part in error.message
    ]
    error.message = tuple(parts)
    return error


@dataclass(frozen=True, eq=False)
class Split:
    """The rows of a table by groups; the table is adjusted for all but these."""

    by: str
    table: Table
    codes: NDArray[Any]
    labels: Sequence[Hashable]

    @classmethod
    def of(cls, pooled: GreedyGraph, by: Any) -> Split:
        """Take the groups out of what a fit was adjusted for."""
        table = pooled.search_.rows
        beside = table.adjusted
        assert beside is not None
        name = _as_name(by)
        k = beside.names.index(name)
        column, codes = beside.columns[k], beside.codes[:, k]
        rest = [at for at in range(len(beside.columns)) if at != k]
        others = None
        if rest:
            others = replace(
                beside,
                codes=beside.codes[:, rest],
                columns=tuple(beside.columns[at] for at in rest),
                positions=tuple(beside.positions[at] for at in rest),
            )
        if column.cuts is not None and name not in map(_as_name, pooled.bins or ()):
            raise SettingError(
                f"column {name!r} holds numbers; say how to cut it into groups (",
                *(Setting("bins", {name: 2}), "), or name another column."),
            )
        found = cls(name, replace(table, adjusted=others), codes, column.states)
        found._check()
        return found

    def _check(self) -> None:
        labels = [as_text(label) for label in self.labels]
        if len(labels) < 2:
            raise SettingError(
                f"column {self.by!r} has one state, {quoted(labels[0])}, and a comparison needs "
                "two groups; name another column."
            )
        if len(labels) > MOST_GROUPS:
            raise SettingError(
                f"column {self.by!r} makes {len(labels)} groups; at most {MOST_GROUPS} can be "
                "compared. Cut it into fewer (",
                *(Setting("bins", {self.by: 2}), "), or name another column."),
            )
        rows = np.bincount(self.codes, minlength=len(labels))
        small = [label for label, count in zip(labels, rows, strict=True) if count < FEWEST]
        if small:
            raise SettingError(
                f"the group {listing(small)} of {self.by!r} has one row; drop it, or merge it with "
                "another."
            )


def _in_some_only(graph: Graph, groups: Sequence[Group]) -> list[OneGroupEdge]:
    """Edges that are firm in some groups and not in others, in column order."""
    firm = [
        {(link.source, link.target) for link in group.graph.links if link.tier == "firm"}
        for group in groups
    ]
    found, names = [], graph.names
    for pair in sorted(set().union(*firm)):
        here = tuple(g.name for g, own in zip(groups, firm, strict=True) if pair in own)
        gone = tuple(g.name for g, own in zip(groups, firm, strict=True) if pair not in own)
        if gone:
            ends = names[pair[0]], names[pair[1]]
            found.append(OneGroupEdge(*ends, here, gone, pair in graph.pairs))
    return found
