"""Do what is missing: cells to records, in several processes, one thread each.

A task is one table and all methods that are still to see it; each method's record is written as
soon as it is there, by the process that made it. So whatever stops a run, Ctrl-C or a kill, it
loses no more than the cells in hand. Tasks come in the order of their hashes: what is done is a
fair sample of what is left, which keeps the time left honest.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from threading import Thread, current_thread, main_thread
from time import perf_counter, sleep
from typing import Any

import numpy as np

from isinglass.experiments.measure import area_under_precision_recall, as_found, edge_set, errors
from isinglass.experiments.plan import Cell, Codes, Draw, Edges, Method, hashed
from isinglass.experiments.store import Record, Sound, Store

RECORDS = "records.jsonl"
WORK = "an experiment"
Progress = Callable[[int, int], None]
"""Called with the cells done and the cells in all."""


@dataclass(frozen=True)
class Task:
    """A table, and the methods that are still to see it."""

    draw: Draw
    methods: tuple[Method, ...]


def run(
    cells: Iterable[Cell],
    folder: str | os.PathLike[str],
    *,
    work: str = WORK,
    sound: Sound = bool,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Record]:
    """Run the cells that have no record yet, and return the records of all, by key.

    Parameters
    ----------
    cells : iterable of Cell
        As ``plan.cells()``.
    folder : str or path
        Where ``records.jsonl`` is kept; what is in it is not done again, unless it failed.
    work : str
        What the cells are of; a file of other work is refused.
    sound : function of a record
        Whether what is under "kept" is as the method makes it.
    jobs : int, optional
        Processes; None means all cores.
    progress : function of (cells done, cells in all), optional

    Returns
    -------
    dict of str to dict
        A failure has a record as well, with its reason under "failed".
    """
    wanted = list(cells)
    store = Store(Path(folder) / RECORDS, work)
    store.prepare()
    missing = without_record(wanted, stored(store, wanted, sound))
    done = len(wanted) - len(missing)
    report = progress or (lambda done, total: None)
    report(done, len(wanted))
    for finished in _finished(list(tasks(missing)), store, jobs or os.cpu_count() or 1):
        done += finished
        report(done, len(wanted))
    return chosen(wanted, stored(store, wanted, sound))


def stored(store: Store, cells: Iterable[Cell], sound: Sound = bool) -> dict[str, Record]:
    """What is stored of some cells, and of others."""
    keys = {cell.key for cell in cells}
    return store.read(lambda record: record["key"] not in keys or _whole(record, sound))


def _whole(record: Record, sound: Sound) -> bool:
    """Whether a record is one that `work` writes."""
    times = [record["seconds"], record.get("sampling", 0.0), record.get("aupr") or 0.0]
    if not all(isinstance(time, float | int) and np.isfinite(time) for time in times):
        return False
    if not all(isinstance(warning, str) for warning in record.get("warnings", [])):
        return False
    if "failed" in record:
        return isinstance(record["failed"], str)
    counts = [record["true"], *(count for pair in record["settings"].values() for count in pair)]
    pairs = all(len(pair) == 2 for pair in record["settings"].values())
    return pairs and all(type(n) is int and n >= 0 for n in counts) and sound(record)


def without_record(cells: Sequence[Cell], records: dict[str, Record]) -> list[Cell]:
    """Cells that are still to be done; those that failed are tried again."""
    return [cell for cell in cells if "settings" not in records.get(cell.key, {})]


def chosen(cells: Iterable[Cell], records: dict[str, Record]) -> dict[str, Record]:
    """Records of some cells, sorted by key."""
    keys = sorted({cell.key for cell in cells} & records.keys())
    return {key: records[key] for key in keys}


def tasks(cells: Iterable[Cell]) -> Iterator[Task]:
    """Cells by table, in the order of the tables' hashes."""
    in_order = sorted(cells, key=lambda cell: (hashed(cell.draw.key), cell.draw.key))
    for _, group in groupby(in_order, key=lambda cell: cell.draw.key):
        together = list({cell.key: cell for cell in group}.values())
        yield Task(together[0].draw, tuple(cell.method for cell in together))


