"""Records in a file: one line of JSON each, below a line that says whose they are.

Several processes may append to one file at once: each takes a lock for as long as it writes, and
the system releases the lock of a process that is killed. What such a process leaves of a line is
cut off by the next one that writes. A file that does not begin as ours is never touched.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from isinglass.errors import DamagedRecords, FileError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FORMAT = "isinglass records"
SCHEMA = 1
#: No first line of ours is longer.
HEAD = 1 << 10

Record = dict[str, Any]
Sound = Callable[[Record], bool]
"""Whether a record holds what its reader needs; any error while looking means that it does not."""


class Store:
    """The records of some work, as "half-samples", by key; a file of other work is refused.

    >>> store = Store("records.jsonl", "coins")
    >>> store.append({"key": "a", "x": 1})
    >>> with store.path.open("a") as file:      # a killed process
    ...     _ = file.write('{"key": "b", "x"')
    >>> store.append({"key": "c", "x": 3})
    >>> sorted(store.read())
    ['a', 'c']
    """

    def __init__(self, path: str | os.PathLike[str], work: str) -> None:
        self.path = Path(path)
        self.work = work

    def prepare(self) -> None:
        """Make the file if there is none; FileError, before any work, if it cannot be ours."""
        with self._opened():
            pass

    def append(self, record: Record) -> None:
        """Add a record to the end of the file."""
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        with self._opened() as file:
            file.write(line)

    def read(self, sound: Sound = bool) -> dict[str, Record]:
        """Return every sound record by its key; of several with one key, the last.

        Lines that hold no sound record are ignored, and counted in a warning.
        """
        try:
            first, end, rest = self.path.read_bytes().partition(b"\n")
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise FileError(f"cannot read {str(self.path)!r}: {error.strerror or error}.") from None
        self._check(first + end)
        records = [_record(line, sound) for line in rest.split(b"\n")[:-1]]  # but one without end
        damaged = records.count(None)
        if damaged:
            lines = "one line is" if damaged == 1 else f"{damaged} lines are"
            message = f"{lines} damaged in {str(self.path)!r} and ignored"
            message += "; their work is done again."
            warnings.warn(message, DamagedRecords, stacklevel=2)
        return {record["key"]: record for record in records if record is not None}

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        """The file, locked, of ours, and at the end of its last whole line."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
            with os.fdopen(os.open(self.path, flags, 0o666), "r+b") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise FileError(f"records need a file, and {str(self.path)!r} is not one.")
                with _locked(file):
                    self._check(file.readline(HEAD))
                    file.truncate(file.seek(_end_of_last_line(file)))
                    if file.tell() == 0:
                        file.write(_head(self.work))
                    yield file
                    file.flush()
        except FileError:
            raise
        except OSError as error:
            reason = error.strerror or error
            raise FileError(f"cannot write to {str(self.path)!r}: {reason}.") from None

    def _check(self, head: bytes) -> None:
        """Refuse a file that begins otherwise; nothing, or a piece of a first line, will do."""
        if not _head(self.work).startswith(head):
            raise FileError(_refusal(str(self.path), self.work, head))


def are_pairs(pairs: Sequence[Sequence[int]], p: int) -> bool:
    """Whether what was read are distinct pairs of p columns, the smaller first.

    >>> are_pairs([[0, 1], [1, 2]], p=3), are_pairs([[1, 3]], p=3), are_pairs([[0, 1.5]], p=3)
    (True, False, False)
    """
    whole = all(type(a) is type(b) is int and 0 <= a < b < p for a, b in pairs)
    return whole and len(set(map(tuple, pairs))) == len(pairs)


def _head(work: str) -> bytes:
    head = {"format": FORMAT, "schema": SCHEMA, "work": work}
    return json.dumps(head).encode() + b"\n"


def _refusal(path: str, work: str, head: bytes) -> str:
    """Why a file with this first line cannot take records of this work."""
    found: Any = None
    with suppress(ValueError, RecursionError):
        found = json.loads(head)
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        return (
            f"{path!r} holds something other than records, and was left as it is; name a new "
            "file, or one that holds records."
        )
    if found.get("schema") != SCHEMA:
        return f"the records in {path!r} are from another version of isinglass; name a new file."
    return f"the records in {path!r} are of {found.get('work')}, not of {work}; name another file."


def _record(line: bytes, sound: Sound) -> Record | None:
    try:
        record: Record = json.loads(line)
        return record if isinstance(record["key"], str) and sound(record) else None
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None


@contextmanager
def _locked(file: BinaryIO) -> Iterator[None]:
    """Wait until no other process writes to the file, and keep others from it."""
    if sys.platform == "win32":
        file.seek(1 << 40)  # a byte that nobody reads: Windows would refuse to
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        try:
            yield
        finally:
            file.flush()
            file.seek(1 << 40)
            msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
        yield


def _end_of_last_line(file: BinaryIO, block: int = 1 << 16) -> int:
    """Return the position after the last newline."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - block)
        file.seek(start)
        at = file.read(end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0
