"""What a run of Algorithm 2 leaves behind, whichever solver made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, overload

from isinglass.losses.conditional import NodeFit
from isinglass.solvers.path import Path

Progress = Callable[[int, int], None]
"""Called with the columns done and the columns in all."""


class Runs(Protocol):
    """The searches of all columns, and what each edge is worth wherever a path may be cut."""

    def __len__(self) -> int:
        """Return the number of columns."""
        ...

    def cut(self, r: int, threshold: float) -> int:
        """Return how many steps of column r's search a run to a threshold would take."""
        ...

    def support(self, r: int, count: int) -> tuple[int, ...]:
        """Return the neighbours of column r after that many steps."""
        ...

    def fit(self, r: int, count: int) -> NodeFit:
        """Return the coefficients of column r after that many steps."""
        ...

    def worth(self, r: int, count: int) -> dict[int, float]:
        """Return what edges are worth to column r where its path is cut.

        For a neighbour, the loss per row when the edge is removed; for a column that chose r
        without being chosen, what adding it would gain. Raw, not standardised.
        """
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
