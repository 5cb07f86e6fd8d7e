"""Neighbourhoods to one graph: which edges, and the numbers of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.engine import Choices, Runs
from isinglass.graph import Graph, Link, sign_of
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.table import Table


def join(runs: Runs, threshold: float, rule: str, table: Table) -> Graph:
    """Cut every path at the threshold and join the neighbourhoods by OR or AND."""
    choices = runs.choices(threshold)
    edges = _edges(choices, len(runs), rule)
    worths = choices.worths
    worth = (worths.of(edges.source, edges.target) + worths.of(edges.target, edges.source)) / 2
    states = np.asarray(table.n_answers)
    df = (states[edges.source] - 1) * (states[edges.target] - 1)
    strength = np.sqrt(-np.expm1(-2.0 * worth))
    evidence = 2.0 * table.n * one_parameter_gain(worth, df, table.n)
    links = tuple(
        Link(a, b, strength=s, evidence=e, **_of_tables(a, b, entries, choices, table))
        for a, b, s, e, *entries in zip(
            edges.source.tolist(),
            edges.target.tolist(),
            strength.tolist(),
            evidence.tolist(),
            edges.entry.tolist(),
            edges.other_entry.tolist(),
            strict=True,
        )
    )
    return Graph(table.names, links, table.library)


@dataclass(frozen=True)
class _Edges:
    """Pairs of columns in order; the entries among the choices that made each, the same twice
    where only one end chose it.
    """

    source: NDArray[np.intp]
    target: NDArray[np.intp]
    entry: NDArray[np.intp]
    other_entry: NDArray[np.intp]


def _edges(choices: Choices, p: int, rule: str) -> _Edges:
    low = np.minimum(choices.column, choices.neighbour)
    high = np.maximum(choices.column, choices.neighbour)
    _, entry, position = np.unique(low * p + high, return_index=True, return_inverse=True)
    other = entry.copy()
    other[position] = np.arange(len(low))  # the last entry of a pair; the first is in `entry`
    kept = (other != entry) | (rule == "or")
    entry, other = entry[kept], other[kept]
    return _Edges(low[entry], high[entry], entry, other)


def _of_tables(
    a: int, b: int, entries: list[int], choices: Choices, table: Table
) -> dict[str, Any]:
    """What the ends that chose an edge say of it."""
    first, other = entries
    mean = _oriented(choices, first, a)
    if other != first:
        mean = (mean + _oriented(choices, other, a)) / 2
    coupling = float(mean[1, 1]) if mean.shape == (2, 2) else None
    ordered = table.columns[a].ordered and table.columns[b].ordered
    return {
        "sign": sign_of(mean) if ordered else 0,
        "coupling": coupling,
        "log_odds": None if coupling is None else 4.0 * coupling,
        "selected_by": "both" if other != first else table.names[choices.column[first]],
        "unbounded": bool(choices.unbounded[first] or choices.unbounded[other]),
    }


def _oriented(choices: Choices, entry: int, source: int) -> NDArray[np.float64]:
    """One end's table, the source's states in its rows."""
    table = choices.tables[entry]
    return table if choices.column[entry] == source else table.T
