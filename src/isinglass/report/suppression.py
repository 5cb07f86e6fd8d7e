"""Hiding small cells, so that a report may be sent.

Hidden are the counts of states seen in fewer rows than allowed (with the next smallest, where one
alone could be had by subtraction), and what would give such a count away: the losses of these
columns, the association and the tables of pairs with a small cell, the notes that name one.
Strength and evidence of such pairs keep two digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from isinglass.errors import SettingError
from isinglass.model import FitRecord

#: Notes that say which cells are small.
TELLING = ("rare level", "unbounded link")


def suppressed(summary: dict[str, Any], record: FitRecord) -> dict[str, Any]:
    """The summary without cells of fewer than ``summary["suppress"]`` rows."""
    least = summary["suppress"]
    if record.tally is None or record.tally.pairs is None:
        raise SettingError(
            "the record does not say how many rows each cell has, so small ones cannot be hidden; "
            "fit the table again (at most 1000 columns), or leave suppress out."
        )
    small = _small_pairs(record, least)
    hidden = [_hidden_states(node, least) for node in summary["nodes"]]
    names = {name: i for i, name in enumerate(record.names)}
    changed = dict(summary)
    changed["nodes"] = [
        _without(node, which) for node, which in zip(summary["nodes"], hidden, strict=True)
    ]
    changed["edges"] = [
        _rough_edge(edge) if small[names[edge["source"]], names[edge["target"]]] else edge
        for edge in summary["edges"]
    ]
    changed["diagnostics"] = [
        note | {"done": f"not shown: cells of fewer than {least:g} rows are hidden."}
        if note["what"] in TELLING
        else note
        for note in summary["diagnostics"]
    ]
    if "paths" in summary:
        changed["paths"] = [
            _rough_path(path, small[r], bool(hidden[r])) for r, path in enumerate(summary["paths"])
        ]
        upper = small[np.triu_indices(len(small), 1)]
        pairs = summary["pairs"]
        changed["pairs"] = {
            key: [None if few else value for value, few in zip(pairs[key], upper, strict=True)]
            for key in pairs
        }
    return changed


def _small_pairs(record: FitRecord, least: float) -> np.ndarray:
    assert record.tally is not None
    assert record.tally.pairs is not None
    p = len(record.names)
    small = np.zeros((p, p), dtype=bool)
    small[np.triu_indices(p, 1)] = record.tally.pairs.smallest < least
    return small | small.T


def _hidden_states(node: dict[str, Any], least: float) -> set[int]:
    """States of too few rows; if there is but one, the next smallest as well."""
    counts = node["counts"]
    hidden = {i for i, count in enumerate(counts) if count < least}
    if len(hidden) == 1 and len(counts) > 1:
        hidden.add(min((count, i) for i, count in enumerate(counts) if i not in hidden)[1])
    return hidden


def _without(node: dict[str, Any], hidden: set[int]) -> dict[str, Any]:
    if not hidden:
        return node
    counts = [None if i in hidden else count for i, count in enumerate(node["counts"])]
    return node | {"counts": counts, "explained": None}


def _rough_edge(edge: dict[str, Any]) -> dict[str, Any]:
    return edge | {
        "strength": _rough(edge["strength"]),
        "evidence": _rough(edge["evidence"]),
        "coupling": None,
        "log_odds": None,
    }


def _rough_path(path: dict[str, Any], small: np.ndarray, hidden: bool) -> dict[str, Any]:
    return path | {
        "start": _rough_fit(path["start"], small, hidden),
        "steps": [_rough_fit(step, small, hidden) for step in path["steps"]],
    }


def _rough_fit(fit: dict[str, Any], small: np.ndarray, hidden: bool) -> dict[str, Any]:
    return fit | {
        "loss": None if hidden else fit["loss"],
        "tables": [
            None if small[t] else table
            for t, table in zip(fit["support"], fit["tables"], strict=True)
        ],
    }


def _rough(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.2g}")
