"""A comparison for people: a dict and two CSV files. Its picture is in `plots`."""

from __future__ import annotations

from typing import Any

import numpy as np

from isinglass.experiments.compare import Comparison
from isinglass.exports.tables import as_csv, harmless

COLUMNS = ("method", "edges", "in_common", "score", "difference", "error", "seconds", "failed")


def comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain data."""
    names = [entry.name for entry in comparison.entries]
    common = comparison.common().tolist()
    first = comparison.entries[0].edges
    return {
        "rows": comparison.rows,
        "folds": comparison.folds,
        "left_out": comparison.left_out,
        "score_without_edges": _plain(comparison.baseline),
        "methods": [
            {
                "method": entry.name,
                "edges": len(entry.edges),
                "in_common": len(entry.edges & first),
                "score": _plain(entry.score),
                "difference": _plain(entry.difference),
                "error": _plain(entry.error),
                "seconds": _plain(entry.seconds),
                "failed": entry.failed,
            }
            for entry in comparison.entries
        ],
        "common": {
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, common, strict=True)
        },
    }


def comparison_csv(comparison: Comparison) -> bytes:
    """One row per method."""
    methods = comparison_dict(comparison)["methods"]
    return as_csv(COLUMNS, ([method[column] for column in COLUMNS] for method in methods))


def edges_csv(comparison: Comparison) -> bytes:
    """One row for each edge that some method found: its ends, and who found it."""
    entries = [entry for entry in comparison.entries if entry.graph is not None]
    names = entries[0].graph.names if entries and entries[0].graph else ()
    rows = (
        harmless([names[a], names[b], *(int((a, b) in entry.edges) for entry in entries)])
        for a, b in sorted(frozenset().union(*(entry.edges for entry in entries)))
    )
    return as_csv(["source", "target", *(entry.name for entry in entries)], rows)


def _plain(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
