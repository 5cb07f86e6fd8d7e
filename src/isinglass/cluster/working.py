"""What workers do: one search at a time per process, with all its threads, until it is unwanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

from isinglass.cluster.shipping import ShippedTable
from isinglass.core import Flat, PreparedTable, stopped_by
from isinglass.errors import ClusterError

#: The share of a worker's memory beyond which Dask begins to move data to the disk.
SHARE = 0.6
#: Held by the search that a process is busy with.
BUSY = Lock()


@dataclass(frozen=True)
class Sealed:
    """An argument that Dask does not look into: it walks through all lists for futures."""

    content: Any


#: What a worker is while it works.
RUNNING = ("init", "running", "paused", "closing_gracefully")


class Unwanted(BaseException):
    """The task was cancelled, or who asked for it is gone; nobody reads what it raises."""


def search_block(key: str, table: ShippedTable, settings: Sealed, block: Sealed) -> Flat | None:
    """Run Algorithm 1 for a block of columns."""
    return _work(PreparedTable.search, key, table, settings.content | block.content)


def losses_block(key: str, table: ShippedTable, settings: Sealed, block: Sealed) -> Flat | None:
    """Fit a block of columns with and without their neighbours."""
    return _work(PreparedTable.edge_losses, key, table, settings.content | block.content)


def _work(
    work: Callable[..., Flat], key: str, table: ShippedTable, settings: Mapping[str, Any]
) -> Flat | None:
    try:
        with wanted(key) as (worker, check), alone(check):
            threads = threads_of(worker, settings["threads"])
            own = prepared(table, worker, threads)
            return work(own, **{**settings, "threads": threads})
    except Unwanted:
        return None


def threads_of(worker: Any, most: int | None) -> int:
    """The threads of a worker, or fewer if no more are wanted."""
    own = int(worker.state.nthreads)
    return own if most is None else min(own, most)


def prepared(table: ShippedTable, worker: Any, threads: int) -> Any:
    """The table as the core takes it, unless it would not leave Dask the memory it counts on."""
    left = memory_left(worker)
    if not table.is_prepared and left is not None and table.needs > left:
        raise ClusterError(
            f"the table takes {gigabytes(table.needs)} on each worker, and worker "
            f"{worker.address} has {gigabytes(left)} left below {SHARE:.0%} of its memory; "
            "start fewer workers with more memory each."
        )
    return table.prepared(threads, 0.0 if left is None else max(left - table.needs, 1.0))


def memory_left(worker: Any) -> float | None:
    """Bytes that a worker's process may still take before Dask minds; None without a limit."""
    import psutil

    limit = memory_limit(worker)
    if not limit:
        return None
    taken = float(psutil.Process().memory_info().rss)
    return max(SHARE * float(limit) - taken, 0.0)


def memory_limit(dask_worker: Any) -> int | None:
    """Bytes that Dask lets a worker's process take; None if it does not look.

    Dask hands over the worker to a parameter of this name.
    """
    limit: int | None = dask_worker.memory_manager.memory_limit
    return limit


def gigabytes(size: float) -> str:
    """A size as sentences show it.

    >>> gigabytes(12.3e9), gigabytes(4.2e6)
    ('12.3 GB', '0.0042 GB')
    """
    return f"{size / 1e9:.3g} GB"


@contextmanager
def alone(check: Callable[[], None]) -> Iterator[None]:
    """Wait until no other search runs in this process."""
    while not BUSY.acquire(timeout=0.1):
        check()
    try:
        yield
    finally:
        BUSY.release()


@contextmanager
def wanted(key: str) -> Iterator[tuple[Any, Callable[[], None]]]:
    """The worker of a task, and how to look whether it is wanted: the core stops when it is not.

    Dask does not stop what runs when it is cancelled, or when its client is gone; it only marks the
    task, in the worker's own process.
    """
    from distributed import get_worker

    worker = get_worker()

    def check() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled" or worker.status.name not in RUNNING:
            raise Unwanted

    with stopped_by(check):
        yield worker, check
