"""Independent calls on workers: any functions without arguments, sent all together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

from isinglass.cluster.connecting import check_workers
from isinglass.cluster.spreading import Spread, held
from isinglass.cluster.working import Unwanted, alone, wanted

Call = Callable[[], Any]


class Bundle:
    """Calls on their way: what they share, such as a table, is sent once, and read once."""

    def __init__(self, calls: Sequence[Call]) -> None:
        import cloudpickle

        self._sent: bytes = cloudpickle.dumps(list(calls))

    @cached_property
    def calls(self) -> list[Call]:
        """The calls, as this process has them."""
        import cloudpickle

        calls: list[Call] = cloudpickle.loads(self._sent)
        return calls

    def __getstate__(self) -> dict[str, Any]:
        return {"_sent": self._sent}

    def __sizeof__(self) -> int:
        return len(self._sent)


def call_one(key: str, bundle: Bundle, number: int, apart: bool) -> Any:
    """Make one call of a bundle; `apart`, while the process makes no other such call."""
    from threadpoolctl import threadpool_limits

    try:
        with wanted(key) as (_, check):
            by_itself: AbstractContextManager[None] = alone(check) if apart else nullcontext()
            with by_itself, threadpool_limits(1):
                return bundle.calls[number]()
    except Unwanted:
        return None


def call_all(
    client: Any,
    calls: Sequence[Call],
    *,
    apart: bool = False,
    lost: Callable[[int, Exception], Any] | None = None,
    watch: Callable[[], None] = lambda: None,
) -> Generator[tuple[int, Any], None, None]:
    """The number and the result of each call, when it is done, by the workers of a client.

    Each of a worker's threads makes a call at a time; `apart`, for calls that change something of
    their process, one thread alone. `lost` says what stands for the result of a call at which
    worker after worker died; by default that is an error. See `Spread.results` for `watch`.
    """
    check_workers(client)
    if not calls:
        return
    bundle = held(client, Bundle(calls), "calls")
    slots = (lambda threads: 1) if apart else (lambda threads: threads)
    numbers = [(bundle, number, apart) for number in range(len(calls))]
    yield from Spread(client, call_one, numbers, slots=slots, lost=lost).results(watch)
