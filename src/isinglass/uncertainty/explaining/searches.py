"""A column's search, asked again: what would an edge add at any step of it?

A path keeps the gains of the columns that it added, not those of the others. Here they are
computed, by the readable loss and from the rows of the fitted table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isinglass.engine.available import parts_of
from isinglass.engine.native import adjusted_columns, forms_of
from isinglass.engine.readable import node_loss
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.losses.conditional import ConditionalLoss, NodeFit
from isinglass.losses.forms import TABLE, Form
from isinglass.solvers.edges import EdgeBlocks
from isinglass.solvers.equivalent import calibrated_gain
from isinglass.solvers.path import Path

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Search:
    """The search of one column, cut at the threshold of the graph.

    Attributes
    ----------
    scales : array, optional
        How many times a chi-square the deviance of each pair without a link is.
    informed : array, optional
        Independent rows, complete ones, that a row amounts to in what it says of each pair.
    adjusted : tuple of int
        The columns that are adjusted for.
    """

    loss: ConditionalLoss
    path: Path
    scales: Array | None = None
    informed: Array | None = None
    adjusted: tuple[int, ...] = ()

    def allowed(self, t: int) -> tuple[Form, ...]:
        """The forms that compete for an edge to another column."""
        return self.loss.forms.allowed(self.loss.r, t)

    @cached_property
    def _forms(self) -> dict[int, Form]:
        """The last form that each column had on the path."""
        fits = cast(Iterable[NodeFit], (self.path.start, *(step.fit for step in self.path.steps)))
        return {t: fit.form(t) for fit in fits for t in fit.coef}

    def rows(self, other: int) -> float:
        """The rows that tell of an edge to another column."""
        return self.loss.n * (1.0 if self.informed is None else float(self.informed[other]))

    @property
    def column(self) -> int:
        """The column that is explained."""
        return self.loss.r

    def fit(self, support: Sequence[int], like: NodeFit | None = None) -> NodeFit:
        """The column's conditional given some others, and what is adjusted for, refitted.

        Edges have the forms of another fit, or else the last ones that they had on the path.
        """
        known = self._forms if like is None else {t: like.form(t) for t in like.coef}
        edges = {t: known.get(t, self.allowed(t)[0]) for t in support}
        return self.loss.fit(edges | dict.fromkeys(self.adjusted, TABLE))

    def evidence(self, fit: NodeFit, others: Sequence[int]) -> Array:
        """Evidence for an edge to each of the others: a chi-square with one degree of freedom.

        Of one in the support, what is lost without it when the others are refitted; of any other,
        what adding it would gain, in the form that gains most; zero for a constant column.
        """
        evidence, known = np.zeros(len(others)), set(self.loss.candidates)
        scales = {} if self.scales is None else {t: float(self.scales[t]) for t in others}
        blocks = EdgeBlocks(self.loss, [t for t in others if t in known], scales)
        outside = [edge for edge in blocks.outside(()) if edge.column not in fit.coef]
        found: dict[int, float] = {}
        for edge, gain in zip(outside, blocks.gains(fit, outside), strict=True):
            found[edge.column] = max(found.get(edge.column, 0.0), float(gain))
        for t in known.intersection(others, fit.coef):
            fewer = self.loss.fit({s: fit.form(s) for s in fit.coef if s != t})
            null = blocks.whole_null(t, fit.form(t))
            lost = max(fewer.loss - fit.loss, 0.0)
            found[t] = float(calibrated_gain([lost], [null], self.loss.n)[0])
        for i, t in enumerate(others):
            evidence[i] = 2.0 * self.loss.n * found.get(t, 0.0)
        return evidence


def searches(estimator: GreedyGraph, columns: Sequence[int] | None = None) -> Iterator[Search]:
    """The searches of some columns, or of all, in column order."""
    table, threshold = estimator.table_, estimator.threshold_
    wanted = range(len(table.columns)) if columns is None else sorted(columns)
    # Each column is explained by the rows where it is seen.
    tables = {r: part.table for part in parts_of(table) for r in part.targets}
    scales, informed = scales_at_the_end(estimator)
    for r in wanted:
        forms = forms_of(tables[r], estimator.search_.edges)
        loss = node_loss(tables[r].wide, r, intercept=bool(estimator.intercept), forms=forms)
        yield Search(
            loss,
            estimator.paths_[r].at(threshold),
            None if scales is None else scales[r],
            None if informed is None else informed[r],
            tuple(adjusted_columns(tables[r])),
        )


def scales_at_the_end(estimator: GreedyGraph) -> tuple[Array | None, Array | None]:
    """`scales` and `informed` of all pairs, where the searches have come to their end.

    Clusters and sampling weights make deviances larger, and rows tell less. Draws repeat a link
    that they are made by, and dilute any other.
    """
    effects, filled = estimator.table_.pair_scales(), estimator.filled_
    if filled is None:
        return effects, None if effects is None else 1.0 / effects
    kept = 1.0 - filled.information.lost
    scales = kept.copy()
    for pair in filled.model.couplings:
        scales[pair] = scales[pair[::-1]] = filled.information.scales[pair]
    return (scales, kept) if effects is None else (scales * effects, kept / effects)


def kept_out(estimator: GreedyGraph, a: int, b: int, ends: int) -> str:
    """Why a pair is not in the graph although its evidence may be enough; empty if nothing is.

    `ends` counts the columns of the pair whose search chose the other one.
    """
    if b in estimator.search_.constraints.forbidden.get(a, ()):
        return "the link is forbidden"
    if ends == 2 or (ends == 1 and estimator.rule == "or"):
        return "the selector did not choose it"
    if ends == 1:
        return "only one end chose the other, and the rule asks for both"
    if estimator.max_degree is not None:
        return f"no search goes beyond max_degree = {estimator.max_degree}"
    return ""


def checked_estimator(estimator: GreedyGraph) -> GreedyGraph:
    """Return a fitted `GreedyGraph`; anything else is an error."""
    if not isinstance(estimator, GreedyGraph):
        raise SettingError(
            f"this needs a fitted GreedyGraph, with its searches, not a {type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    return estimator
