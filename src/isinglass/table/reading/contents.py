"""The bytes of a file, unpacked in a stream that stops at a limit."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import IO, Any

from isinglass.errors import FileError, Setting
from isinglass.table.limits import memory

_GZIP_MAGIC = b"\x1f\x8b"
#: Why a file cannot be read, and what to do.
_REASONS: dict[type[Exception], str] = {
    FileNotFoundError: " does not exist; check the name and the folder",
    IsADirectoryError: " is a folder; name a file in it",
    PermissionError: " may not be read; change its permissions",
    EOFError: ": the gzip data is cut short; copy the file again",
    gzip.BadGzipFile: ": the gzip data is damaged; copy the file again",
    zlib.error: ": the gzip data is damaged; copy the file again",
}
_CHUNK = 1 << 22
_ALL = 1 << 62
#: Bytes of memory for each byte of a file, while a text of the shortest cells is read, twice over.
_NEEDED = 16


def most_bytes(max_bytes: float | None) -> int:
    """The largest content of a file, by default a sixteenth of the machine's memory."""
    return memory() // _NEEDED if max_bytes is None else int(min(max_bytes, _ALL))


def contents(path: Path, max_bytes: int) -> bytes:
    """All bytes of a file, unpacked if it is gzipped; FileError if it cannot be read."""
    try:
        with path.open("rb") as file:
            packed = file.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC)
            stream: Any = gzip.GzipFile(fileobj=file) if packed else file
            return _read(path, stream, max_bytes)
    except FileError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise FileError(f"{path}{_why_not(error)}.") from error


def _why_not(error: Exception) -> str:
    for kind, reason in _REASONS.items():
        if isinstance(error, kind):
            return reason
    return f" cannot be opened: {error}"


def _read(path: Path, stream: IO[bytes], max_bytes: int) -> bytes:
    # A buffer that grows in place, so that the content is in memory once.
    buffer = io.BytesIO()
    while chunk := stream.read(_CHUNK):
        check_size(path, buffer.tell() + len(chunk), max_bytes)
        buffer.write(chunk)
    return buffer.getvalue()


def check_size(path: Path, size: float, max_bytes: int) -> None:
    """Raise FileError if the content of a file is larger than it may be."""
    if size > max_bytes:
        raise FileError(
            f"{path} holds more than {max_bytes / 1e9:.3g} GB when it is unpacked, the most that "
            "may be read. Take fewer rows or columns, or raise ",
            Setting("max_bytes"),
            ".",
        )
