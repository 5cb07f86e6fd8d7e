"""Algorithm 2 by the compiled core: same steps as the readable solver, from counts of bits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass import core
from isinglass.core import STOPS, Codes, Starts, Weights, core_forms, fit_columns
from isinglass.core.elsewhere import MOST_CELLS, RowsElsewhere, TooManyCells
from isinglass.engine.constraints import FREE, Constraints
from isinglass.engine.runs import Choices, Ends, Progress, Runs, progress_from
from isinglass.engine.workers import Workers
from isinglass.errors import Setting, TableError
from isinglass.graph import trend_of
from isinglass.losses.conditional import NodeFit
from isinglass.losses.forms import TABLE, Form, Forms
from isinglass.solvers.cuts import fits_at
from isinglass.solvers.path import (
    ALL_IN,
    Path,
    Step,
    stopped_at_size,
    stopped_at_threshold,
)
from isinglass.table import Table

#: Rows for each possible combination of states from which on equal rows are merged.
ROWS_TO_MERGE = 32
#: How many times the least weight others may be where weights are counted in units of it.
MOST_TIMES = 2**12


def learn_native(
    table: Table,
    floor: float,
    *,
    max_degree: int | None,
    constraints: Constraints = FREE,
    progress: Progress | None = None,
    targets: Sequence[int] | None = None,
    scales: NDArray[np.float64] | None = None,
    level: float = math.inf,
    edges: str = "table",
    workers: Workers | None = None,
    **settings: Any,
) -> NativeRuns:
    """Run Algorithm 1 for every column (or those in `targets`), threads taking them in turn.

    `edges` says which forms an edge may have, `workers` who does it; `settings` are further ones of
    `search_columns`.
    """
    forms = forms_of(table, edges)
    targets = tuple(range(len(table.columns))) if targets is None else tuple(targets)
    wide, constraints = table.wide, constraints.adjusting(table)
    counted = CountedRows.of(wide)
    with too_many_cells_named(table.names):
        flat = (workers or core).search_columns(
            *counted.rows,
            floor * counted.unit,
            max_degree=None if max_degree is None else max_degree + len(adjusted_columns(table)),
            targets=targets,
            required=constraints.required,
            forbidden=constraints.forbidden,
            n=counted.n,
            scales=counted.scales(wide_scales(scales, table), (len(wide.columns),) * 2),
            unit=counted.unit,
            level=level * counted.unit,
            forms=in_core(forms),
            progress=progress_from(progress, 0, len(targets)),
            **settings,
        )
    flat["change"] /= counted.unit
    return NativeRuns(flat, targets, table.names, forms, floor, max_degree)


@contextmanager
def too_many_cells_named(names: Sequence[str]) -> Iterator[None]:
    """Say which column has so many neighbours that they cannot be counted where rows are."""
    try:
        yield
    except TooManyCells as error:
        raise TableError(
            f"the neighbours of column {names[error.column]!r} have more than {MOST_CELLS:,} "
            "combinations of states, the most that are counted chunk by chunk. Set ",
            *(Setting("max_degree"), ", raise the threshold, or merge rare states."),
        ) from None


def forms_of(table: Table, edges: str) -> Forms:
    """The forms that the edges of a table may have; its columns are those of its wide form."""
    wide = table.wide
    return Forms(tuple(wide.n_states), wide.scores, edges, own=len(table.columns))


def in_core(forms: Forms) -> core.Forms | None:
    """The forms as the core knows them; None where there are but tables."""
    if forms.edges == "table" or max(forms.n_states, default=0) < 3:
        return None
    bases, answered = zip(*map(forms.scores_of, range(len(forms.n_states))), strict=True)
    own = len(forms.n_states) if forms.own is None else forms.own
    return core_forms(forms.n_states, bases, answered, own=own, tables=forms.edges == "auto")


def adjusted_columns(table: Table) -> list[int]:
    """The columns of a table's wide form that are adjusted for, without constant ones."""
    states = table.wide.n_states
    return [t for t in range(len(table.columns), len(states)) if states[t] > 1]


