"""Cells to records: one task per table, with all methods that are still to see it.

Tasks come in the order of their hashes: what is done is a fair sample of what is left, which
keeps the time left honest.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from time import perf_counter
from typing import Any

import numpy as np

from isinglass.engine import Progress
from isinglass.experiments.measure import area_under_precision_recall, as_found, edge_set, errors
from isinglass.experiments.plan import Cell, Codes, Draw, Edges, Method, hashed
from isinglass.repeating import Record, Sound, Store, Task, failure, formerly, repeat, stored

WORK = "an experiment"


@formerly
def run(
    cells: Iterable[Cell],
    path: str | os.PathLike[str] | None = None,
    *,
    work: str = WORK,
    sound: Sound = bool,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    client: Any = None,
) -> dict[str, Record]:
    """Run the cells that have no record yet, and return the records of all, sorted by key.

    Cells come from ``plan.cells()``, and run in processes; `sound` says whether what is under
    "kept" is as the method makes it. All else is as in :func:`isinglass.repeating.repeat`.
    """
    records = repeat(
        tasks(cells),
        work=work,
        path=path,
        sound=partial(_whole, sound=sound),
        n_jobs=n_jobs,
        progress=progress,
        processes=True,
        client=client,
    )
    return dict(sorted(records.items()))


def records_of(cells: Iterable[Cell], path: str | os.PathLike[str]) -> dict[str, Record]:
    """What a file has of some cells, failures among them, sorted by key."""
    keys = sorted({cell.key for cell in cells})
    return stored(Store(path, WORK), keys, partial(_whole, sound=bool))


def without_record(cells: Sequence[Cell], records: Mapping[str, Record]) -> list[Cell]:
    """Cells that are still to be done; those that failed are tried again."""
    return [cell for cell in cells if "settings" not in records.get(cell.key, {})]


def _whole(record: Record, sound: Sound) -> bool:
    """Whether a record is one that `_record` makes."""
    times = [record["seconds"], record.get("sampling", 0.0), record.get("aupr") or 0.0]
    if not all(isinstance(time, float | int) and np.isfinite(time) for time in times):
        return False
    if not all(isinstance(warning, str) for warning in record.get("warnings", [])):
        return False
    counts = [record["true"], *(count for pair in record["settings"].values() for count in pair)]
    pairs = all(len(pair) == 2 for pair in record["settings"].values())
    return pairs and all(type(n) is int and n >= 0 for n in counts) and sound(record)


def tasks(cells: Iterable[Cell]) -> Iterator[Task]:
    """Cells by table, in the order of the tables' hashes."""
    in_order = sorted(cells, key=lambda cell: (hashed(cell.draw.key), cell.draw.key))
    for _, group in groupby(in_order, key=lambda cell: cell.draw.key):
        together = list(group)
        methods = {cell.key: cell.method for cell in together}
        yield Task(tuple(methods), partial(_records, together[0].draw, methods))


def _records(draw: Draw, methods: Mapping[str, Method], keys: Sequence[str]) -> Iterator[Record]:
    """Make a table, and let each method see it."""
    started = perf_counter()
    codes, truth = draw.sample()
    sampling = perf_counter() - started
    for key in keys:
        yield _record(methods[key], codes, truth) | {"key": key, "sampling": sampling}
        sampling = 0.0  # counted once per table


def _record(method: Method, codes: Codes, truth: Edges) -> Record:
    started = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record = _measured(method.learn(codes), truth)
        except Exception as error:  # an estimator may fail in any way
            record = failure(error)
    record["seconds"] = perf_counter() - started
    if caught:
        record["warnings"] = sorted({str(warning.message) for warning in caught})
    return record


def _measured(answer: Any, truth: Edges) -> Record:
    found, true = as_found(answer), edge_set(truth)
    area = None
    if found.ranking is not None and len(truth):
        area = area_under_precision_recall(found.ranking, truth)
    counts = {name: list(errors(graph, true)) for name, graph in found.graphs.items()}
    kept = {} if found.kept is None else {"kept": found.kept}
    return {"true": len(truth), "settings": counts, "aupr": area, **kept}
