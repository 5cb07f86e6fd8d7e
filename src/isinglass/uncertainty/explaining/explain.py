"""Why is there an edge between two columns, or none?

Two associated columns need no edge if a third one accounts for the association. The searches at
both ends show which one: the evidence for the pair falls when that column enters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.estimators.adjusting import adjusted_for
from isinglass.estimators.filled import refuse_filled
from isinglass.frames import by_field, frame
from isinglass.graph import position_of
from isinglass.losses.conditional import NodeFit
from isinglass.parameters import checked
from isinglass.selection import TENTATIVE
from isinglass.uncertainty.explaining.searches import Search, checked_estimator, kept_out, searches
from isinglass.wording import listed, number


@dataclass(frozen=True)
class Moment:
    """The evidence for a pair at one moment of the search at one of its ends."""

    end: str  #: the column whose search it is
    step: int  #: steps taken; 0 is the start, when no column is in, or only required ones are
    kind: str  #: "start", "required", "add" or "drop"
    variable: str | None  #: what the step added or dropped
    evidence: float  #: for the pair, after the step: a chi-square with one degree of freedom
    inside: bool  #: whether the other column is in; the evidence is then what its removal costs


Walk = tuple[Moment, ...]
Account = tuple[int, float, tuple[int, ...]]
"""How many columns, the evidence left with them held, and which."""


@dataclass(frozen=True)
class Explanation:
    """Why two columns are linked, or not.

    Attributes
    ----------
    alone : float
        Evidence for the pair when no other column is held fixed, except those adjusted for.
    left : float
        Evidence at the end: that of the edge or, if there is none, the larger of what it would gain
        at its two ends.
    needed : float
        The evidence that a link needs.
    by : tuple of str
        The columns that account for the association; empty if there is none, or a link.
    steps : tuple of Moment
        The evidence for the pair at every step of both searches.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ig.explain(est, "x0", "x2").by
    ('x1',)
    """

    pair: tuple[str, str]
    linked: bool
    alone: float
    left: float
    needed: float
    by: tuple[str, ...]
    sentence: str
    steps: tuple[Moment, ...]
    library: str | None = None

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """One row per moment, the search of the first column before that of the second."""
        return frame(by_field(Moment, self.steps), library or self.library)

    def __str__(self) -> str:
        return self.sentence


@checked
def explain(estimator: GreedyGraph, a: str, b: str) -> Explanation:
    """Say why there is an edge between two columns, or none.

    The evidence for the pair is computed at every step of the searches at both its ends, exactly
    as the search does. If there is no edge, the sentence names the smallest set of columns that
    account for the association, and the evidence with only these held fixed; columns at whose entry
    the evidence fell most are tried first. That is a statement about the measured columns; it does
    not say what causes what.

    Parameters
    ----------
    estimator : GreedyGraph
        Fitted.
    a, b : str
        Two columns.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> print(ig.explain(est, "x0", "x2"))
    x0 and x2: associated (evidence 211), explained by x1 (1.74 with it held fixed)
    >>> print(ig.explain(est, "x0", "x1"))
    x0 and x1: linked (evidence ... with the other columns held fixed, 471 with none)
    """
    names = checked_estimator(estimator).table_.names
    # Along a search the draws carry what two columns have in common through others.
    refuse_filled(estimator, "explain")
    ends = position_of(a, names), position_of(b, names)
    if a == b:
        raise SettingError(f"a pair needs two columns; both are {a!r}.")
    found = {search.column: search for search in searches(estimator, ends)}
    ways = [(found[r], other) for r, other in (ends, ends[::-1])]
    walks = [tuple(_walk(search, other, names)) for search, other in ways]
    alone, left = (max(walk[at].evidence for walk in walks) for at in (0, -1))
    pair, needed = (min(ends), max(ends)), 2.0 * estimator.table_.n * estimator.threshold_
    linked = pair in estimator.graph_.pairs
    by: tuple[str, ...] = ()
    if linked:
        left = estimator.graph_.links[estimator.graph_.pairs.index(pair)].evidence or 0.0
        required = ", as required" if pair in estimator.search_.required else ""
        held = f"{number(left)} with the other columns held fixed, {number(alone)} with none"
        said = f"linked{required} (evidence {held})"
    else:
        by, said = _not_linked(estimator, ways, walks, needed)
    sentence = f"{a} and {b}{adjusted_for(estimator)}: {said}"
    steps = (*walks[0], *walks[1])
    return Explanation(
        (a, b), linked, alone, left, needed, by, sentence, steps, estimator.table_.library
    )


def _not_linked(
    estimator: GreedyGraph, ways: Sequence[tuple[Search, int]], walks: Sequence[Walk], needed: float
) -> tuple[tuple[str, ...], str]:
    """The columns that account for a pair without a link, and why there is none."""
    alone, left = (max(walk[at].evidence for walk in walks) for at in (0, -1))
    accounts = (_accounts(*way, walk, needed) for way, walk in zip(ways, walks, strict=True))
    _, held, columns = min(accounts) if alone > needed else (0, left, ())
    by = tuple(estimator.table_.names[t] for t in columns)
    first, second = sorted(other for _, other in ways)
    chosen = sum(walk[-1].inside for walk in walks)
    barred = kept_out(estimator, first, second, chosen) if chosen or left > needed else ""
    if barred or left > needed:
        evidence = f"evidence {number(left)} with the other columns held fixed"
        barred = barred or "the search could not choose the pair"
        return by, f"not linked: {barred} ({evidence}; a link needs {number(needed)})"
    if alone <= needed:
        n, p = estimator.table_.n, len(estimator.table_.columns)
        weak = alone > 2.0 * n * TENTATIVE.threshold(n, p)
        said = "associated, too weakly for a link" if weak else "not associated"
        return by, f"{said} (evidence {number(alone)}; a link needs {number(needed)})"
    said = f"associated (evidence {number(alone)})"
    if not by:
        return by, f"{said}, {number(left)} with the other columns held fixed"
    them = "it" if len(by) == 1 else "them"
    return by, f"{said}, explained by {listed(by)} ({number(held)} with {them} held fixed)"


def _walk(search: Search, other: int, names: Sequence[str]) -> Iterator[Moment]:
    """The evidence for an edge to one other column, from the start of a search to its end."""

    def moment(
        step: int,
        kind: str,
        variable: str | None,
        support: Sequence[int],
        like: NodeFit | None = None,
    ) -> Moment:
        evidence = float(search.evidence(search.fit(support, like), [other])[0])
        return Moment(names[search.column], step, kind, variable, evidence, other in support)

    yield moment(0, "start", None, ())
    if search.path.required:
        yield moment(0, "required", None, search.path.required)
    for count, step in enumerate(search.path.steps, start=1):
        fit = cast(NodeFit, step.fit)
        yield moment(count, step.kind, names[step.variable], step.support, fit)


def _accounts(search: Search, other: int, walk: Walk, needed: float) -> Account:
    """The fewest columns that account for a pair, as one end sees it.

    Those come first whose entry lowered the evidence most; it is enough when the evidence with
    them alone held is no more than needed.
    """
    path, falls = search.path, []
    for before, after in pairwise(walk):
        if after.kind != "drop" and not after.inside:
            taken = (path.required, *((step.variable,) for step in path.steps))[after.step]
            falls.append((before.evidence - after.evidence, taken))
    named: list[int] = []
    left = walk[0].evidence
    for fall, entered in sorted(falls, key=lambda pair: -pair[0]):
        if left <= needed or fall <= 0:
            break
        named.extend(t for t in entered if t not in named)  # a new form is the same column
        left = float(search.evidence(search.fit(named), [other])[0])
    return len(named), left, tuple(named)
