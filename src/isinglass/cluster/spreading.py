"""Tasks to workers: few in hand, results kept as they come, everything cancelled when one stops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import islice
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any
from uuid import uuid4

from isinglass.errors import ClusterError

#: Seconds between two looks at which workers there are.
LOOK = 1.0
#: Seconds without a single worker after which work is given up.
PATIENCE = 60.0


class WorkersDied(ClusterError):
    """Worker after worker died at one task."""


class Spread:
    """Calls of one function on workers.

    Every worker has `slots(threads)` tasks in hand; the next goes to whoever is done. So finished
    results are all here, and a worker that dies costs what it was doing: Dask gives that to
    another one. Its tasks are cancelled when this is left by an error or by Ctrl-C. Where worker
    after worker dies at a task, `lost` says what its result is; else it is an error. `homes` are
    the workers that calls are for, as long as they are there.
    """

    def __init__(
        self,
        client: Any,
        work: Callable[..., Any],
        calls: Sequence[Sequence[Any]],
        *,
        slots: Callable[[int], int] = lambda threads: 1,
        lost: Callable[[int, Exception], Any] | None = None,
        homes: Sequence[str | None] | None = None,
    ) -> None:
        self._client, self._work, self._slots, self._lost = client, work, slots, lost
        self._left = dict(enumerate(calls))
        self._homes = [None] * len(calls) if homes is None else list(homes)
        self._number: dict[Any, int] = {}  # of the futures in hand
        self._place: dict[Any, str] = {}
        self._done: SimpleQueue[Any] = SimpleQueue()
        self._name = f"isinglass-{work.__name__.replace('_', '-')}-{uuid4().hex}"

    def results(self, watch: Callable[[], None] = lambda: None) -> Iterator[tuple[int, Any]]:
        """The number and the result of each call, when it is done.

        `watch` is called every second or more often; what it raises stops the work.
        """
        try:
            alive = looked = monotonic()
            self._feed()
            while self._number or self._left:
                with suppress(Empty):
                    yield self._take(self._done.get(timeout=LOOK))
                if self._left or monotonic() - looked > LOOK:
                    watch()
                    looked = monotonic()
                    alive = looked if self._feed() else alive
                    self._give_up_after(looked - alive)
        finally:
            with suppress(Exception):  # what is wrong with the client was said already
                self._client.cancel(list(self._number))

    def _feed(self) -> int:
        """Give every worker as much as it may have in hand; how many workers there are."""
        workers: Mapping[str, int] = asked(self._client.nthreads)
        busy = Counter(self._place[future] for future in self._number)
        for address, threads in workers.items():
            may = (at for at in self._left if self._homes[at] in (None, address))
            for number in list(islice(may, max(self._slots(threads) - busy[address], 0))):
                self._hand_out(number, address)
        for number in [at for at in self._left if self._homes[at] not in (None, *workers)]:
            self._homes[number] = None  # anybody may have it
        return len(workers)

    def _hand_out(self, number: int, address: str) -> None:
        call = self._left.pop(number)
        key = f"{self._name}-{number}"
        # Any other worker will do, should this one be gone.
        place = {"workers": [address], "allow_other_workers": True}
        future = self._client.submit(self._work, key, *call, key=key, pure=False, **place)
        self._number[future], self._place[future] = number, address
        future.add_done_callback(self._done.put)

    def _take(self, future: Any) -> tuple[int, Any]:
        number = self._number.pop(future)
        del self._place[future]
        try:
            return number, result_of(future)
        except WorkersDied as error:
            if self._lost is None:
                raise
            return number, self._lost(number, error)

    def _give_up_after(self, seconds: float) -> None:
        if seconds > PATIENCE:
            raise ClusterError(
                f"the cluster has had no worker for {PATIENCE:.0f} seconds; start some "
                "(dask worker ADDRESS), and fit again."
            )


def asked(question: Callable[[], Any]) -> Any:
    """What the scheduler answers; a sentence if it does not."""
    try:
        return question()
    except (OSError, TimeoutError, RuntimeError, ValueError, AttributeError) as error:
        raise lost(error) from error


def result_of(future: Any) -> Any:
    """The result of a task, or its error; a sentence where it is Dask's."""
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        raise WorkersDied(
            f"{error.allowed_failures + 1} workers died at the same task; most often it is their "
            "memory. Look at their logs, and start fewer workers with more memory each."
        ) from error
    except (CancelledError, OSError, TimeoutError) as error:
        raise lost(error) from error


def lost(error: BaseException) -> ClusterError:
    """What to say when the scheduler is gone."""
    return ClusterError(
        "the connection to Dask's scheduler was lost while work was running "
        f"({str(error).splitlines()[0] if str(error) else type(error).__name__}); "
        "see whether it still runs, and fit again."
    )


def held(client: Any, thing: Any, name: str) -> Any:
    """An object that tasks share, as a future.

    It is part of a task that the scheduler keeps, so that it can be made again when the only
    worker that has it dies; what is scattered is lost then.
    """
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        return client.submit(as_it_is, thing, key=f"isinglass-{name}-{uuid4().hex}", pure=False)


def as_it_is(thing: Any) -> Any:
    """What came."""
    return thing
