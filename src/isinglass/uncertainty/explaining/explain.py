"""Why is there an edge between two columns, or none?

Two columns that go together need no edge if a third one accounts for it. The search shows which:
the evidence for the pair falls when that column enters. It is read along the searches of both ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.frames import frame
from isinglass.graph import position_of
from isinglass.parameters import checked
from isinglass.selection import TENTATIVE
from isinglass.solvers.path import Path
from isinglass.uncertainty.explaining.searches import Search, checked_estimator, kept_out, searches
from isinglass.wording import listed, number


@dataclass(frozen=True)
class Moment:
    """The evidence for a pair at one moment of the search at one of its ends.

    Attributes
    ----------
    end : str
        The column whose search it is.
    step : int
        Steps taken; 0 is the start, when no column is in, or only required ones are.
    kind : "start", "required", "add" or "drop"
    variable : str or None
        What the step added or dropped.
    evidence : float
        For the pair, after the step: a chi-square with one degree of freedom.
    inside : bool
        Whether the other column of the pair is in; the evidence is then what its removal costs.
    """

    end: str
    step: int
    kind: str
    variable: str | None
    evidence: float
    inside: bool


Walk = tuple[Moment, ...]
Account = tuple[int, float, tuple[int, ...]]
"""How many columns, the evidence left with them held, and which."""


@dataclass(frozen=True)
class Explanation:
    """Why two columns are linked, or not.

    Attributes
    ----------
    pair : tuple of str
    linked : bool
    alone : float
        Evidence for the pair when no other column is held.
    left : float
        Evidence at the end: that of the edge, or, if there is none, the larger of what it would
        gain at the two ends.
    needed : float
        What a pair's evidence must exceed when it is to be taken in.
    by : tuple of str
        The columns that account for the association; empty if there is none, or a link.
    sentence : str
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
        """One row a moment, the search of the first column before that of the second."""
        keys = ("end", "step", "kind", "variable", "evidence", "inside")
        columns = {key: [getattr(moment, key) for moment in self.steps] for key in keys}
        return frame(columns, library or self.library)

    def __str__(self) -> str:
        return self.sentence


@checked
def explain(estimator: GreedyGraph, a: str, b: str) -> Explanation:
    """Say why there is an edge between two columns, or none.

    The evidence for the pair is computed at every step of the searches at both its ends, exactly
    as the search does. Named are the fewest columns that account for the association, those first
    at whose entry the evidence fell most; "once it is in" is the evidence with these alone held.
    That is a statement about the measured columns; it does not say what causes what.

    Parameters
    ----------
    estimator : GreedyGraph
        Fitted.
    a, b : str
        Two columns.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> print(ig.explain(est, "x0", "x2"))
    x0 and x2: associated (evidence 211), explained by x1 (1.74 once it is in)
    >>> print(ig.explain(est, "x0", "x1"))
    x0 and x1: linked (evidence ... with the other columns held, 471 with none)
    """
    names = checked_estimator(estimator).table_.names
    ends = position_of(a, names), position_of(b, names)
    if a == b:
        raise SettingError(f"a pair needs two columns; both are {a!r}.")
    found = {search.column: search for search in searches(estimator, ends)}
    ways = [(found[r], other) for r, other in (ends, ends[::-1])]
    walks = [tuple(_walk(search, other, names)) for search, other in ways]
    story = _story(estimator, ways, walks)
    return Explanation(
        (a, b),
        story.linked,
        story.alone,
        story.left,
        story.needed,
        story.by,
        f"{a} and {b}: {story}",
        (*walks[0], *walks[1]),
        estimator.table_.library,
    )


def _story(
    estimator: GreedyGraph, ways: Sequence[tuple[Search, int]], walks: Sequence[Walk]
) -> _Story:
    ends = {other for _, other in ways}
    evidence = [e.evidence for e in estimator.graph_ if {e.source, e.target} == ends]
    needed = 2.0 * estimator.table_.n * estimator.threshold_
    n, p = estimator.table_.n, len(estimator.table_.columns)
    tentative = 2.0 * n * TENTATIVE.threshold(n, p)
    alone = max(walk[0].evidence for walk in walks)
    left = evidence[0] if evidence else max(walk[-1].evidence for walk in walks)
    assert left is not None  # the graph of a fit has evidence for every edge
    by: tuple[str, ...] = ()
    held = left
    if alone > needed and not evidence:
        _, held, columns = min(
            _accounts(*way, walk, needed) for way, walk in zip(ways, walks, strict=True)
        )
        by = tuple(estimator.table_.names[t] for t in columns)
    chosen = sum(walk[-1].inside for walk in walks)
    enough = not evidence and (chosen or left > needed)
    barred = kept_out(estimator, min(ends), max(ends), chosen) if enough else ""
    required = (min(ends), max(ends)) in estimator.search_.required
    return _Story(bool(evidence), required, barred, alone, left, needed, tentative, by, held)


def _walk(search: Search, other: int, names: Sequence[str]) -> Iterator[Moment]:
    """The evidence for an edge to one other column, from the start of a search to its end."""

    def moment(step: int, kind: str, variable: str | None, support: Sequence[int]) -> Moment:
        evidence = float(search.evidence(search.fit(support), [other])[0])
        return Moment(names[search.column], step, kind, variable, evidence, other in support)

    yield moment(0, "start", None, ())
    if search.path.required:
        yield moment(0, "required", None, search.path.required)
    for count, step in enumerate(search.path.steps, start=1):
        yield moment(count, step.kind, names[step.variable], step.support)


def _accounts(search: Search, other: int, walk: Walk, needed: float) -> Account:
    """The fewest columns that account for a pair, as one end sees it.

    Those come first whose entry lowered the evidence most; it is enough when the evidence with
    them alone held is no more than needed.
    """
    falls = [
        (before.evidence - after.evidence, _entered(search.path, after))
        for before, after in pairwise(walk)
        if after.kind != "drop" and not after.inside
    ]
    named: list[int] = []
    left = walk[0].evidence
    for fall, entered in sorted(falls, key=lambda pair: -pair[0]):
        if left <= needed or fall <= 0:
            break
        named.extend(entered)
        left = float(search.evidence(search.fit(named), [other])[0])
    return len(named), left, tuple(named)


def _entered(path: Path, moment: Moment) -> tuple[int, ...]:
    """The columns that came in at a moment."""
    return path.required if moment.kind == "required" else (path.steps[moment.step - 1].variable,)


@dataclass(frozen=True)
class _Story:
    """What there is to tell of a pair."""

    linked: bool
    required: bool
    barred: str
    alone: float
    left: float
    needed: float
    tentative: float
    by: tuple[str, ...]
    held: float

    def __str__(self) -> str:
        alone, left, needed = map(number, (self.alone, self.left, self.needed))
        compared = f"(evidence {left} with the other columns held; a link needs {needed})"
        if self.linked:
            word = "linked, as required" if self.required else "linked"
            return f"{word} (evidence {left} with the other columns held, {alone} with none)"
        if self.barred:
            return f"not linked: {self.barred} {compared}"
        if self.left > self.needed:
            return f"not linked: the search was kept from the pair {compared}"
        if self.tentative < self.alone <= self.needed:
            return f"associated, too weakly for a link (evidence {alone}; a link needs {needed})"
        if self.alone <= self.needed:
            return f"not associated (evidence {alone}; a link needs {needed})"
        if not self.by:
            return f"associated (evidence {alone}), {left} with the other columns held"
        it = "it is" if len(self.by) == 1 else "they are"
        return (
            f"associated (evidence {alone}), explained by {listed(self.by)} "
            f"({number(self.held)} once {it} in)"
        )