def _finished(todo: list[Task], store: Store, jobs: int) -> Iterator[int]:
    """Do the tasks, and yield how many cells each had when it is done."""
    waiting = {task.draw.key: task for task in todo}
    in_hand: list[str] = []

    def handed_out() -> Iterator[Task]:
        for task in todo:
            in_hand.append(task.draw.key)
            yield task

    try:
        for key in _parallel(handed_out(), store, jobs):
            yield len(waiting.pop(key).methods)
            in_hand.remove(key)
    except BrokenProcessPool:  # a process died: which table was it?
        for key in in_hand:
            yield _alone(waiting.pop(key), store)
        yield from _finished(list(waiting.values()), store, jobs)


def _parallel(todo: Iterable[Task], store: Store, jobs: int) -> Iterator[str]:
    """Yield the key of each table when it is done; cloudpickle carries any function over."""
    from joblib import Parallel, delayed

    if jobs == 1:
        yield from (work(task, store) for task in todo)
        return
    pool = Parallel(
        jobs, backend="loky", return_as="generator_unordered", pre_dispatch=jobs, batch_size=1
    )
    yield from pool(delayed(_work_for)(os.getpid(), task, store) for task in todo)


def _alone(task: Task, store: Store) -> int:
    """Do a suspect's cells one by one in a process of their own; record the one that dies."""
    from joblib import Parallel, delayed

    for method in task.methods:
        lone = Task(task.draw, (method,))
        try:
            Parallel(2, backend="loky")([delayed(_work_for)(os.getpid(), lone, store)])
        except BrokenProcessPool as error:
            reason = f"the process died: {str(error).splitlines()[0]}"
            store.append({"key": Cell(task.draw, method).key, "failed": reason, "seconds": 0.0})
    return len(task.methods)


def _work_for(parent: int, task: Task, store: Store) -> str:
    _leave_to(parent)
    return work(task, store)


@cache
def _leave_to(parent: int) -> None:
    """Leave it to the process that started this one when to end: Ctrl-C is its business alone.

    If it is gone, even killed, this one ends soon after.
    """
    if current_thread() is main_thread():
        signal(SIGINT, SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            sleep(0.5)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def work(task: Task, store: Store) -> str:
    """Make a table, let each method see it, write the records; return the table's key."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        started = perf_counter()
        try:
            codes, truth = task.draw.sample()
        except Exception as error:
            for method in task.methods:
                store.append({"key": Cell(task.draw, method).key, **_failure(error)})
            return task.draw.key
        sampling = perf_counter() - started
        for method in task.methods:
            record = _record(method, codes, truth)
            record |= {"key": Cell(task.draw, method).key, "sampling": sampling}
            store.append(record)
            sampling = 0.0  # told once a table
    return task.draw.key


def _record(method: Method, codes: Codes, truth: Edges) -> Record:
    started = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record = _measured(method.learn(codes), truth)
        except Exception as error:  # an estimator may fail in any way
            record = _failure(error)
    record["seconds"] = perf_counter() - started
    if caught:
        record["warnings"] = sorted({str(warning.message) for warning in caught})
    return record


def _measured(answer: Any, truth: Edges) -> Record:
    found = as_found(answer)
    true = edge_set(truth)
    counts = {name: errors(graph, true) for name, graph in found.graphs.items()}
    area = (
        float("nan") if found.ranking is None else area_under_precision_recall(found.ranking, truth)
    )
    record = {
        "true": len(truth),
        "settings": {name: [count.false, count.missed] for name, count in counts.items()},
        "aupr": None if np.isnan(area) else area,
    }
    return record if found.kept is None else record | {"kept": found.kept}


def _failure(error: Exception) -> Record:
    lines = str(error).splitlines() or [""]
    return {"failed": f"{type(error).__name__}: {lines[0]}", "seconds": 0.0}
