"""Thresholds by rule: from the number of rows and columns alone.

Selectors that look at the run are in the other files of this room.

A threshold is always quoted for an edge of one parameter; gains of larger edges are brought
to that scale before they are compared with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from isinglass.parameters import CheckedFields, check
from isinglass.solvers.equivalent import false_coefficients_threshold, false_edges_threshold

#: No rule answers less: a gain below counts as zero.
LEAST = 1e-12


@runtime_checkable
class Selector(Protocol):
    """A way to choose the threshold of a graph."""

    def threshold(self, n: float, p: int) -> float:
        """Return the threshold for n rows (the sum of their weights) and p columns."""
        ...

    def floor(self, n: float, p: int) -> float:
        """Return the smallest threshold the search has to run to."""
        ...


class Checked(CheckedFields):
    """A dataclass whose text is its call, and what it does in `words`, a format of its fields."""

    @property
    def words(self) -> str:
        """What the selector does."""
        raise NotImplementedError

    def __repr__(self) -> str:
        values = (f"{name}={_short(value)}" for name, value in vars(self).items())
        return f"{type(self).__name__}({', '.join(values)}): {self.words.format(**vars(self))}"


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


class _Rule(Checked):
    """A selector that needs no more than its threshold."""

    def threshold(self, n: float, p: int) -> float:
        raise NotImplementedError

    def floor(self, n: float, p: int) -> float:
        """Return the threshold itself."""
        return self.threshold(n, p)


@dataclass(frozen=True, repr=False)
class Fixed(_Rule):
    """One number, whatever the table.

    >>> Fixed(0.01)
    Fixed(0.01): an edge must gain more than 0.01 per row
    """

    value: float

    def __post_init__(self) -> None:
        check("threshold", self.value)

    def threshold(self, n: float, p: int) -> float:
        """Return the number."""
        return float(self.value)

    def __repr__(self) -> str:
        return f"Fixed({self.value:g}): an edge must gain more than {self.value:g} per row"


@dataclass(frozen=True, repr=False)
class FalseEdges(_Rule):
    """So strict that about `expected` edges without effect pass in the whole graph.

    Each of the p(p-1) tests is passed with probability expected / (p(p-1)) by a one-parameter edge
    without effect. "About": the number is near `expected` when the links are strong enough to be
    found; the effect of weaker links shows up at other pairs, and then there are more. It is a rule
    for the whole graph, not a p-value of any one edge.

    >>> FalseEdges(1)
    FalseEdges(expected=1): an edge without effect passes with probability 1/(p(p-1))
    >>> round(FalseEdges(0.05).threshold(n=1000, p=20), 5)
    0.00731
    """

    expected: float = 0.05
    words = "an edge without effect passes with probability {expected:g}/(p(p-1))"

    def threshold(self, n: float, p: int) -> float:
        """Return the gain that a one-parameter edge without effect passes with that probability."""
        return max(false_edges_threshold(self.expected, n, p), LEAST)


@dataclass(frozen=True, repr=False)
class FalseCoefficients(_Rule):
    """For a regression: so strict that about `expected` coefficients without effect pass.

    Each of the p candidates passes with probability expected / p if it has no effect. "About", as
    in `FalseEdges`: effects too weak to be found show up at candidates correlated with them.

    >>> FalseCoefficients(1)
    FalseCoefficients(expected=1): a coefficient without effect passes with probability 1/p
    >>> round(FalseCoefficients(0.05).threshold(n=1000, p=20), 5)
    0.00457
    """

    expected: float = 0.05
    words = "a coefficient without effect passes with probability {expected:g}/p"

    def threshold(self, n: float, p: int) -> float:
        """Return the gain that a coefficient without effect passes with that probability."""
        return max(false_coefficients_threshold(self.expected, n, p), LEAST)


#: The two tiers of edges.
FIRM, TENTATIVE = FalseEdges(0.05), FalseEdges(1.0)


def tier_levels(n: float, p: int) -> dict[str, float]:
    """The thresholds of the tiers for n rows and p columns, the highest first."""
    return {"firm": FIRM.threshold(n, p), "tentative": TENTATIVE.threshold(n, p)}


@dataclass(frozen=True, repr=False)
class Auto(_Rule):
    """The default: the threshold of ``FalseEdges(0.05)``; the search runs to ``FalseEdges(1)``'s.

    So one run gives both tiers, the firm edges of ``graph_`` and the tentative ones.

    >>> Auto()
    Auto(): an edge without effect passes with probability 0.05/(p(p-1))
    """

    words = "an edge without effect passes with probability 0.05/(p(p-1))"

    def threshold(self, n: float, p: int) -> float:
        """Return the threshold of ``FalseEdges(0.05)``."""
        return FIRM.threshold(n, p)

    def floor(self, n: float, p: int) -> float:
        """Return the threshold of ``FalseEdges(1)``."""
        return TENTATIVE.threshold(n, p)


@dataclass(frozen=True, repr=False)
class Paper(_Rule):
    """The paper's experiments: c log(np) / n.

    >>> Paper(c=0.9)
    Paper(c=0.9): an edge must gain more than 0.9 log(np)/n
    """

    c: float = 1.0
    words = "an edge must gain more than {c:g} log(np)/n"

    def threshold(self, n: float, p: int) -> float:
        """Return c log(np) / n."""
        return max(self.c * float(np.log(max(n * p, 1.0))) / n, LEAST)


@dataclass(frozen=True, repr=False)
class Theorem(_Rule):
    """The paper's theorem: c d log(p) / n, with d the largest degree.

    >>> Theorem(c=0.5, degree=4)
    Theorem(c=0.5, degree=4): an edge must gain more than 0.5 * 4 log(p)/n
    """

    c: float
    degree: int
    words = "an edge must gain more than {c:g} * {degree:g} log(p)/n"

    def threshold(self, n: float, p: int) -> float:
        """Return c d log(p) / n."""
        return max(self.c * self.degree * float(np.log(max(p, 1))) / n, LEAST)


@dataclass(frozen=True, repr=False)
class LookBelow:
    """Another selector's threshold, with the search run on to a share of it.

    The graph is the same; ``at`` then reaches below the threshold as well.

    >>> LookBelow(Paper())
    Paper(c=1): an edge must gain more than 1 log(np)/n (searched to 0.25 of it)
    """

    rule: Selector
    share: float = 0.25

    def __post_init__(self) -> None:
        check("share", self.share, type(self).__name__)

    def threshold(self, n: float, p: int) -> float:
        """Return the other selector's threshold."""
        return self.rule.threshold(n, p)

    def floor(self, n: float, p: int) -> float:
        """Return a share of the threshold, or what the other selector asks for, if that is less."""
        return max(min(self.share * self.threshold(n, p), self.rule.floor(n, p)), LEAST)

    def __repr__(self) -> str:
        return f"{self.rule!r} (searched to {self.share:g} of it)"
