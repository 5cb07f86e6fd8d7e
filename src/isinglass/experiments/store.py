"""Records in a file: one line of JSON each, appended whole.

Several processes append to one file at once; each line goes out in one write at the file's end.
A process that is killed in the middle of a line leaves a piece without an end: `mend` cuts it
off before the next run, and `read` passes over a line that is no record, so that its cell is
missing and is done again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from isinglass.errors import FileError

Record = dict[str, Any]


class Store:
    """The records of an experiment, by key.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(Path(tempfile.mkdtemp()) / "records.jsonl")
    >>> store.append({"key": "a", "x": 1})
    >>> with store.path.open("a") as file:      # a killed process
    ...     _ = file.write('{"key": "b", "x"')
    >>> store.mend()
    >>> store.append({"key": "c", "x": 3})
    >>> sorted(store.read())
    ['a', 'c']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def append(self, record: Record) -> None:
        """Add a record to the file's end, in one write."""
        line = json.dumps(record, allow_nan=False) + "\n"
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(handle, line.encode())
        finally:
            os.close(handle)

    def mend(self) -> None:
        """Make the file if there is none, and cut off a last line without an end."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                file.truncate(_end_of_last_line(file))
        except OSError as error:
            reason = error.strerror or error
            raise FileError(f"cannot write to {str(self.path)!r}: {reason}.") from None

    def read(self) -> dict[str, Record]:
        """Return every whole record by its key; of several with one key, the last."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return {}
        return {record["key"]: record for record in _records(lines)}


def _records(lines: Iterable[bytes]) -> Iterable[Record]:
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:  # two processes' lines in one, or a piece of one
            continue
        if isinstance(record, dict) and "key" in record:
            yield record


def _end_of_last_line(file: Any, block: int = 1 << 16) -> int:
    """Return the position after the last newline."""
    end = int(file.seek(0, os.SEEK_END))
    while end > 0:
        start = max(0, end - block)
        file.seek(start)
        at = file.read(end - start).rfind(b"\n")
        if at >= 0:
            return start + int(at) + 1
        end = start
    return 0
