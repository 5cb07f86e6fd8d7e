"""The edges of one column as variables of Algorithm 1, where an edge may have one of two forms.

A variable is what a forward step brings: an edge to a column in some form, or the upgrade of a
smaller form to a whole table. Leaving out the edge takes its upgrade along.

The deviance of a pair falls into two parts: what the smaller form gains, and the departure from it,
what a table gains beyond. A pair comes in by the more surprising part: as the smaller form, or as a
table. It is also a table at once where the departure pays for its parameters; so must an upgrade.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.conditional import ConditionalLoss, NodeFit
from isinglass.losses.forms import TABLE, Form
from isinglass.losses.linear import RIDGE
from isinglass.losses.nulls import Null
from isinglass.solvers.blocks import TIE, ZERO, first_within_tie
from isinglass.solvers.equivalent import calibrated_gain

Array = NDArray[np.float64]

#: The deviance that a table is to gain beyond a smaller form: per parameter (Bozdogan's AIC3), and
#: once more if it has an empty cell. Only the ridge keeps the probability of that above zero: if
#: the next rows have one row in the cell, their deviance is larger by about as much.
PRICE, PRICE_OF_EMPTY = 3.0, 2.0 * log(1.0 / RIDGE)


class Edge(NamedTuple):
    """A variable: an edge to a column in some form, or what makes a smaller form a table."""

    column: int
    upgrade: bool
    form: Form


Support = tuple[Edge, ...]


class EdgeBlocks:
    """What `search` asks: which edge gains most, which costs least.

    Every gain is the infimum of the loss over the field and one edge in some form, all other edges
    held, against the loss now; every cost is the same the other way round.

    Parameters
    ----------
    loss : ConditionalLoss
    candidates : columns that may be neighbours
    scales : mapping of columns to float, optional
        How many times larger the deviances of a pair are, without a link, than a chi-square.
    level : float
        Scales say how sure a gain is: what gains more than this comes first, by its gain without
        them.
    """

    def __init__(
        self,
        loss: ConditionalLoss,
        candidates: Sequence[int],
        scales: Mapping[int, float] | None = None,
        level: float = inf,
    ) -> None:
        self.loss = loss
        self.allowed = {t: loss.forms.allowed(loss.r, t) for t in sorted(candidates)}
        self._scales, self._level = scales or {}, inf if scales is None else level
        self._nulls: dict[Edge, Null] = {}

    def begin(self, required: Sequence[int]) -> Support:
        """Required edges have their smallest form, and may be upgraded."""
        return tuple(Edge(t, False, self.allowed[t][0]) for t in sorted(required))

    def columns(self, support: Support) -> tuple[int, ...]:
        """The neighbours."""
        return tuple(edge.column for edge in support if not edge.upgrade)

    def change(self, variable: Edge, support: Support) -> tuple[int, Form | None]:
        """The column that a step is about, and the form of its edge after it."""
        return variable.column, self._forms(support).get(variable.column)

    def fit(self, support: Support, start: NodeFit | None = None) -> NodeFit:
        """The minimiser over some edges."""
        return self.loss.fit(self._forms(support), start)

    def outside(self, support: Support) -> list[Edge]:
        """What may be added: by column, the smaller form first."""
        forms = self._forms(support)
        return [edge for t in self.allowed for edge in self._next(t, forms.get(t))]

    def has_all(self, support: Support) -> bool:
        """Whether there is nothing left to add."""
        return not self.outside(support)

    def _next(self, t: int, now: Form | None) -> Iterator[Edge]:
        for form in self.allowed[t]:
            if now is None:
                yield Edge(t, False, form)
            elif now != TABLE == form:
                yield Edge(t, True, TABLE)

    def inside(self, support: Support, required: Sequence[int]) -> list[Edge]:
        """What may be dropped: whole edges, and upgrades."""
        return [edge for edge in support if edge.upgrade or edge.column not in required]

    def with_variable(self, support: Support, variable: Edge) -> Support:
        """The support with one variable more."""
        return tuple(sorted((*support, variable)))

    def without(self, support: Support, variable: Edge) -> Support:
        """The support without a variable, and without an upgrade that it carries."""
        return tuple(
            edge
            for edge in support
            if edge.column != variable.column or edge.upgrade < variable.upgrade
        )

    def best(self, fit: NodeFit, support: Support, threshold: float) -> tuple[Edge, float]:
        """What gains most, and its gain."""
        outside = self.outside(support)
        gains = self.gains(fit, outside)
        i, _ = first_within_tie(range(len(outside)), -self._ranks(fit, outside, gains))
        return self._in_its_form(fit, outside[i]), float(gains[i])

    def _in_its_form(self, fit: NodeFit, edge: Edge) -> Edge:
        """The edge that comes in: a table, if that pays."""
        table = edge._replace(form=TABLE)
        if edge.upgrade or edge.form == TABLE or TABLE not in self.allowed[edge.column]:
            return edge
        return table if self._pays(table, self._falls(fit, [table])[0]) else edge

    def _pays(self, table: Edge, fall: float) -> bool:
        """Whether a table is worth what it has beyond a smaller form."""
        shift, scale, df, _ = self.null(table)
        price = PRICE * df + PRICE_OF_EMPTY * self.loss.has_empty_cell(table.column)
        return (2.0 * self.loss.n * fall - shift) / scale > price + TIE

    def _ranks(self, fit: NodeFit, variables: Sequence[Edge], gains: Array) -> Array:
        if self._level == inf:
            return gains
        nulls = [self.null(e).times(1.0 / self._scales.get(e.column, 1.0)) for e in variables]
        unscaled = calibrated_gain(self._falls(fit, variables), nulls, self.loss.n)
        return np.where(gains > self._level, self._level + unscaled, gains)

    def cheapest(self, fit: NodeFit, inside: Sequence[Edge], limit: float) -> tuple[Edge, float]:
        """What costs least to drop, and its cost."""
        i, cost = first_within_tie(range(len(inside)), self.costs(fit, inside))
        return inside[i], cost

    def gains(self, fit: NodeFit, variables: Sequence[Edge]) -> Array:
        """What each variable gains, as the gain of one parameter; an upgrade must pay."""
        nulls = [self.null(edge) for edge in variables]
        falls = self._falls(fit, variables)
        for i, edge in enumerate(variables):
            if edge.upgrade and not self._pays(edge, falls[i]):
                falls[i] = 0.0
        return self._for_one_parameter(nulls, falls)

    def _falls(self, fit: NodeFit, variables: Sequence[Edge]) -> Array:
        least = self.loss.least(fit, [(edge.column, edge.form) for edge in variables])
        falls = np.asarray(fit.loss - least)
        at = [i for i, edge in enumerate(variables) if self._departs(edge)]
        small = [(variables[i].column, self.allowed[variables[i].column][0]) for i in at]
        falls[at] -= fit.loss - self.loss.least(fit, small)
        return falls

    def _departs(self, edge: Edge) -> bool:
        """Whether an edge that is not in is a table with a smaller form."""
        return not edge.upgrade and edge.form != self.allowed[edge.column][0]

    def costs(self, fit: NodeFit, variables: Sequence[Edge]) -> Array:
        """What dropping each variable costs, as the gain of one parameter."""
        left = [(e.column, self.allowed[e.column][0] if e.upgrade else None) for e in variables]
        nulls = [
            self.null(e) if e.upgrade else self.whole_null(e.column, fit.form(e.column))
            for e in variables
        ]
        return self._for_one_parameter(nulls, self.loss.least(fit, left) - fit.loss)

    def null(self, variable: Edge) -> Null:
        """What the deviance of a variable that is added is without effect."""
        if variable not in self._nulls:
            t, upgrade, form = variable
            null = self.whole_null(t, form)
            if upgrade or self._departs(variable):
                small = self.loss.forms.df(self.loss.r, t, self.allowed[t][0])
                scale = self._scales.get(t, 1.0)
                null = self.loss.null(t, form).beyond(small).times(scale)
            if self._departs(variable):
                null = null._replace(looks=self.loss.forms.looks(self.loss.r, t, form))
            self._nulls[variable] = null
        return self._nulls[variable]

    def whole_null(self, t: int, form: Form) -> Null:
        """What the deviance of a whole edge is without effect; two forms are two looks."""
        looks = self.loss.forms.looks(self.loss.r, t, form)
        return self.loss.null(t, form)._replace(looks=looks).times(self._scales.get(t, 1.0))

    def _for_one_parameter(self, nulls: Sequence[Null], raw: Any) -> Array:
        return calibrated_gain(np.where(raw < ZERO, 0.0, raw), nulls, self.loss.n)

    def _forms(self, support: Support) -> dict[int, Form]:
        return {edge.column: edge.form for edge in support}  # an upgrade comes after its edge