def wide_scales(scales: NDArray[np.float64] | None, table: Table) -> NDArray[np.float64] | None:
    """The scales of all pairs of a table's wide form: one for what is adjusted for."""
    if scales is None or table.adjusted is None:
        return scales
    wide = np.ones((len(table.wide.columns),) * 2)
    wide[: len(scales), : len(scales)] = scales
    return wide


def fit_neighbourhoods(
    table: Table,
    neighbours: Sequence[Sequence[int]],
    *,
    intercept: bool,
    threads: int,
    progress: Progress | None = None,
    of_edges: Mapping[tuple[int, int], str] | None = None,
) -> NativeRuns:
    """Fit every column on given neighbours: paths without a step, for graphs found elsewhere.

    A constant column says nothing of others, and nothing can be said of it: it has no neighbours.
    `of_edges` has the forms of edges that are no whole tables, by columns in order.
    """
    forms = forms_of(table, "auto")
    varies, beside = [m > 1 for m in table.n_states], adjusted_columns(table)
    neighbours = [
        [*(t for t in some if varies[t]), *beside] if varies[r] else []
        for r, some in enumerate(neighbours)
    ]
    wide = table.wide
    counted = CountedRows.of(wide)
    alone: list[list[int]] = [[]] * (len(wide.columns) - len(neighbours))
    flat = fit_columns(
        *counted.rows,
        [*neighbours, *alone],
        intercept=intercept,
        threads=threads,
        n=counted.n,
        forms=in_core(forms),
        small=small_pairs(forms, of_edges),
        progress=progress_from(progress, 0, len(neighbours)),
    )
    targets = tuple(range(len(wide.columns)))
    return NativeRuns(flat, targets, table.names, forms, 0.0, None)


def small_pairs(
    forms: Forms, of_edges: Mapping[tuple[int, int], str] | None
) -> set[tuple[int, int]]:
    """Columns and neighbours whose edge is smaller than a table, from both ends.

    An end that has no smaller form, because it saw fewer states, keeps its table.
    """
    small = [pair for pair, form in (of_edges or {}).items() if form != TABLE]
    ends = [*small, *((b, a) for a, b in small)]
    return {(r, t) for r, t in ends if forms.allowed(r, t)[0] != TABLE}


