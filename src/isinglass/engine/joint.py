"""Both ends of an edge decide together: the rule "joint".

The searches of single columns propose; what both ends of a pair say of it together decides. All
pairs that either end chose at half the threshold of firm edges are in the graph at first. Then the
weakest edge leaves, its two columns are refitted, and so on until none is left. An edge is in the
graphs of all thresholds below its entry: the largest of the weakest edges' statistics up to the
time when it left. So graphs are nested, and one run has those of all thresholds.

Once all edges are firm, columns look for further neighbours from where they are. What one end would
choose by itself, or both at half the threshold, comes in if both together find it firm; then edges
leave again. Below half the threshold of firm edges, where nothing was decided, pairs come in as
their searches chose them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from isinglass.core import Further, LookFurther, Seen, Starts, both_ends
from isinglass.engine.constraints import FREE, Constraints
from isinglass.engine.learn import learn_neighbourhoods, threads_for
from isinglass.engine.native import (
    CountedRows,
    NativeRuns,
    adjusted_columns,
    fit_neighbourhoods,
    forms_of,
    in_core,
    small_pairs,
    wide_scales,
)
from isinglass.engine.runs import Choices, Ends, Progress, Runs, forms_at, own_at, progress_from
from isinglass.errors import Setting, SettingError
from isinglass.losses.conditional import NodeFit
from isinglass.losses.forms import TABLE
from isinglass.solvers.cuts import Cuts, join
from isinglass.solvers.equivalent import false_edges_threshold
from isinglass.solvers.path import Path, Step, stopped_at_threshold
from isinglass.table import Table

Array = NDArray[np.float64]
Pair = tuple[int, int]

#: Edges without effect expected in a graph of firm edges.
FIRM_FALSE_EDGES = 0.05
#: The share of the threshold of firm edges at which the searches of columns propose: two ends
#: together are at most twice as sure as one.
PROPOSED_AT = 0.5


def learn_joint(
    table: Table,
    floor: float,
    *,
    intercept: bool = True,
    constraints: Constraints = FREE,
    n_jobs: int | None = None,
    scales: Array | None = None,
    progress: Progress | None = None,
    edges: str = "table",
    max_degree: int | None = None,
    **settings: Any,
) -> JointRuns:
    """Run Algorithm 1 for every column, and let both ends of each pair decide together."""
    if table.available:
        raise SettingError(
            *(Setting("rule", "joint"), " compares both ends of an edge on the same rows, and "),
            *(Setting("missing", "available"), " uses other rows for each column. Choose "),
            *(Setting("missing", "model"), " or ", Setting("missing", "drop"), ", or "),
            *(Setting("rule", "or"), "."),
        )
    firm = false_edges_threshold(FIRM_FALSE_EDGES, table.n, len(table.columns))
    proposals = learn_neighbourhoods(
        table,
        min(floor, PROPOSED_AT * firm),
        intercept=intercept,
        constraints=constraints,
        n_jobs=n_jobs,
        scales=scales,
        progress=progress,
        edges=edges,
        max_degree=max_degree,
        **settings,
    )
    threads = threads_for(n_jobs, len(table.columns))
    parts = floor, firm, constraints, max_degree, intercept, threads, scales, edges
    return JointRuns(table, proposals, *parts)


def both_ends_of(
    table: Table,
    pairs: Sequence[Pair],
    *,
    intercept: bool,
    threads: int,
    scales: Array | None = None,
    edges: str = "table",
    of_edges: Mapping[Pair, str] | None = None,
    starts: Starts | None = None,
    looking: LookFurther | None = None,
    **settings: Any,
) -> Seen:
    """What both ends of each edge of a graph say of it, and its entry; see `core.both_ends`.

    A constant column says nothing, and nothing can be said of it. `scales` is a (p, p) array.
    `edges` says which forms competed for each edge, `of_edges` the form that it has, by default a
    whole table. Fits begin at `starts`, if some are known. Columns may be `looking` for further
    edges.
    """
    varying = [at for at, pair in enumerate(pairs) if min(table.n_states[v] for v in pair) > 1]
    wide, counted, forms = table.wide, CountedRows.of(table.wide), forms_of(table, edges)
    scales = wide_scales(table.pair_scales(scales), table)
    if looking is not None:
        unit = counted.unit
        looking = replace(looking, alone=looking.alone * unit, gain=looking.gain * unit)
    seen = both_ends(
        *counted.rows,
        [pairs[at] for at in varying],
        scales=counted.scales(scales, (len(wide.columns),) * 2),
        unit=counted.unit,
        intercept=intercept,
        threads=threads,
        n=counted.n,
        adjusted=len(wide.columns) - len(table.columns),
        forms=in_core(forms),
        small=small_pairs(forms, of_edges),
        starts=None if starts is None else starts.of_edges(varying),
        looking=looking,
        **settings,
    )
    # Constant columns say nothing.
    at = [*varying, *range(len(pairs), len(pairs) + len(seen.further))]
    statistic, entry = np.zeros((2, len(pairs) + len(seen.further)))
    statistic[at], entry[at] = seen.statistic, seen.entry
    return Seen(statistic, entry, seen.further)


@dataclass(frozen=True, eq=False)
class JointRuns(Runs):
    """Neighbourhoods in the order in which both ends let them in.

    Attributes
    ----------
    table : Table
    proposals : Runs
        The searches of single columns.
    floor : float
        The smallest threshold that is asked for.
    firm : float
        The threshold of firm edges, from whose graph columns look further.
    constraints : Constraints
        Edges that never leave, and pairs that are never looked at.
    max_degree : int or None
        The number of neighbours from which on a column proposes no more.
    """

    table: Table
    proposals: Runs
    floor: float
    firm: float
    constraints: Constraints
    max_degree: int | None
    intercept: bool
    threads: int
    scales: Array | None = None
    edges: str = "table"
    _known: dict[float, dict[Pair, float]] = field(default_factory=dict)
    _further: dict[Pair, Further] = field(default_factory=dict)
    _watching: list[tuple[Progress, int]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.table.columns)

    @property
    def proposed_at(self) -> float:
        """The threshold of the proposals that were decided upon together."""
        return PROPOSED_AT * self.firm

    @contextmanager
    def watched(self, progress: Progress | None, after: int | None = None) -> Iterator[None]:
        """Tell of edges that are being decided, by default after all columns."""
        before = len(self) if after is None else after
        self._watching[:] = [(progress, before)] if progress is not None else []
        try:
            yield
        finally:
            self._watching.clear()

    def pairs(self, threshold: float) -> list[Pair]:
        """The edges at a threshold, in column order."""
        return sorted(pair for pair, entry in self.entries(threshold).items() if entry > threshold)

    def entries(self, threshold: float = math.inf) -> Mapping[Pair, float]:
        """At which threshold each pair comes in; exact for those that come in at a lower one.

        Edges leave until the weakest is above the threshold: it takes longer the higher that is.
        """
        decided = self._decided(threshold)
        return decided if threshold >= self.proposed_at else self._undecided | decided

    def _decided(self, threshold: float) -> dict[Pair, float]:
        threshold = max(threshold, self.firm)  # further edges come in from there
        known = [top for top in self._known if top >= threshold]
        if not known:
            known = [threshold]
            pairs = join(*self.proposals.chosen(self.proposed_at), "or").pairs
            seen = both_ends_of(
                self.table,
                pairs,
                held=self.constraints.pairs,
                top=2.0 * self.table.n * threshold,
                scales=self.scales,
                edges=self.edges,
                of_edges=self._proposed_forms,
                starts=self.proposals.starts(self.proposed_at, pairs),
                looking=self._looking,
                intercept=self.intercept,
                threads=self.threads,
                progress=self._progress_of(len(pairs)),
            )
            self._further.update((one.pair, one) for one in seen.further)
            entry = (seen.entry / (2.0 * self.table.n)).tolist()
            entries = dict(zip([*pairs, *(one.pair for one in seen.further)], entry, strict=True))
            required = dict.fromkeys(self.constraints.pairs & entries.keys(), math.inf)
            self._known[threshold] = entries | required
        return self._known[min(known)]

    @property
    def _looking(self) -> LookFurther:
        limit = self.max_degree
        if limit is not None:
            limit += len(adjusted_columns(self.table))
        statistic = 2.0 * self.table.n * self.firm
        gains = self.firm, self.proposed_at
        return LookFurther(statistic, *gains, self.constraints.forbidden, limit)

    @property
    def _forms(self) -> dict[Pair, str]:
        """The form of each edge."""
        forms = forms_of(self.table, self.edges)
        further = self._further.values()
        found = {one.pair: forms.allowed(*one.pair)[0] if one.small else TABLE for one in further}
        return self._proposed_forms | found

    @cached_property
    def _proposed_forms(self) -> dict[Pair, str]:
        """The form of each edge that was proposed, the larger one where its ends differ.

        As it is in the graph of firm edges, if that has it; else as it was proposed.
        """
        levels = sorted({min(self.floor, self.proposed_at), self.proposed_at, self.firm})
        return reduce(or_, (forms_at(self.proposals, level, "or") for level in levels))

    def _progress_of(self, edges: int) -> Callable[..., None] | None:
        progress, before = next(iter(self._watching), (None, 0))
        return progress_from(progress, before, before + edges)

    @cached_property
    def _undecided(self) -> dict[Pair, float]:
        """Where pairs that were not decided upon come in, as either search has them."""
        decided = set(join(*self.proposals.chosen(self.proposed_at), "or").pairs)
        entries: dict[Pair, float] = {}
        for (r, t), high in self._chosen_below.items():
            pair = (min(r, t), max(r, t))
            if pair not in decided:
                entries[pair] = max(entries.get(pair, 0.0), high)
        return entries

    @cached_property
    def _chosen_below(self) -> dict[Pair, float]:
        """Below which threshold a column chose another by itself, if that is no proposal's."""
        found = {}
        for r in range(len(self)):
            cuts = self.proposals.cuts(r)
            for t in set().union(*cuts.supports):
                below = [high for _, high in cuts.stretches(t) if high <= self.proposed_at]
                if below:
                    found[r, t] = max(below)
        return found

    def chosen(self, threshold: float) -> Ends:
        """Both ends of every edge, in column order."""
        pairs = np.array(self.pairs(threshold), dtype=np.intp).reshape(-1, 2)
        both = np.concatenate([pairs, pairs[:, ::-1]])
        column, neighbour = both[np.lexsort((both[:, 1], both[:, 0]))].T
        return column, neighbour

    def choices(self, threshold: float) -> Choices:
        """Every column refitted on its neighbours at a threshold."""
        neighbours: list[list[int]] = [[] for _ in range(len(self))]
        for r, t in zip(*(ends.tolist() for ends in self.chosen(threshold)), strict=True):
            neighbours[r].append(t)
        choices = self._fits(neighbours).choices(0.0)
        ends = zip(choices.column.tolist(), choices.neighbour.tolist(), strict=True)
        found = self._found_above if threshold >= self.proposed_at else self.found_alone
        return replace(choices, own=own_at(threshold, ends, found))

    @property
    def found_alone(self) -> dict[Pair, float]:
        """Below which threshold a column has a neighbour by its own search."""
        below = self._chosen_below if self.floor < self.proposed_at else {}
        return below | self._found_above

    @property
    def _found_above(self) -> dict[Pair, float]:
        """The same for what was proposed, or found further on, which holds for all thresholds."""
        proposed = self.proposals.chosen(self.proposed_at)
        ends = list(zip(*(some.tolist() for some in proposed), strict=True))
        for (a, b), _, by in self._further.values():
            ends += [end for end, found in zip(((a, b), (b, a)), by, strict=True) if found]
        return dict.fromkeys(ends, math.inf)

    def _fits(self, neighbours: Sequence[Sequence[int]]) -> NativeRuns:
        return fit_neighbourhoods(
            self.table,
            neighbours,
            of_edges=self._forms,
            intercept=self.intercept,
            threads=self.threads,
        )

    @cached_property
    def _orders(self) -> list[list[tuple[float, int]]]:
        """For each column, the entries of its neighbours, falling, and the neighbours."""
        orders: list[list[tuple[float, int]]] = [[] for _ in range(len(self))]
        entries = {**self.entries(), **(self._undecided if self.floor < self.proposed_at else {})}
        for (a, b), entry in sorted(entries.items(), key=lambda item: (-item[1], item[0])):
            if entry > self.floor:
                orders[a].append((entry, b))
                orders[b].append((entry, a))
        return orders

    @cached_property
    def _prefixes(self) -> list[NativeRuns]:
        """Every column refitted on its first 0, 1, 2, ... neighbours, as far as it has them."""
        longest = max(map(len, self._orders), default=0)
        return [
            self._fits([[t for _, t in order[:count]] for order in self._orders])
            for count in range(longest + 1)
        ]

    def fit_on_first(self, r: int, count: int) -> NodeFit:
        """Column r, fitted on the neighbours that came in first."""
        return self._prefixes[count].fit(r, 0)

    def cuts(self, r: int) -> Cuts:
        """Where the neighbourhood of column r changes; fits are made when they are looked at."""
        order = [entry for entry in self._orders[r] if math.isfinite(entry[0])]
        first = len(self._orders[r]) - len(order)
        neighbours = [t for _, t in self._orders[r]]
        return Cuts(
            np.array([entry for entry, _ in order]),
            _FitsOnFirst(self, r, first, len(neighbours) + 1),
            [tuple(sorted(neighbours[:k])) for k in range(first, len(neighbours) + 1)],
        )

    def path(self, r: int) -> Path:
        """The neighbours of column r in the order in which they came in, refitted each time."""
        cuts, first = self.cuts(r), len(self._orders[r]) - len(self.cuts(r).least)
        fits = cuts.fits
        steps = tuple(
            Step("add", t, entry, None, cuts.supports[k + 1], fits[k + 1], fits[k + 1].form(t))
            for k, (entry, t) in enumerate(self._orders[r][first:])
        )
        status = stopped_at_threshold(self.floor)
        return Path(steps, cuts.fits[0], self.floor, status, self.table.names, cuts.supports[0])


@dataclass(frozen=True, eq=False)
class _FitsOnFirst(Sequence[NodeFit]):
    """Fits of a column on its first neighbours, `start` of them and more, when looked at."""

    runs: JointRuns
    column: int
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @overload
    def __getitem__(self, index: int) -> NodeFit: ...
    @overload
    def __getitem__(self, index: slice) -> list[NodeFit]: ...
    def __getitem__(self, index: int | slice) -> NodeFit | list[NodeFit]:
        counts = range(self.start, self.stop)[index]
        if isinstance(counts, range):
            return [self.runs.fit_on_first(self.column, count) for count in counts]
        return self.runs.fit_on_first(self.column, counts)
