"""How long will it take? From what was already done, or from a small part done first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from isinglass.experiments.plan import Cell
from isinglass.experiments.run import without_record
from isinglass.repeating import Record


def pilot(cells: Sequence[Cell], records: Mapping[str, Record]) -> list[Cell]:
    """One cell for each design and method of which nothing is known: that of middle size."""
    known = {_kind(cell) for cell in cells if cell.key in records}
    unknown: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        if _kind(cell) not in known and cell.draw.repetition == 0:
            unknown[_kind(cell)].append(cell)
    return [
        sorted(group, key=lambda cell: cell.draw.n)[len(group) // 2] for group in unknown.values()
    ]


def seconds_left(cells: Sequence[Cell], records: Mapping[str, Record], n_jobs: int) -> float:
    """Return the time the missing cells will take, if time goes with rows.

    Each cell is taken to cost, per row, what its method has cost on its design so far.
    """
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    rows: dict[tuple[str, str], float] = defaultdict(float)
    for cell in _done(cells, records):
        record = records[cell.key]
        seconds[_kind(cell)] += record.get("seconds", 0.0) + record.get("sampling", 0.0)
        rows[_kind(cell)] += cell.draw.n
    left = sum(
        cell.draw.n * seconds[_kind(cell)] / rows[_kind(cell)]
        for cell in without_record(cells, records)
        if rows[_kind(cell)]
    )
    return left / n_jobs


def _done(cells: Iterable[Cell], records: Mapping[str, Record]) -> Iterable[Cell]:
    return (cell for cell in cells if cell.key in records)


def _kind(cell: Cell) -> tuple[str, str]:
    return cell.draw.design.name, cell.method.name
