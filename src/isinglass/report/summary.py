"""A fitted estimator as one plain dict: what terminal, JSON and pages are made from."""

from __future__ import annotations

from math import isnan
from typing import Any

import narwhals as nw

from isinglass.estimators import GreedyGraph
from isinglass.selection import LookBelow, selector


def summarise(estimator: GreedyGraph) -> dict[str, Any]:
    """Return what there is to say about a fit: plain numbers, strings, lists and dicts.

    Edges are sorted by strength, strongest first.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import GreedyGraph
    >>> x = np.random.default_rng(0).integers(0, 2, (50, 3))
    >>> summary = summarise(GreedyGraph().fit(np.column_stack([x, x[:, 0]])))
    >>> summary["rows"], summary["columns"], [e["target"] for e in summary["edges"]]
    (50, 4, ['x3'])
    """
    table = estimator._table
    return {
        "rows": _whole(table.n),
        "columns": len(table.columns),
        "states": {
            column.name: [_plain(state) for state in column.states] for column in table.columns
        },
        "rule": estimator.rule,
        "selector": _rule(estimator.threshold),
        "threshold": estimator.threshold_,
        "floor": estimator.floor_,
        "edges": sorted(_rows(estimator.graph_.to_frame()), key=lambda row: -row["strength"]),
        "diagnostics": _rows(estimator.diagnostics_),
    }


def _rule(threshold: Any) -> str:
    """How the threshold was chosen; how far below it the search ran is said by the floor."""
    rule = selector(threshold)
    return repr(rule.rule if isinstance(rule, LookBelow) else rule)


def _rows(frame: Any) -> list[dict[str, Any]]:
    rows = nw.from_native(frame, eager_only=True).rows(named=True)
    return [{key: _plain(value) for key, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    """A scalar that JSON knows; NaN, as pandas writes gaps, becomes None."""
    if isinstance(value, float) and isnan(value):
        return None
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def _whole(number: float) -> int | float:
    return int(number) if float(number).is_integer() else float(number)
