"""What a run of Algorithm 2 leaves behind, whichever solver made it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from typing import Protocol, cast, overload

import numpy as np
from numpy.typing import NDArray

from isinglass.core import Starts
from isinglass.graph import trend_of
from isinglass.losses.conditional import NodeFit
from isinglass.losses.forms import TABLE, Form, larger_form
from isinglass.solvers.cuts import Cuts, join, support_at
from isinglass.solvers.path import Path

Ends = tuple[NDArray[np.intp], NDArray[np.intp]]
FoundAlone = Mapping[tuple[int, int], float]
"""Columns and neighbours that their own searches found, and the thresholds below which they do."""
Progress = Callable[[int, int], None]
"""Called with the columns done and the columns in all."""


def progress_from(progress: Progress | None, done: int, total: int) -> Callable[..., None] | None:
    """Progress of a part of the work, begun when some columns are done: of its own columns."""
    return None if progress is None else lambda now, *_: progress(done + now, total)


@dataclass(frozen=True, eq=False)
class Choices:
    """Who chose whom at one threshold: one entry for each column and each of its neighbours.

    Attributes
    ----------
    column, neighbour : (k,) arrays of int
    unbounded : (k,) array of bool
        Whether the column's table is held finite, or unique, by the ridge alone.
    tables : sequence of (m, m') arrays
        The column's table of log-potentials for each entry, its own states in the rows.
    trends : (k,) array of float
        How much high goes with high; the coupling between two columns of two states.
    own : (k,) array of bool, optional
        Whether the column's own search chose the neighbour, where both ends decide together.
    forms : sequence of k forms, optional
        The form of the column's edge to the neighbour; by default all are whole tables.
    """

    column: NDArray[np.intp]
    neighbour: NDArray[np.intp]
    unbounded: NDArray[np.bool_]
    tables: Sequence[NDArray[np.float64]]
    trends: NDArray[np.float64]
    own: NDArray[np.bool_] | None = None
    forms: Sequence[Form] | None = None

    def table(self, end: int, source: int) -> NDArray[np.float64]:
        """The table of an entry, with the states of one of its two columns in the rows."""
        table = self.tables[end]
        return table if self.column[end] == source else table.T

    def form(self, ends: Iterable[int]) -> Form:
        """The form of an edge, the larger one where its ends differ."""
        if self.forms is None:
            return TABLE
        return reduce(larger_form, [self.forms[end] for end in ends])

    def chosen_by(self, ends: Iterable[int]) -> set[int]:
        """The columns at these ends of an edge that chose it."""
        return {int(self.column[end]) for end in ends if self.own is None or self.own[end]}


class Runs(Protocol):
    """The searches of all columns."""

    def __len__(self) -> int:
        """Return the number of columns."""
        ...

    def choices(self, threshold: float) -> Choices:
        """Return the neighbourhoods of a run to a threshold, in column order."""
        ...

    def chosen(self, threshold: float) -> Ends:
        """Return the columns and the neighbours of `choices`, and nothing more."""
        ...

    def path(self, r: int) -> Path:
        """Return the whole search of column r."""
        ...

    def cuts(self, r: int) -> Cuts:
        """Return where the path of column r may be cut."""
        return Cuts.of(self.path(r))

    @property
    def found_alone(self) -> FoundAlone | None:
        """What columns found by themselves, where both ends decide together; else nothing."""
        return None

    def starts(self, threshold: float, pairs: Sequence[tuple[int, int]]) -> Starts | None:
        """Return where fits of a graph may start from those at a threshold, if that is known."""
        return None

    def watched(
        self, progress: Progress | None, after: int | None = None
    ) -> AbstractContextManager[None]:
        """Tell of work that is done when a graph or a path is asked for, as long as this lasts.

        It counts on from what is done before it, by default all columns.
        """
        return nullcontext()


@dataclass(frozen=True, eq=False)
class KeptRuns(Runs):
    """Runs as plain objects, as the readable solver makes them and files keep them.

    Attributes
    ----------
    paths : sequence of Path
    n_answers : sequence of int, optional
        Where missing values are left out: the number of each column's other states, which come
        first.
    found_alone : dict, optional
        What columns found by themselves, where both ends decide together.
    """

    paths: Sequence[Path]
    n_answers: Sequence[int] | None = None
    found_alone: FoundAlone | None = None

    def __len__(self) -> int:
        return len(self.paths)

    def choices(self, threshold: float) -> Choices:
        paths = [path.at(threshold) for path in self.paths]
        pairs = [(r, t) for r, path in enumerate(paths) for t in path.support]
        fits = [cast(NodeFit, path.final) for path in paths]
        tables = [self._table(fits[r], t) for r, t in pairs]
        return Choices(
            np.array([r for r, _ in pairs], dtype=np.intp),
            np.array([t for _, t in pairs], dtype=np.intp),
            np.array([t in fits[r].unbounded for r, t in pairs], dtype=bool),
            tables,
            np.array([trend_of(table) for table in tables]),
            own=own_at(threshold, pairs, self.found_alone),
            forms=[fits[r].form(t) for r, t in pairs],
        )

    def chosen(self, threshold: float) -> Ends:
        pairs = [(r, t) for r, path in enumerate(self.paths) for t in support_at(path, threshold)]
        column, neighbour = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return column, neighbour

    def _table(self, fit: NodeFit, t: int) -> NDArray[np.float64]:
        table: NDArray[np.float64] = fit.coef[t]
        return table if self.n_answers is None else answers_only(table, self.n_answers[t])

    def path(self, r: int) -> Path:
        return self.paths[r]


def own_at(
    threshold: float, ends: Iterable[tuple[int, int]], found: FoundAlone | None
) -> NDArray[np.bool_] | None:
    """Which columns found which neighbours by themselves; None where all did."""
    if found is None:
        return None
    return np.array([found.get(end, -math.inf) > threshold for end in ends], dtype=bool)


def forms_at(runs: Runs, threshold: float, rule: str) -> dict[tuple[int, int], str]:
    """The pairs of columns that are linked at a threshold, and the forms of their edges."""
    choices = runs.choices(threshold)
    edges = join(choices.column, choices.neighbour, rule)
    both = zip(edges.choice.tolist(), edges.other_choice.tolist(), strict=True)
    return {pair: choices.form(ends) for pair, ends in zip(edges.pairs, both, strict=True)}


def answers_only(table: NDArray[np.float64], answers: int) -> NDArray[np.float64]:
    """A table between answers, missing values left out, summing to zero again by row and by column.

    >>> answers_only(np.array([[2.0, 0.0, 7.0], [0.0, 0.0, 7.0]]), 2).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    full = table[:, :answers].copy()
    full -= full.mean(axis=0)
    full -= full.mean(axis=1, keepdims=True)
    return full


def cuts_of(runs: Runs) -> list[Cuts]:
    """Where each column's path may be cut."""
    return [runs.cuts(r) for r in range(len(runs))]


class Paths(Sequence[Path]):
    """One path per column, made when it is looked at."""

    def __init__(self, runs: Runs, library: str | None = None) -> None:
        self._runs = runs
        self._library = library

    @overload
    def __getitem__(self, index: int) -> Path: ...
    @overload
    def __getitem__(self, index: slice) -> list[Path]: ...
    def __getitem__(self, index: int | slice) -> Path | list[Path]:
        numbers = range(len(self._runs))[index]
        if isinstance(numbers, range):
            return [self._path(r) for r in numbers]
        return self._path(numbers)

    def __len__(self) -> int:
        return len(self._runs)

    def _path(self, r: int) -> Path:
        return replace(self._runs.path(r), library=self._library)

    def __repr__(self) -> str:
        return f"Paths({len(self)} columns)"
