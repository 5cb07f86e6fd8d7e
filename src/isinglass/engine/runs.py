"""What a run of Algorithm 2 leaves behind, whichever solver made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, overload

import numpy as np
from numpy.typing import NDArray

from isinglass.solvers.path import Path

Ends = tuple[NDArray[np.intp], NDArray[np.intp]]
Progress = Callable[[int, int], None]
"""Called with the columns done and the columns in all."""


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
    """

    column: NDArray[np.intp]
    neighbour: NDArray[np.intp]
    unbounded: NDArray[np.bool_]
    tables: Sequence[NDArray[np.float64]]
    trends: NDArray[np.float64]
    worths: Worths


@dataclass(frozen=True, eq=False)
class Worths:
    """What edges are worth to their ends, raw: one entry for each column and each edge of it.

    If the column has the neighbour, the loss per row when the edge is removed; if only the
    neighbour has the column, what adding the edge would gain.
    """

    column: NDArray[np.intp]
    neighbour: NDArray[np.intp]
    value: NDArray[np.float64]

    def of(self, column: NDArray[np.intp], neighbour: NDArray[np.intp]) -> NDArray[np.float64]:
        """Look up the worth of some edges to one of their ends."""
        size = int(max(self.column.max(initial=0), self.neighbour.max(initial=0))) + 1
        key = self.column * size + self.neighbour
        order = np.argsort(key, kind="stable")
        return self.value[order[np.searchsorted(key[order], column * size + neighbour)]]


class Runs(Protocol):
    """The searches of all columns, and what each edge is worth wherever a path may be cut."""

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


class Paths(Sequence[Path]):
    """One path a column, made when it is looked at."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    @overload
    def __getitem__(self, index: int) -> Path: ...
    @overload
    def __getitem__(self, index: slice) -> list[Path]: ...
    def __getitem__(self, index: int | slice) -> Path | list[Path]:
        numbers = range(len(self._runs))[index]
        if isinstance(numbers, range):
            return [self._runs.path(r) for r in numbers]
        return self._runs.path(numbers)

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Path]:
        return (self._runs.path(r) for r in range(len(self)))

    def __repr__(self) -> str:
        return f"Paths({len(self)} columns)"
