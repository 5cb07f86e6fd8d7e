"""Do what is missing: tasks to records, in threads, in processes or on a cluster, at any time.

Every record has a key, and whoever makes it derives its seed from that key. So any task can be
done at any time, in any order, by any process, with the same result. A record is written as soon
as it is there: whatever stops a run, Ctrl-C or a kill, it loses no more than the tasks in hand.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from threading import Thread, current_thread, main_thread
from time import sleep
from typing import Any

from isinglass.cluster import call_all
from isinglass.engine import Progress, threads_for
from isinglass.errors import IsinglassError
from isinglass.repeating.store import Record, Sound, Store

#: The file of records in a folder.
RECORDS = "records.jsonl"


@dataclass(frozen=True, eq=False)
class Task:
    """Records that are made together: `make` yields one for each key that is still missing."""

    keys: Sequence[str]
    make: Callable[[Sequence[str]], Iterable[Record]]

    @classmethod
    def single(cls, key: str, make: Callable[[], Record]) -> Task:
        """One record, made by a function that knows nothing of keys."""
        return cls((key,), lambda keys: [{"key": key, **make()}])


Spread = Callable[[Sequence[Task], Store | None, int], Iterator[list[Record]]]
"""A way to do tasks: the records of each when it is done, by so many at once."""


def repeat(
    tasks: Iterable[Task],
    *,
    work: str,
    path: str | os.PathLike[str] | None = None,
    sound: Sound = bool,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    processes: bool = False,
    client: Any = None,
) -> dict[str, Record]:
    """Do the tasks that have no records yet, and return the records of all, by key.

    A failure has a record as well, with its reason under "failed".

    Parameters
    ----------
    tasks : iterable of Task
    work : str
        What the records are of, as "half-samples"; a file of other work is refused.
    path : str or path, optional
        The file that records are added to; of a folder, ``records.jsonl`` in it. What is in it is
        not done again, unless it failed. None keeps nothing.
    sound : function of a record
        Whether a record that was read is as its task makes it; if not, it is damaged.
    n_jobs, progress
        Threads or processes, None means all cores; a function of (records there, records in all).
    processes : bool
        Whether workers are processes. Threads are for tasks that spend their time in compiled code.
    client : distributed.Client, optional
        Its workers do the tasks, as many at once as they have threads (or as there are workers, if
        workers are to be processes); records are written here. `n_jobs` is not looked at.
    """
    from threadpoolctl import threadpool_limits

    tasks = list(tasks)
    keys = list(dict.fromkeys(key for task in tasks for key in task.keys))
    store, records = None, dict[str, Record]()
    if path is not None:
        store = Store(Path(path) / RECORDS if os.path.isdir(path) else path, work)
        store.prepare()
        found = stored(store, keys, sound)
        records = {key: record for key, record in found.items() if not has_failed(record)}
    left = [replace(task, keys=[key for key in task.keys if key not in records]) for task in tasks]
    todo = [task for task in left if task.keys]
    report = progress or (lambda done, total: None)
    report(len(records), len(keys))
    spread: Spread = _in_processes if processes else _in_threads
    if client is not None:
        spread = _on_cluster(client, processes, lambda: report(len(records), len(keys)))
    with threadpool_limits(1):  # workers share the cores; libraries of theirs need not
        for made in spread(todo, store, threads_for(n_jobs, max(len(todo), 1))):
            records |= {record["key"]: record for record in made}
            report(len(records), len(keys))
    return {key: records[key] for key in keys}


def stored(store: Store, keys: Collection[str], sound: Sound = bool) -> dict[str, Record]:
    """The records of some keys that are in a store, failures among them."""
    wanted = set(keys)

    def usable(record: Record) -> bool:
        if record["key"] not in wanted:
            return True
        if has_failed(record):
            return isinstance(record.get("seconds", 0.0), float | int)
        return sound(record)

    found = store.read(usable)
    return {key: found[key] for key in keys if key in found}


def has_failed(record: Record) -> bool:
    """Whether a record is of a failure; older files of resamples name it in a part."""
    parts = record.get("records", ())
    return any(isinstance(part.get("failed"), str) for part in (record, *parts))


def failure(error: Exception) -> Record:
    """Why there is no result, in a line."""
    lines = str(error).splitlines() or [""]
    own = isinstance(error, IsinglassError)  # a sentence for people
    return {"failed": lines[0] if own else f"{type(error).__name__}: {lines[0]}"}


def perform(task: Task, store: Store | None) -> list[Record]:
    """Make the records of a task; keep each as soon as it is there."""
    made = []
    for record in _made(task):
        if store is not None:
            store.append(record)
        made.append(record)
    return made


def _made(task: Task) -> Iterator[Record]:
    left = list(task.keys)
    try:
        for record in task.make(task.keys):
            left.remove(record["key"])
            yield record
    except Exception as error:  # a task may fail in any way; the others go on
        yield from ({"key": key, **failure(error)} for key in left)


def _in_threads(todo: Sequence[Task], store: Store | None, threads: int) -> Iterator[list[Record]]:
    """The records of each task when it is done; few are in hand, so that stopping is quick."""
    tasks = iter(todo)
    waiting: set[Future[list[Record]]] = set()
    with ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                for task in tasks:
                    waiting.add(pool.submit(perform, task, store))
                    if len(waiting) >= 2 * threads:
                        break
                if not waiting:
                    return
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _in_processes(
    todo: Sequence[Task], store: Store | None, processes: int
) -> Iterator[list[Record]]:
    """The same in processes; one that dies costs no more than the record it was making."""
    left = dict(enumerate(todo))
    in_hand: set[int] = set()

    def handed_out() -> Iterator[tuple[int, Task]]:
        for number, task in enumerate(todo):
            in_hand.add(number)
            yield number, task

    try:
        for number, made in _pooled(handed_out(), store, processes):
            del left[number]
            in_hand.remove(number)
            yield made
    except BrokenProcessPool:  # which task was it?
        for number in in_hand:
            yield _one_by_one(left.pop(number), store)
        yield from _in_processes(list(left.values()), store, processes)


def _on_cluster(client: Any, apart: bool, watch: Callable[[], None]) -> Spread:
    """The same on the workers of a cluster, with the file of records here."""

    def spread(todo: Sequence[Task], store: Store | None, _: int) -> Iterator[list[Record]]:
        def died(number: int, error: Exception) -> list[Record]:
            return [{"key": key, **failure(error)} for key in todo[number].keys]

        calls = [partial(perform, task, None) for task in todo]
        for _, made in call_all(client, calls, apart=apart, lost=died, watch=watch):
            if store is not None:
                for record in made:
                    store.append(record)
            yield made

    return spread


def _pooled(
    tasks: Iterable[tuple[int, Task]], store: Store | None, processes: int
) -> Iterator[tuple[int, list[Record]]]:
    """Numbers and records of tasks when they are done; cloudpickle carries any function over."""
    from joblib import Parallel, delayed

    if processes == 1:
        yield from ((number, perform(task, store)) for number, task in tasks)
        return
    in_hand = {"return_as": "generator_unordered", "pre_dispatch": processes, "batch_size": 1}
    pool = Parallel(processes, backend="loky", **in_hand)
    perform_for = partial(delayed(_perform_for), os.getpid(), store)
    yield from pool(perform_for(number, task) for number, task in tasks)


def _one_by_one(task: Task, store: Store | None) -> list[Record]:
    """Make each record of a suspect in a process of its own; say which one dies."""
    from joblib import Parallel, delayed

    made: list[Record] = []
    for key in task.keys:
        lone = delayed(_perform_for)(os.getpid(), store, 0, replace(task, keys=(key,)))
        try:
            ((_, own),) = Parallel(2, backend="loky")([lone])
        except BrokenProcessPool as error:
            own = [{"key": key, "failed": f"the process died: {str(error).splitlines()[0]}"}]
            if store is not None:
                store.append(own[0])
        made += own
    return made


def _perform_for(
    parent: int, store: Store | None, number: int, task: Task
) -> tuple[int, list[Record]]:
    from threadpoolctl import threadpool_limits

    _leave_to(parent)
    with threadpool_limits(1):
        return number, perform(task, store)


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
