"""Neighbourhoods to one graph: which edges, and the numbers of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.runs import Runs
from isinglass.graph import Graph, Link, sign_of
from isinglass.solvers.equivalent import one_parameter_gain

Pair = tuple[int, int]
REQUIRED = "required"
Tier = Callable[[Pair], str]


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


def join(
    runs: Runs, threshold: float, rule: str, table: Head, tier: Tier = lambda pair: ""
) -> Graph:
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
    chooser = choices.column[edges.entry].tolist()
    links = tuple(
        Link(
            a,
            b,
            strength=strength,
            sign=sign_of(trend) if table.ordered[a] and table.ordered[b] else 0,
            coupling=trend if one else None,
            log_odds=4.0 * trend if one else None,
            evidence=evidence,
            selected_by=chosen_by(mark, "both" if both else table.names[first]),
            unbounded=loose,
            tier=mark,
        )
        for a, b, strength, evidence, trend, one, both, first, loose, mark in zip(
            edges.source.tolist(),
            edges.target.tolist(),
            strength.tolist(),
            evidence.tolist(),
            trends,
            (df == 1).tolist(),
            (edges.entry != edges.other_entry).tolist(),
            chooser,
            unbounded.tolist(),
            map(tier, zip(edges.source.tolist(), edges.target.tolist(), strict=True)),
            strict=True,
        )
    )
    return Graph(table.names, links, table.library)


def chosen_by(tier: str, chooser: str) -> str:
    """Who chose an edge: nobody, if it was required."""
    return REQUIRED if tier == REQUIRED else chooser


@dataclass(frozen=True)
class _Edges:
    """Pairs of columns in order; the entries among the choices that made each, the same twice
    where only one end chose it.
    """

    source: NDArray[np.intp]
    target: NDArray[np.intp]
    entry: NDArray[np.intp]
    other_entry: NDArray[np.intp]


def _edges(column: NDArray[np.intp], neighbour: NDArray[np.intp], p: int, rule: str) -> _Edges:
    low, high = np.minimum(column, neighbour), np.maximum(column, neighbour)
    _, entry, position = np.unique(low * p + high, return_index=True, return_inverse=True)
    other = entry.copy()
    other[position] = np.arange(len(low))  # the last entry of a pair; the first is in `entry`
    kept = (other != entry) | (rule == "or")
    entry, other = entry[kept], other[kept]
    return _Edges(low[entry], high[entry], entry, other)
