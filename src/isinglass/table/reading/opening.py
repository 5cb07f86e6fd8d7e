"""The bytes of a file, whatever its name and packing."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from isinglass.errors import FileError
from isinglass.table.limits import check_size

_GZIP_MAGIC = b"\x1f\x8b"
#: Why a file cannot be read, and what to do.
_REASONS: dict[type[Exception], str] = {
    FileNotFoundError: " does not exist; check the name and the folder",
    IsADirectoryError: " is a folder; name a file in it",
    PermissionError: " cannot be read: permission denied; change its permissions",
    EOFError: ": the gzip data is cut short; copy the file again",
    gzip.BadGzipFile: ": the gzip data is damaged; copy the file again",
    zlib.error: ": the gzip data is damaged; copy the file again",
}
_CHUNK = 1 << 22


def contents(path: Path, max_bytes: int) -> bytes:
    """All bytes of a file, unpacked if it is gzipped; FileError if it cannot be read."""
    try:
        with opened(path) as stream:
            return _read(path, stream, max_bytes)
    except FileError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise FileError(f"{path}{why_not(error)}.") from error


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked if it is gzipped."""
    with path.open("rb") as file:
        packed = file.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC)
        stream: Any = gzip.GzipFile(fileobj=file) if packed else file
        yield stream


def why_not(error: Exception) -> str:
    """Why a file cannot be read, to go on its name with."""
    known = (reason for kind, reason in _REASONS.items() if isinstance(error, kind))
    return next(known, f" cannot be opened: {error}")


def beginning(path: Path, size: int = 1 << 20) -> bytes:
    """The first bytes of a file, unpacked if it is gzipped; none if it cannot be read."""
    try:
        with opened(path) as stream:
            return bytes(stream.read(size))
    except (OSError, EOFError, ValueError, zlib.error):
        return b""


def _read(path: Path, stream: IO[bytes], max_bytes: int) -> bytes:
    # A buffer that grows in place, so that the content is in memory once.
    buffer = io.BytesIO()
    while chunk := stream.read(_CHUNK):
        check_size(path, buffer.tell() + len(chunk), max_bytes)
        buffer.write(chunk)
    return buffer.getvalue()


def ending(path: Path) -> str:
    """The ending that says what kind of file it is, in small letters; .gz says nothing.

    >>> ending(Path("answers.SAV")), ending(Path("votes.csv.gz")), ending(Path("votes"))
    ('.sav', '.csv', '')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""
