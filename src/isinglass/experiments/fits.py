"""Who makes the fits of a comparison: this process, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from isinglass.cluster import call_all
from isinglass.engine import Progress
from isinglass.errors import IsinglassError
from isinglass.estimators.folds import learn_like
from isinglass.graph import Graph
from isinglass.table import Table

Learn = Callable[[str, int, Progress], tuple[Graph, float]]
"""The graph that a method finds in a table, by name and number, and the seconds it took."""


@dataclass(frozen=True, eq=False)
class Here(AbstractContextManager["Here"]):
    """Fits that are made here when they are asked for."""

    methods: Mapping[str, Any]
    tables: Sequence[Table]

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, name: str, number: int, progress: Progress | None) -> tuple[Graph, float]:
        started = perf_counter()
        graph = learn_like(self.methods[name], self.tables[number], progress)
        return graph, perf_counter() - started


class There(AbstractContextManager["There"]):
    """Fits that workers make in the order in which they will be asked for."""

    def __init__(self, methods: Mapping[str, Any], tables: Sequence[Table], client: Any) -> None:
        self._asked = [(name, number) for name in methods for number in range(len(tables))]
        learn = Here(methods, tables)
        calls = [partial(_learned_or_not, learn, *asked) for asked in self._asked]
        self._coming = call_all(client, calls, apart=True)
        self._found: dict[tuple[str, int], tuple[Graph, float] | IsinglassError] = {}

    def __exit__(self, *_: object) -> None:
        self._coming.close()  # a method that failed leaves fits that nobody asks for

    def __call__(self, name: str, number: int, progress: Progress | None) -> tuple[Graph, float]:
        while (name, number) not in self._found:
            at, found = next(self._coming)
            self._found[self._asked[at]] = found
        wanted = self._found[name, number]
        if isinstance(wanted, IsinglassError):
            raise wanted
        return wanted


def _learned_or_not(learn: Here, name: str, number: int) -> tuple[Graph, float] | IsinglassError:
    try:
        return learn(name, number, None)
    except IsinglassError as error:
        return error
