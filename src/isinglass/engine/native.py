"""Algorithm 2 by the compiled core: same steps as the readable solver, from counts of bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import STOPS, search_columns
from isinglass.engine.runs import Choices, Progress
from isinglass.losses.conditional import NodeFit
from isinglass.solvers.path import (
    ALL_IN,
    Path,
    Step,
    stopped_at_size,
    stopped_at_threshold,
)
from isinglass.table import Table


def learn_native(
    table: Table,
    floor: float,
    *,
    nu: float,
    intercept: bool,
    max_degree: int | None,
    threads: int,
    progress: Progress | None,
    check: bool = False,
) -> NativeRuns:
    """Run Algorithm 1 for every column, threads taking columns in turn."""
    p = len(table.columns)
    flat = search_columns(
        table.codes,
        table.weights,
        table.n_states,
        floor,
        nu=nu,
        intercept=intercept,
        max_degree=max_degree,
        threads=threads,
        check=check,
        progress=None if progress is None else lambda done: progress(done, p),
    )
    return NativeRuns(flat, table.names, tuple(table.n_states), floor, max_degree)


@dataclass(frozen=True, eq=False)
class NativeRuns:
    """The core's flat arrays, read when asked; their layout is in ``core/flat.hpp``."""

    flat: dict[str, NDArray[Any]]
    names: tuple[str, ...]
    n_states: tuple[int, ...]
    floor: float
    max_degree: int | None

    def __len__(self) -> int:
        return len(self.n_states)

    def choices(self, threshold: float) -> Choices:
        """Cut every path before its first forward step whose gain is not above the threshold."""
        flat, p = self.flat, len(self)
        fits = self._cuts(threshold)
        entries = _ranges(flat["support_begin"], fits)
        column = np.repeat(
            np.arange(p), flat["support_begin"][fits + 1] - flat["support_begin"][fits]
        )
        neighbour = flat["support"][entries]
        worths = _ranges(flat["worth_begin"], fits)
        owner = np.repeat(np.arange(p), flat["worth_begin"][fits + 1] - flat["worth_begin"][fits])
        key, value = owner * p + flat["worth_column"][worths], flat["worth_value"][worths]
        return Choices(
            column,
            neighbour,
            value[np.searchsorted(key, column * p + neighbour)],
            value[np.searchsorted(key, neighbour * p + column)],
            flat["unbounded"][entries].astype(bool),
            _Tables(self, column, neighbour, self._table_begin[entries]),
        )

    def _cuts(self, threshold: float) -> NDArray[np.intp]:
        """Number of the fit at which each column's path is cut."""
        begin = self.flat["fit_begin"]
        last = begin[1:] - 1
        weak = np.flatnonzero((self.flat["add"] == 1) & ~(self.flat["change"] > threshold))
        weak = weak[~np.isin(weak, begin[:-1])]  # the start is no step
        cut = last.copy()
        np.minimum.at(cut, np.searchsorted(last, weak), weak - 1)
        return cut

    @cached_property
    def _table_begin(self) -> NDArray[np.intp]:
        """Where the table of each entry of `support` begins among the numbers."""
        flat = self.flat
        states = np.asarray(self.n_states)
        lengths = np.diff(flat["support_begin"])
        fit = np.repeat(np.arange(len(lengths)), lengths)
        m = states[np.searchsorted(flat["fit_begin"], fit, side="right") - 1]
        size = m * states[flat["support"]]
        before = np.cumsum(size) - size  # the tables of all entries before, of any fit
        first = flat["support_begin"][:-1][fit]
        begin: NDArray[np.intp] = flat["number_begin"][:-1][fit] + m + before - before[first]
        return begin

    def fit(self, r: int, count: int) -> NodeFit:
        """Return the coefficients of column r after that many steps."""
        at = self.flat["fit_begin"][r] + count
        begin, end = self.flat["support_begin"][at : at + 2]
        support, m = self.flat["support"][begin:end].tolist(), self.n_states[r]
        numbers = self.flat["numbers"]
        field = numbers[self.flat["number_begin"][at] :][:m]
        tables = {
            t: numbers[first:][: m * self.n_states[t]].reshape(m, -1)
            for t, first in zip(support, self._table_begin[begin:end], strict=True)
        }
        unbounded = np.flatnonzero(self.flat["unbounded"][begin:end])
        held = frozenset(support[i] for i in unbounded)
        return NodeFit(tables, field, float(self.flat["loss"][at]), held)

    def path(self, r: int) -> Path:
        start, stop = self.flat["fit_begin"][r : r + 2]
        steps = tuple(self._step(r, count) for count in range(1, stop - start))
        return Path(steps, self.fit(r, 0), self.floor, self._status(r), self.names)

    def _step(self, r: int, count: int) -> Step:
        at = self.flat["fit_begin"][r] + count
        change, variable = float(self.flat["change"][at]), int(self.flat["variable"][at])
        fit = self.fit(r, count)
        support = tuple(fit.coef)
        if self.flat["add"][at]:
            return Step("add", variable, change, None, support, fit)
        return Step("drop", variable, None, change, support, fit)

    def _status(self, r: int) -> str:
        stop = STOPS[int(self.flat["stop"][r])]
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


def _ranges(begin: NDArray[np.intp], which: NDArray[np.intp]) -> NDArray[np.intp]:
    """The numbers begin[i], ..., begin[i + 1] - 1 for each i in `which`, one after the other."""
    lengths = begin[which + 1] - begin[which]
    shift = np.repeat(begin[which] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    numbers: NDArray[np.intp] = np.arange(lengths.sum()) + shift
    return numbers
