"""Algorithm 2 by the compiled core: same steps as the readable solver, from counts of bits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import STOPS, search_columns
from isinglass.engine.runs import Progress
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

    @cached_property
    def _begin(self) -> list[int]:
        begin: list[int] = self.flat["fit_begin"].tolist()
        return begin

    def cut(self, r: int, threshold: float) -> int:
        """Steps before the first forward one whose gain is not above the threshold."""
        first, stop = self._begin[r] + 1, self._begin[r + 1]
        add, change = self.flat["add"][first:stop], self.flat["change"][first:stop]
        weak = np.flatnonzero((add == 1) & ~(change > threshold))
        return int(weak[0]) if len(weak) else stop - first

    def support(self, r: int, count: int) -> tuple[int, ...]:
        return tuple(self._slice("support", self._begin[r] + count).tolist())

    def worth(self, r: int, count: int) -> dict[int, float]:
        at = self._begin[r] + count
        begin, end = self.flat["worth_begin"][at : at + 2]
        columns = self.flat["worth_column"][begin:end].tolist()
        return dict(zip(columns, self.flat["worth_value"][begin:end].tolist(), strict=True))

    def fit(self, r: int, count: int) -> NodeFit:
        at = self._begin[r] + count
        support = self._slice("support", at).tolist()
        numbers = self._slice("number", at, "numbers")
        m = self.n_states[r]
        begin, end = self.flat["support_begin"][at : at + 2]
        unbounded = self.flat["unbounded"][begin:end]
        tables, used = {}, m
        for t in support:
            size = m * self.n_states[t]
            tables[t] = numbers[used : used + size].reshape(m, -1)
            used += size
        held = frozenset(t for t, flag in zip(support, unbounded, strict=True) if flag)
        return NodeFit(tables, numbers[:m], float(self.flat["loss"][at]), held)

    def path(self, r: int) -> Path:
        start, stop = self._begin[r], self._begin[r + 1]
        steps = tuple(self._step(r, count) for count in range(1, stop - start))
        return Path(steps, self.fit(r, 0), self.floor, self._status(r), self.names)

    def _step(self, r: int, count: int) -> Step:
        at = self._begin[r] + count
        change, variable = float(self.flat["change"][at]), int(self.flat["variable"][at])
        support, fit = self.support(r, count), self.fit(r, count)
        if self.flat["add"][at]:
            return Step("add", variable, change, None, support, fit)
        return Step("drop", variable, None, change, support, fit)

    def _status(self, r: int) -> str:
        stop = STOPS[int(self.flat["stop"][r])]
        if stop == "max_degree":
            return stopped_at_size(self.max_degree or 0)
        return ALL_IN if stop == "no candidate" else stopped_at_threshold(self.floor)

    def _slice(self, name: str, at: int, values: str | None = None) -> NDArray[Any]:
        begin, end = self.flat[f"{name}_begin"][at : at + 2]
        return self.flat[values or name][begin:end]
