"""Neighbourhoods to one graph: which edges, and the numbers of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.runs import Runs
from isinglass.graph import Graph, Link, sign_of
from isinglass.solvers.equivalent import one_parameter_gain

Pair = tuple[int, int]
Numbers = NDArray[np.intp]
REQUIRED = "required"
Marks = Callable[[Numbers, Numbers], Sequence[str]]
"""The tiers of some edges, told their ends, source before target."""


class Head(Protocol):
    """What a graph needs to know of its table: all but the rows."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def n_answers(self) -> tuple[int, ...]: ...
    @property
    def ordered(self) -> tuple[bool, ...]: ...
    @property
    def n(self) -> float: ...
    @property
    def library(self) -> str | None: ...


def pairs_at(runs: Runs, threshold: float, rule: str) -> frozenset[Pair]:
    """The pairs of columns that are linked at a threshold, nothing more."""
    edges = _edges(*runs.chosen(threshold), len(runs), rule)
    return frozenset(zip(edges.source.tolist(), edges.target.tolist(), strict=True))


def keys_at(runs: Runs, threshold: float, rule: str) -> Numbers:
    """The same pairs as numbers, source * columns + target, rising."""
    edges = _edges(*runs.chosen(threshold), len(runs), rule)
    return edges.source * len(runs) + edges.target


def join(runs: Runs, threshold: float, rule: str, table: Head, tiers: Marks | None = None) -> Graph:
    """Cut every path at the threshold and join the neighbourhoods by OR or AND."""
    choices = runs.choices(threshold)
    edges = _edges(choices.column, choices.neighbour, len(runs), rule)
    worths = choices.worths
    worth = (worths.of(edges.source, edges.target) + worths.of(edges.target, edges.source)) / 2
    states = np.asarray(table.n_answers)
    df = (states[edges.source] - 1) * (states[edges.target] - 1)
    strength = np.sqrt(-np.expm1(-2.0 * worth))
    evidence = 2.0 * table.n * one_parameter_gain(worth, df, table.n)
    trends = ((choices.trends[edges.entry] + choices.trends[edges.other_entry]) / 2).tolist()
    unbounded = choices.unbounded[edges.entry] | choices.unbounded[edges.other_entry]
    ordered = np.asarray(table.ordered, dtype=bool)
    has_sign = (ordered[edges.source] & ordered[edges.target]).tolist()
    couplings = [t if one else None for t, one in zip(trends, (df == 1).tolist(), strict=True)]
    marks = tiers(edges.source, edges.target) if tiers is not None else [""] * len(df)
    links = map(
        Link,
        edges.source.tolist(),
        edges.target.tolist(),
        strength.tolist(),
        [sign_of(t) if known else 0 for t, known in zip(trends, has_sign, strict=True)],
        couplings,
        [None if theta is None else 4.0 * theta for theta in couplings],
        evidence.tolist(),
        _choosers(edges, choices.column, table.names, marks),
        unbounded.tolist(),
        marks,
    )
    return Graph(table.names, tuple(links), table.library)


def _choosers(
    edges: _Edges, column: Numbers, names: Sequence[str], marks: Sequence[str]
) -> list[str]:
    both = (edges.entry != edges.other_entry).tolist()
    first = column[edges.entry].tolist()
    return [
        chosen_by(mark, "both" if twice else names[one])
        for mark, twice, one in zip(marks, both, first, strict=True)
    ]


def chosen_by(tier: str, chooser: str) -> str:
    """Who chose an edge: nobody, if it was required."""
    return REQUIRED if tier == REQUIRED else chooser


@dataclass(frozen=True)
class _Edges:
    """Pairs of columns in order; the entries among the choices that made each, the same twice
    where only one end chose it.
    """

    source: Numbers
    target: Numbers
    entry: Numbers
    other_entry: Numbers


def _edges(column: Numbers, neighbour: Numbers, p: int, rule: str) -> _Edges:
    low, high = np.minimum(column, neighbour), np.maximum(column, neighbour)
    _, entry, position = np.unique(low * p + high, return_index=True, return_inverse=True)
    other = entry.copy()
    other[position] = np.arange(len(low))  # the last entry of a pair; the first is in `entry`
    kept = (other != entry) | (rule == "or")
    entry, other = entry[kept], other[kept]
    return _Edges(low[entry], high[entry], entry, other)
