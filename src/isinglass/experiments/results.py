"""Records as tables: one row per cell and setting, the same bytes whenever they are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from isinglass.experiments.measure import f1
from isinglass.experiments.plan import Cell
from isinglass.exports.tables import as_csv
from isinglass.repeating import Record

COLUMNS = (
    *("key", "design", "p", "beta", "n", "rep", "method", "setting"),
    *("edges", "false", "missed", "exact", "f1", "aupr", "failed"),
)


def results_csv(cells: Iterable[Cell], records: Mapping[str, Record]) -> bytes:
    """Every result, sorted by key; nothing in it depends on time, order or machine."""
    return as_csv(COLUMNS, _rows(cells, records))


def times_csv(cells: Iterable[Cell], records: Mapping[str, Record]) -> bytes:
    """How long each cell took, and its table to make; what warnings it gave."""
    rows = (
        (
            key,
            record.get("seconds", 0.0),
            record.get("sampling", 0.0),
            "; ".join(record.get("warnings", [])),
        )
        for key, record in _sorted(cells, records)
    )
    return as_csv(("key", "seconds", "sampling", "warnings"), rows)


def _sorted(cells: Iterable[Cell], records: Mapping[str, Record]) -> Iterator[tuple[str, Record]]:
    for key in sorted({cell.key for cell in cells} & records.keys()):
        yield key, records[key]


def _rows(cells: Iterable[Cell], records: Mapping[str, Record]) -> Iterator[tuple[Any, ...]]:
    by_key = {cell.key: cell for cell in cells}
    for key, record in _sorted(by_key.values(), records):
        draw = by_key[key].draw
        start = (draw.design.name, draw.design.p, f"{draw.beta:g}", draw.n, draw.repetition)
        method = by_key[key].method.name
        if "failed" in record:
            yield (key, *start, method, *[None] * 7, record["failed"])
            continue
        for setting, (false, missed) in record["settings"].items():
            exact = int(false == missed == 0)
            score = float(f1(false, missed, record["true"]))
            yield (
                f"{key} {setting}".rstrip(),
                *(*start, method, setting, record["true"], false, missed, exact, f"{score:.6f}"),
                *(record["aupr"], None),
            )
