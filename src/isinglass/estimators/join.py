"""Neighbourhoods to one graph: which edges, and the numbers of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isinglass.engine import Neighbourhood
from isinglass.graph import Graph, Link
from isinglass.losses.conditional import NodeFit
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.solvers.path import Path
from isinglass.table import Table


def join(
    neighbourhoods: Sequence[Neighbourhood], threshold: float, rule: str, table: Table
) -> Graph:
    """Cut every path at the threshold and join the neighbourhoods by OR or AND."""
    paths = [node.at(threshold) for node in neighbourhoods]
    chosen = {(r, t) for r, path in enumerate(paths) for t in path.support}
    pairs = {(min(pair), max(pair)) for pair in chosen if rule == "or" or pair[::-1] in chosen}
    links = tuple(_link(a, b, neighbourhoods, paths, table) for a, b in sorted(pairs))
    return Graph(table.names, links, table.library)


def _link(
    a: int, b: int, nodes: Sequence[Neighbourhood], paths: Sequence[Path], table: Table
) -> Link:
    ends = [(r, t) for r, t in ((a, b), (b, a)) if t in paths[r].support]
    worth = np.mean([nodes[r].worth[len(paths[r])][t] for r, t in ((a, b), (b, a))])
    fits = {r: paths[r].final for r, _ in ends}
    # Each end's table with the source's states in its rows.
    tables = [fits[r].coef[t] if r == a else fits[r].coef[t].T for r, t in ends]
    mean_table = np.mean(tables, axis=0)
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
        unbounded=any(_is_unbounded(fits[r], t) for r, t in ends),
    )


def _is_unbounded(fit: object, t: int) -> bool:
    return isinstance(fit, NodeFit) and t in fit.unbounded


def _sign(table: np.ndarray) -> int:
    """Whether high goes with high: the table's product with evenly spaced scores."""
    rows, columns = (np.arange(m) - (m - 1) / 2 for m in table.shape)
    trend = float(rows @ table @ columns)
    return 0 if abs(trend) < 1e-12 else int(np.sign(trend))
