"""Algorithm 2 where values are missing: each column is explained by the rows where it is seen.

In its conditional a missing neighbour is one more state of that neighbour. So each column has one
fixed loss on one part of the table, and its path keeps all its properties; losses are divided by
the rows of the whole table, so that one threshold serves all columns. Columns that are seen in
the same rows share a part, and are searched in one run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.native import NativeRuns, learn_native
from isinglass.engine.runs import Choices, Ends, Progress, answers_only
from isinglass.graph import trend_of
from isinglass.losses.conditional import NodeFit
from isinglass.solvers.cuts import Cuts
from isinglass.solvers.path import Path
from isinglass.table import Table

Kept = Sequence[NDArray[np.intp]]
"""For each column, which of its states a part of the table has."""


@dataclass(frozen=True, eq=False)
class Part:
    """The rows in which some columns are seen."""

    table: Table
    kept: Kept
    targets: tuple[int, ...]
    answers: tuple[int, ...]  # of each column, how many states are not missing values

    def learn(self, floor: float, **settings: Any) -> NativeRuns:
        """Run Algorithm 1 for the columns that are seen here."""
        return learn_native(
            self.table, floor, targets=self.targets, answers=self.answers, **settings
        )


def parts_of(table: Table) -> list[Part]:
    """Columns that are seen in the same rows, together with those rows."""
    together: dict[bytes, list[int]] = defaultdict(list)
    for r in range(len(table.columns)):
        together[seen_rows(table, r).tobytes()].append(r)
    parts = []
    for rows, targets in together.items():
        part, kept = table.part(np.frombuffer(rows, dtype=bool))
        answers = tuple(
            int(np.sum(states < count)) for states, count in zip(kept, table.n_answers, strict=True)
        )
        parts.append(Part(part, kept, tuple(targets), answers))
    return parts


def seen_rows(table: Table, r: int) -> NDArray[np.bool_]:
    """The rows in which a column is not missing."""
    seen: NDArray[np.bool_] = table.codes[:, r] < table.n_answers[r]
    return seen


def learn_available(
    table: Table,
    floor: float,
    *,
    threads: int = 1,
    progress: Progress | None = None,
    **settings: Any,
) -> AvailableRuns:
    """Run Algorithm 1 for every column on the rows where it is seen."""
    parts = parts_of(table)
    report = progress or (lambda done, total: None)
    if len(parts) < threads:
        runs = _one_after_the_other(parts, floor, report, threads=threads, **settings)
    else:
        runs = _side_by_side(parts, floor, report, threads, **settings)
    return AvailableRuns(table, parts, runs)


def _one_after_the_other(
    parts: Sequence[Part], floor: float, report: Progress, **settings: Any
) -> list[NativeRuns]:
    """Few parts: threads share the columns of each."""
    p = sum(len(part.targets) for part in parts)
    runs: list[NativeRuns] = []
    for part in parts:
        done = sum(map(len, runs))
        show = partial(_report_after, report, done, p)
        runs.append(part.learn(floor, progress=show, **settings))
    return runs


def _report_after(report: Progress, done: int, p: int, now: int, _: int) -> None:
    report(done + now, p)


def _side_by_side(
    parts: Sequence[Part], floor: float, report: Progress, threads: int, **settings: Any
) -> list[NativeRuns]:
    """Many parts, most of a single column: each thread takes whole parts."""
    p = sum(len(part.targets) for part in parts)
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(part.learn, floor, threads=1, **settings) for part in parts]
        try:
            done = 0
            for future in as_completed(futures):
                done += len(future.result())
                report(done, p)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [future.result() for future in futures]


@dataclass(frozen=True, eq=False)
class AvailableRuns:
    """The runs on all parts, seen as one."""

    table: Table
    parts: list[Part]
    runs: list[NativeRuns]

    def __len__(self) -> int:
        return len(self.table.columns)

    def choices(self, threshold: float) -> Choices:
        """Neighbourhoods in column order; tables between answers, missing values left out."""
        all_choices = [runs.choices(threshold) for runs in self.runs]
        column = np.concatenate([choices.column for choices in all_choices])
        order = np.argsort(column, kind="stable")
        answers = self.table.n_answers
        tables = [
            answers_only(_on_all_states(table, part.kept[t], self.table.n_states[t]), answers[t])
            for part, choices in zip(self.parts, all_choices, strict=True)
            for t, table in zip(choices.neighbour, choices.tables, strict=True)
        ]
        return Choices(
            column[order],
            np.concatenate([choices.neighbour for choices in all_choices])[order],
            np.concatenate([choices.unbounded for choices in all_choices])[order],
            [tables[i] for i in order],
            np.array([trend_of(tables[i]) for i in order]),
        )

    def chosen(self, threshold: float) -> Ends:
        """Who chose whom, in column order, without the numbers."""
        column, neighbour = (
            np.concatenate(ends)
            for ends in zip(*(runs.chosen(threshold) for runs in self.runs), strict=True)
        )
        order = np.argsort(column, kind="stable")
        return column[order], neighbour[order]

    def path(self, r: int) -> Path:
        """The search of column r; tables have all states of a neighbour, missing last."""
        for part, runs in zip(self.parts, self.runs, strict=True):
            if r in part.targets:
                path = runs.path(part.targets.index(r))
                return self._widened(path, part)
        raise IndexError(r)

    def cuts(self, r: int) -> Cuts:
        """Where the path of column r may be cut."""
        return Cuts.of(self.path(r))

    def _widened(self, path: Path, part: Part) -> Path:
        steps = tuple(
            replace(step, fit=widen(step.fit, part.kept, self.table)) for step in path.steps
        )
        return replace(path, steps=steps, start=widen(path.start, part.kept, self.table))


def widen(fit: Any, kept: Kept, table: Table) -> NodeFit:
    """A fit on a part of the table, its tables on all states; zero where a state is not seen."""
    tables = {t: _on_all_states(part, kept[t], table.n_states[t]) for t, part in fit.coef.items()}
    return NodeFit(tables, fit.intercept, fit.loss, fit.unbounded)


def _on_all_states(
    table: NDArray[np.float64], kept: NDArray[np.intp], states: int
) -> NDArray[np.float64]:
    full = np.zeros((len(table), states))
    full[:, kept] = table
    return full
