"""Neighbourhoods to one graph: which edges, and the numbers of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.deviance import Expected, deviances_of, expectations
from isinglass.engine.joint import both_ends_of
from isinglass.engine.refits import PairForms
from isinglass.engine.runs import Choices, Progress, Runs
from isinglass.engine.workers import Workers
from isinglass.graph import Graph, Link, Unvalued, sign_of
from isinglass.losses.forms import PRODUCT, TABLE, Scores
from isinglass.losses.steps import step_log_odds
from isinglass.solvers import cuts
from isinglass.table import Table
from isinglass.table.column import as_text

Pair = tuple[int, int]
Stretch = tuple[float, float]
"""Thresholds from the first, included, up to the second, which is not."""
REQUIRED = "required"


class Head(Protocol):
    """What a graph needs to know of its table: all but the rows."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def states(self) -> tuple[tuple[Hashable, ...], ...]: ...
    @property
    def n_answers(self) -> tuple[int, ...]: ...
    @property
    def ordered(self) -> tuple[bool, ...]: ...
    @property
    def scores(self) -> tuple[Scores | None, ...]: ...
    @property
    def n(self) -> float: ...
    @property
    def library(self) -> str | None: ...


class Value(NamedTuple):
    """What an edge adds to the likelihood, in the graph that it is part of; None if not known."""

    strength: float | None = None
    relative_strength: float | None = None
    evidence: float | None = None


GraphKey = tuple[tuple[Pair, ...], tuple[tuple[Pair, str], ...]]
Valuer = Callable[[Sequence[Pair], PairForms], Sequence[Value]]
"""Gives the edges of a graph, in their forms, their values, one per pair."""


@dataclass(frozen=True, eq=False)
class RefittedValues:
    """Values from the table, by refitting every column without each of its neighbours.

    What was found for a graph is kept in `known`; `expected` has the rows that each end expects
    without an edge. With `joint`, evidence is what both ends say together, else the mean of what
    either says. `scales`, `edges` and `workers` are those of `learn_neighbourhoods`.
    """

    table: Table
    intercept: bool
    threads: int
    joint: bool = False
    scales: NDArray[np.float64] | None = None
    edges: str = "table"
    workers: Workers | None = None
    known: dict[GraphKey, list[Value]] = field(default_factory=dict)
    expected: dict[GraphKey, dict[Pair, Expected]] = field(default_factory=dict)

    def __call__(
        self,
        pairs: Sequence[Pair],
        forms: PairForms | None = None,
        progress: Progress | None = None,
    ) -> list[Value]:
        """Return one value per pair, each edge in its form, or else a whole table."""
        if (key := graph_key(pairs, forms)) not in self.known:
            settings = {"progress": progress, "forms": forms, "edges": self.edges, **self._settings}
            settings["workers"] = self.workers
            self.expected[key] = expectations(self.table, pairs, **settings)
            self.known[key] = self._values(pairs, forms, pairs, self.expected[key])
        return self.known[key]

    def others(
        self,
        pairs: Sequence[Pair],
        forms: PairForms,
        known: Collection[Pair],
        progress: Progress | None = None,
    ) -> dict[Pair, Value]:
        """Return the values of the pairs of a graph that are not known yet."""
        new = [pair for pair in pairs if pair not in known]
        settings = {"known": known, "forms": forms, "edges": self.edges, **self._settings}
        found = expectations(self.table, pairs, progress=progress, **settings)
        return dict(zip(new, self._values(pairs, forms, new, found), strict=True))

    @property
    def _settings(self) -> Mapping[str, Any]:
        return {"intercept": self.intercept, "threads": self.threads}

    def _values(
        self,
        graph: Sequence[Pair],
        forms: PairForms | None,
        pairs: Sequence[Pair],
        expected: Mapping[Pair, Expected],
    ) -> list[Value]:
        """The values of some pairs of a graph."""
        found = deviances_of(self.table.n, pairs, expected, self.table.pair_scales(self.scales))
        evidence = found.evidence
        if self.joint:
            settings = {"scales": self.scales, "edges": self.edges, **self._settings}
            of_graph = both_ends_of(self.table, graph, of_edges=forms, **settings).statistic
            position = {pair: at for at, pair in enumerate(graph)}
            evidence = of_graph[[position[pair] for pair in pairs]]
        columns = (found.strength, found.relative_strength, evidence)
        return [Value(*numbers) for numbers in zip(*map(np.ndarray.tolist, columns), strict=True)]


def kept_values(known: Mapping[Pair, Value]) -> Valuer:
    """Values that were found before; those of other edges are not known."""
    return lambda pairs, forms: [known.get(pair, Value()) for pair in pairs]


def graph_key(pairs: Sequence[Pair], forms: PairForms | None) -> GraphKey:
    """What tells graphs apart: their edges, and those that are no whole tables."""
    known = forms or {}
    smaller = ((pair, known[pair]) for pair in pairs if known.get(pair, TABLE) != TABLE)
    return tuple(pairs), tuple(smaller)


