"""How work of the core is stopped by others than Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[int], None]

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


@contextmanager
def stopped_by(check: Callable[[], None]) -> Iterator[None]:
    """Stop the core's work in this thread when `check` raises: it is called ten times a second.

    >>> def check():
    ...     raise InterruptedError("somebody else wants it")
    >>> with stopped_by(check):
    ...     watched(None)(0)
    Traceback (most recent call last):
    InterruptedError: somebody else wants it
    """
    before = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(before)


def watched(progress: Progress | None) -> Progress | None:
    """What the core is to call while it works: the check of this thread, then the progress."""
    check = _CHECK.get()
    if check is None or progress is None:
        return progress if check is None else lambda done: check()

    def both(done: int) -> None:
        check()
        progress(done)

    return both
