"""A comparison for people: a dict and two CSV files. Its picture is in `plots`."""

from __future__ import annotations

from typing import Any

from isinglass.experiments.compare import Comparison
from isinglass.exports.tables import as_csv, harmless
from isinglass.wording import json_value


def comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain data."""
    names = [entry.name for entry in comparison.entries]
    methods = comparison.to_frame("polars").to_dicts()
    return {
        "rows": comparison.rows,
        "folds": comparison.folds,
        "left_out": comparison.left_out,
        "score_without_edges": json_value(comparison.baseline),
        "methods": [
            {key: json_value(value) for key, value in method.items()}
            | {"failed": method["failed"] or None}
            for method in methods
        ],
        "common": {
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, comparison.common().tolist(), strict=True)
        },
    }


def comparison_csv(comparison: Comparison) -> bytes:
    """One row per method."""
    methods = comparison_dict(comparison)["methods"]
    return as_csv(list(methods[0]), (list(method.values()) for method in methods))


def edges_csv(comparison: Comparison) -> bytes:
    """One row for each edge that some method found: its ends, and who found it."""
    entries = [entry for entry in comparison.entries if entry.graph is not None]
    names = entries[0].graph.names if entries and entries[0].graph else ()
    rows = (
        harmless([names[a], names[b], *(int((a, b) in entry.edges) for entry in entries)])
        for a, b in sorted(frozenset().union(*(entry.edges for entry in entries)))
    )
    return as_csv(["source", "target", *(entry.name for entry in entries)], rows)