@dataclass(frozen=True, eq=False)
class Joined:
    """The edges of a run at a threshold, whose numbers are found when they are asked for.

    Attributes
    ----------
    levels : dict of str to float
        The thresholds of the tiers, the highest first; none where edges have no tiers.
    required : set of pairs
        Edges that were asked for.
    kept : set of pairs, optional
        The only edges that may stay.
    """

    runs: Runs
    threshold: float
    rule: str
    head: Head
    value: Valuer
    levels: Mapping[str, float] = field(default_factory=dict)
    required: frozenset[Pair] = frozenset()
    kept: frozenset[Pair] | None = None

    @cached_property
    def pairs(self) -> list[Pair]:
        """The columns of each edge, in column order."""
        pairs = cuts.join(*self.runs.chosen(self.threshold), self.rule).pairs
        return [pair for pair in pairs if self.kept is None or pair in self.kept]

    def forms(self) -> dict[Pair, str]:
        """The form of each edge."""
        choices, ends = self._ends()
        return {pair: choices.form(ends[pair]) for pair in self.pairs}

    def _ends(self) -> tuple[Choices, dict[Pair, Pair]]:
        """The choices, and where among them each edge is."""
        choices = self.runs.choices(self.threshold)
        edges = cuts.join(choices.column, choices.neighbour, self.rule)
        both = zip(edges.choice.tolist(), edges.other_choice.tolist(), strict=True)
        return choices, dict(zip(edges.pairs, both, strict=True))

    def links(self) -> tuple[Link, ...]:
        """All numbers of all edges."""
        choices, ends = self._ends()
        forms = {} if choices.forms is None else {e: choices.form(ends[e]) for e in self.pairs}
        values = self.value(self.pairs, forms)
        return tuple(
            self._link(pair, choices, ends[pair], value, entry)
            for pair, value, entry in zip(self.pairs, values, self._entries(), strict=True)
        )

    def _entries(self) -> list[float | None]:
        """The entries of edges on the scale of evidence; None where there was no search."""
        if not self.levels:
            return [None] * len(self.pairs)
        found = entries(self.runs, self.pairs, self.threshold, self.rule)
        return [2.0 * self.head.n * entry if math.isfinite(entry) else None for entry in found]

    def _link(
        self, pair: Pair, choices: Choices, ends: Pair, value: Value, entry: float | None
    ) -> Link:
        """An edge; `ends` says where among the choices it is, twice the same if one end chose."""
        head, (a, b), (one, other) = self.head, pair, ends
        form = choices.form(ends)
        two_states = head.n_answers[a] == head.n_answers[b] == 2
        required = pair in self.required
        trend = float(choices.trends[one] + choices.trends[other]) / 2
        by = choices.chosen_by(ends)
        return Link(
            a,
            b,
            strength=value.strength,
            sign=sign_of(trend) if head.ordered[a] and head.ordered[b] else 0,
            coupling=trend if two_states else None,
            log_odds=4.0 * trend if two_states else None,
            evidence=value.evidence,
            selected_by=REQUIRED if required else head.names[by.pop()] if len(by) == 1 else "both",
            unbounded=bool(choices.unbounded[one] or choices.unbounded[other]),
            tier=REQUIRED if required else self._tier(entry),
            relative_strength=value.relative_strength,
            entry_evidence=None if required else entry,
            source_state=as_text(head.states[a][1]) if two_states else None,
            target_state=as_text(head.states[b][1]) if two_states else None,
            form=form,
            step_log_odds=self._per_step(pair, choices, ends) if form == PRODUCT else None,
        )

    def _per_step(self, pair: Pair, choices: Choices, ends: Pair) -> float | None:
        """The log odds ratio per step of a product of scores, the mean of its ends."""
        table = np.mean([choices.table(end, pair[0]) for end in ends], axis=0)
        scores = self.head.scores[pair[0]], self.head.scores[pair[1]]
        return step_log_odds(table, scores, PRODUCT)

    def _tier(self, entry: float | None) -> str:
        if entry is None:
            return ""
        passed = (name for name, level in self.levels.items() if entry > 2.0 * self.head.n * level)
        return next(passed, "")


def join(joined: Joined) -> Graph:
    """Cut every path at the threshold and join the neighbourhoods by OR or AND."""
    unvalued = Unvalued(joined.pairs, joined.links, joined.forms)
    return Graph(joined.head.names, unvalued, joined.head.library)


def pairs_at(runs: Runs, threshold: float, rule: str) -> frozenset[Pair]:
    """The pairs of columns that are linked at a threshold, nothing more."""
    return frozenset(cuts.join(*runs.chosen(threshold), rule).pairs)


def entries(runs: Runs, pairs: Sequence[Pair], threshold: float, rule: str) -> list[float]:
    """The entry of each edge of the graph at a threshold; infinite for required ones.

    A graph with a lower threshold may lack an edge that one with a higher threshold has, since
    searches drop what others explain better. So the entry of an edge belongs to a graph: it is in
    the graphs of all thresholds from this graph's own up to its entry.
    """
    of = {r: runs.cuts(r) for r in {end for pair in pairs for end in pair}}
    climb = _climb_either if cuts.ends_needed(rule) == 1 else _climb_both
    return [
        climb([list(of[a].stretches(b)), list(of[b].stretches(a))], threshold) for a, b in pairs
    ]


def _climb_either(ends: Sequence[Sequence[Stretch]], threshold: float) -> float:
    """How far up one end or the other has the edge without a break."""
    while True:
        tops = [high for end in ends for low, high in end if low <= threshold < high]
        if not tops:
            return threshold
        threshold = max(tops)


def _climb_both(ends: Sequence[Sequence[Stretch]], threshold: float) -> float:
    """How far up both ends have it."""
    tops = [[high for low, high in end if low <= threshold < high] for end in ends]
    return min((high[0] for high in tops if high), default=threshold)
