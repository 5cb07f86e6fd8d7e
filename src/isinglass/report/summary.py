"""A fit as one plain dict: what terminal, JSON and pages are made from."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import isnan
from typing import Any

from isinglass.estimators import GreedyGraph
from isinglass.graph import NUMBERS, Graph
from isinglass.model import FitRecord
from isinglass.selection import how_chosen
from isinglass.table import Note


def summarise(fit: GreedyGraph | FitRecord) -> dict[str, Any]:
    """Return what there is to say about a fit: plain numbers, strings, lists and dicts.

    Edges are sorted by strength, strongest first. A record read from a file does as well as the
    fitted estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import GreedyGraph
    >>> x = np.random.default_rng(0).integers(0, 2, (50, 3))
    >>> summary = summarise(GreedyGraph().fit(np.column_stack([x, x[:, 0]])))
    >>> summary["rows"], summary["columns"], [e["target"] for e in summary["edges"]]
    (50, 4, ['x3'])
    """
    return _of_record(fit) if isinstance(fit, FitRecord) else _of_estimator(fit)


def _of_estimator(estimator: GreedyGraph) -> dict[str, Any]:
    table = estimator._table
    return _summary(
        rows=table.n,
        states={column.name: column.states for column in table.columns},
        rule=estimator.rule,
        selector=how_chosen(estimator.threshold),
        threshold=estimator.threshold_,
        floor=estimator.floor_,
        graph=estimator.graph_,
        notes=estimator._notes(),
    )


def _of_record(record: FitRecord) -> dict[str, Any]:
    return _summary(
        rows=record.rows,
        states=dict(zip(record.names, record.states, strict=True)),
        rule=str(record.settings.get("rule")),
        selector=record.selector,
        threshold=record.threshold,
        floor=record.floor,
        graph=record.graph,
        notes=record.diagnostics,
    )


def _summary(
    *,
    rows: float,
    states: Mapping[str, Sequence[Hashable]],
    rule: str,
    selector: str,
    threshold: float,
    floor: float,
    graph: Graph,
    notes: Sequence[Note],
) -> dict[str, Any]:
    return {
        "rows": _whole(rows),
        "columns": len(states),
        "states": {name: [_plain(state) for state in labels] for name, labels in states.items()},
        "rule": rule,
        "selector": selector,
        "threshold": threshold,
        "floor": floor,
        "edges": sorted(_edges(graph), key=lambda row: -row["strength"]),
        "diagnostics": [
            {"column": note.column, "what": note.what, "done": note.done} for note in notes
        ],
    }


def _edges(graph: Graph) -> list[dict[str, Any]]:
    return [
        {"source": source, "target": target} | {key: _plain(getattr(link, key)) for key in NUMBERS}
        for link, (source, target) in zip(graph.links, graph.edges, strict=True)
    ]


def _plain(value: Any) -> Any:
    """A scalar that JSON knows; NaN, as pandas writes gaps, becomes None."""
    if isinstance(value, float) and isnan(value):
        return None
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def _whole(number: float) -> int | float:
    return int(number) if float(number).is_integer() else float(number)