def merged_rows(table: Table) -> tuple[Codes, Weights, tuple[int, ...]]:
    """Codes, weights and numbers of states; equal rows are merged where there must be many.

    A merged row costs a bit plane for each digit of its weight, so a few copies do not pay.
    """
    possible = math.prod(table.n_states)
    if possible > len(table.codes) / ROWS_TO_MERGE:
        return table.codes, table.weights, table.n_states
    key = np.ravel_multi_index(tuple(table.codes.T), table.n_states)
    _, first, row = np.unique(key, return_index=True, return_inverse=True)
    weights = np.bincount(row, table.weights).astype(np.float64)
    return table.codes[first], weights, table.n_states


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows as the core counts them fastest: by whole weights, in units of which they are multiples.

    Where `unit` is not one, the core sees 1 / unit times as many rows. Losses per row are the same;
    likelihood ratios are too large by that, so that they are divided by scales that are as well.
    What the core calls the gain of one parameter is then `unit` times that.
    """

    rows: tuple[Codes | RowsElsewhere, Weights, tuple[int, ...]]
    n: float
    unit: float

    @classmethod
    def of(cls, table: Table) -> CountedRows:
        """Merge equal rows, and find the unit of the weights; rows elsewhere are as they are."""
        if table.elsewhere is not None:
            return cls((table.elsewhere, np.empty(0), table.n_states), table.n, 1.0)
        codes, weights, n_states = merged_rows(table)
        unit = unit_of(weights)
        whole = weights if unit == 1 else np.rint(weights / unit)
        return cls((codes, whole, n_states), table.n / unit, unit)

    def scales(
        self, scales: NDArray[np.float64] | None, shape: tuple[int, ...]
    ) -> NDArray[np.float64] | None:
        """Scales as the core has to divide by them."""
        if self.unit == 1:
            return scales
        return (np.ones(shape) if scales is None else scales) / self.unit


def unit_of(weights: Weights) -> float:
    """The least weight, if all are multiples of it and some is no whole number; else one.

    >>> unit_of(np.array([0.25, 0.5, 1.0])), unit_of(np.array([2.0, 3.0]))
    (0.25, 1.0)
    """
    least = float(weights.min(initial=np.inf))
    if np.array_equal(weights, np.rint(weights)):
        return 1.0
    with np.errstate(over="ignore"):
        times = weights / least
    if times.max() > MOST_TIMES or not np.allclose(times, np.rint(times), rtol=1e-12, atol=0):
        return 1.0
    return least


@dataclass(frozen=True, eq=False)
class NativeRuns(Runs):
    """The core's flat arrays, read when asked; their layout is in ``core/search/flat.hpp``.

    There are more `n_states` than `names` where a table is adjusted for some columns, the last
    ones: these are in the arrays, and not in what is read from them.
    """

    flat: dict[str, NDArray[Any]]
    targets: tuple[int, ...]
    names: tuple[str, ...]
    forms: Forms
    floor: float
    max_degree: int | None

    @property
    def n_states(self) -> tuple[int, ...]:
        """States of each column."""
        return self.forms.n_states

    def __len__(self) -> int:
        return sum(r < len(self.names) for r in self.targets)

    def choices(self, threshold: float) -> Choices:
        """Cut every path before its first forward step whose gain is not above the threshold."""
        entries, column, neighbour = self._entries(threshold)
        tables = _Tables(self, column, neighbour, self._table_begin[entries])
        unbounded = self.flat["unbounded"][entries].astype(bool)
        forms = None
        if self.flat["small"].any():  # else all are whole tables
            marks = self.flat["small"][entries].tolist()
            marked = zip(column.tolist(), neighbour.tolist(), marks, strict=True)
            forms = [self._form(r, t, bool(small)) for r, t, small in marked]
        return Choices(column, neighbour, unbounded, tables, tables.trends(), forms=forms)

    def _form(self, r: int, t: int, small: bool) -> Form:
        return self.forms.allowed(r, t)[0] if small else TABLE

    def chosen(self, threshold: float) -> Ends:
        """Who chose whom, without the numbers."""
        _, column, neighbour = self._entries(threshold)
        return column, neighbour

    def _entries(self, threshold: float) -> tuple[NDArray[np.intp], ...]:
        """Which entries of `support` a threshold leaves, and the two columns of each."""
        fits = fits_at(self.flat["fit_begin"], self._gains, threshold)
        entries, chooser = _ranges(self.flat["support_begin"], fits)
        own = self.flat["support"][entries] < len(self.names)
        entries, chooser = entries[own], chooser[own]
        return entries, np.asarray(self.targets)[chooser], self.flat["support"][entries]

    def starts(self, threshold: float, pairs: Sequence[tuple[int, int]]) -> Starts | None:
        """Where fits of a graph may start from those at a threshold.

        A column that did not choose an edge starts from the other end's table, unless the rows
        leave that one unbounded. Nothing is known of columns that are adjusted for.
        """
        p = len(self.names)
        if self.targets != tuple(range(len(self.n_states))) or len(self.n_states) > p:
            return None
        entries, column, neighbour = self._entries(threshold)
        ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2) @ np.array([[p, 1], [1, p]])
        chosen = np.append(column * p + neighbour, p * p)  # rising; the last one stands for none
        at = np.searchsorted(chosen, ends)
        own = chosen[at] == ends
        bounded = own & (np.append(self.flat["unbounded"][entries], True)[at] == 0)
        begin = np.where(own, np.append(self._table_begin[entries], -1)[at], -1)
        turned = ~own & bounded[:, ::-1]
        return Starts(
            self.flat["numbers"],
            self.flat["number_begin"][fits_at(self.flat["fit_begin"], self._gains, threshold)],
            np.where(turned, begin[:, ::-1], begin),
            turned,
        )

    @cached_property
    def _gains(self) -> NDArray[np.float64]:
        """The gain of the step that led to each fit; infinite for a start and a backward step."""
        gains: NDArray[np.float64] = np.where(self.flat["add"] == 1, self.flat["change"], np.inf)
        gains[self.flat["fit_begin"][:-1]] = np.inf
        return gains

    @cached_property
    def _table_begin(self) -> NDArray[np.intp]:
        """Where the table of each entry of `support` begins among the numbers."""
        flat = self.flat
        states = np.asarray(self.n_states)
        lengths = np.diff(flat["support_begin"])
        fit = np.repeat(np.arange(len(lengths)), lengths)
        owner = np.searchsorted(flat["fit_begin"], fit, side="right") - 1
        m = states[np.asarray(self.targets)[owner]]
        size = m * states[flat["support"]]
        before = np.cumsum(size) - size  # the tables of all entries before, of any fit
        first = flat["support_begin"][:-1][fit]
        begin: NDArray[np.intp] = flat["number_begin"][:-1][fit] + m + before - before[first]
        return begin

    def fit(self, i: int, count: int) -> NodeFit:
        """Return the coefficients of the i-th column after that many steps."""
        at = self.flat["fit_begin"][i] + count
        begin, end = self.flat["support_begin"][at : at + 2]
        support, m = self.flat["support"][begin:end].tolist(), self.n_states[self.targets[i]]
        numbers = self.flat["numbers"]
        field = numbers[self.flat["number_begin"][at] :][:m]
        tables = {
            t: numbers[first:][: m * self.n_states[t]].reshape(m, -1)
            for t, first in zip(support, self._table_begin[begin:end], strict=True)
        }
        unbounded = np.flatnonzero(self.flat["unbounded"][begin:end])
        held = frozenset(support[k] for k in unbounded)
        r, marks = self.targets[i], np.flatnonzero(self.flat["small"][begin:end])
        forms = {support[k]: self._form(r, support[k], True) for k in marks}
        df = {t: self.forms.df(r, t, forms.get(t, TABLE)) for t in support} if forms else None
        loss = float(self.flat["loss"][at])
        fit = NodeFit(tables, field, loss, held, parameters=df, forms=forms)
        return fit.adjusting(len(self.names))

    def path(self, r: int) -> Path:
        """Return the whole search of the r-th column."""
        start, stop = self.flat["fit_begin"][r : r + 2]
        steps = tuple(self._step(r, count) for count in range(1, stop - start))
        first = self.fit(r, 0)
        required = tuple(first.coef)  # else a search begins with nothing
        return Path(steps, first, self.floor, self._status(r), self.names, required)

    def _step(self, i: int, count: int) -> Step:
        at = self.flat["fit_begin"][i] + count
        change, variable = float(self.flat["change"][at]), int(self.flat["variable"][at])
        fit = self.fit(i, count)
        support = tuple(fit.coef)
        form = fit.form(variable) if variable in support else None
        if self.flat["add"][at]:
            return Step("add", variable, change, None, support, fit, form)
        return Step("drop", variable, None, change, support, fit, form)

    def _status(self, i: int) -> str:
        stop = STOPS[int(self.flat["stop"][i])]
        if stop == "max_degree":
            return stopped_at_size(self.max_degree or 0)
        return ALL_IN if stop == "no candidate" else stopped_at_threshold(self.floor)


@dataclass(frozen=True, eq=False)
class _Tables(Sequence[NDArray[np.float64]]):
    """Tables of log-potentials, cut out of the numbers when looked at."""

    runs: NativeRuns
    column: NDArray[np.intp]
    neighbour: NDArray[np.intp]
    begin: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.begin)

    def __getitem__(self, i: Any) -> Any:
        states = self.runs.n_states
        shape = states[self.column[i]], states[self.neighbour[i]]
        first = self.begin[i]
        return self.runs.flat["numbers"][first : first + shape[0] * shape[1]].reshape(shape)

    def trends(self) -> NDArray[np.float64]:
        """How much high goes with high in each; all tables of four numbers at once."""
        states = np.asarray(self.runs.n_states)
        of_two = (states[self.column] == 2) & (states[self.neighbour] == 2)
        trends = np.empty(len(self.begin))
        trends[of_two] = self.runs.flat["numbers"][self.begin[of_two] + 3]
        for i in np.flatnonzero(~of_two):
            trends[i] = trend_of(self[i])
        return trends


def _ranges(
    begin: NDArray[np.intp], which: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The numbers from begin[i] to begin[i + 1] for each i in `which`, and where i stands there."""
    lengths = begin[which + 1] - begin[which]
    owner = np.repeat(np.arange(len(which)), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + (begin[which] - before)[owner], owner
