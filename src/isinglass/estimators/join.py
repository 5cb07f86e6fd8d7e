"""Neighbourhoods to one graph: which edges, and the numbers of each."""

from __future__ import annotations

import numpy as np

from isinglass.engine import Runs
from isinglass.graph import Graph, Link
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.table import Table


def join(runs: Runs, threshold: float, rule: str, table: Table) -> Graph:
    """Cut every path at the threshold and join the neighbourhoods by OR or AND."""
    cuts = [runs.cut(r, threshold) for r in range(len(runs))]
    chosen = {(r, t) for r, count in enumerate(cuts) for t in runs.support(r, count)}
    pairs = {(min(pair), max(pair)) for pair in chosen if rule == "or" or pair[::-1] in chosen}
    links = tuple(_link(a, b, runs, cuts, chosen, table) for a, b in sorted(pairs))
    return Graph(table.names, links, table.library)


def _link(
    a: int, b: int, runs: Runs, cuts: list[int], chosen: set[tuple[int, int]], table: Table
) -> Link:
    both = ((a, b), (b, a))
    worth = sum(runs.worth(r, cuts[r])[t] for r, t in both) / 2
    ends = [(r, t, runs.fit(r, cuts[r])) for r, t in both if (r, t) in chosen]
    # Each end's table with the source's states in its rows.
    tables = [fit.coef[t] if r == a else fit.coef[t].T for r, t, fit in ends]
    mean_table = sum(tables) / len(tables)
    coupling = float(mean_table[1, 1]) if mean_table.shape == (2, 2) else None
    df = (table.n_states[a] - 1) * (table.n_states[b] - 1)
    return Link(
        source=a,
        target=b,
        strength=float(np.sqrt(-np.expm1(-2.0 * worth))),
        sign=_sign(mean_table) if table.columns[a].ordered and table.columns[b].ordered else 0,
        coupling=coupling,
        log_odds=None if coupling is None else 4.0 * coupling,
        evidence=float(2.0 * table.n * one_parameter_gain(worth, df, table.n)),
        selected_by="both" if len(ends) == 2 else table.names[ends[0][0]],
        unbounded=any(t in fit.unbounded for _, t, fit in ends),
    )


def _sign(table: np.ndarray) -> int:
    """Whether high goes with high: the table's product with evenly spaced scores."""
    rows, columns = (np.arange(m) - (m - 1) / 2 for m in table.shape)
    trend = float(rows @ table @ columns)
    return 0 if abs(trend) < 1e-12 else int(np.sign(trend))
