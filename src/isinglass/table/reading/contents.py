"""The bytes of a file, unpacked in a stream that stops at a limit."""

from __future__ import annotations

import gzip
import io
import zlib
from numbers import Real
from pathlib import Path
from typing import IO, Any

from isinglass.errors import FileError, SettingError
from isinglass.table.limits import memory
from isinglass.wording import quoted

__all__ = ["check_max_bytes", "check_size", "contents"]

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 22
_ALL = 1 << 62
#: Bytes of memory for each byte of a file, while a text of the shortest cells is read, twice over.
_NEEDED = 16


def check_max_bytes(max_bytes: Any) -> int:
    """The largest content of a file, by default a sixteenth of the machine's memory."""
    if max_bytes is None:
        return memory() // _NEEDED
    is_number = isinstance(max_bytes, Real) and not isinstance(max_bytes, bool)
    size: Any = max_bytes
    if not is_number or not size >= 1:
        raise SettingError(f"max_bytes must be a number of bytes, 1 or more, got {quoted(size)}.")
    return int(min(size, _ALL))


def contents(path: Path, max_bytes: int) -> bytes:
    """All bytes of a file, unpacked if it is gzipped; FileError if it cannot be read."""
    try:
        with path.open("rb") as file:
            packed = file.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC)
            stream: Any = gzip.GzipFile(fileobj=file) if packed else file
            return _read(path, stream, max_bytes)
    except FileNotFoundError as error:
        raise FileError(f"{path} does not exist; check the name and the folder.") from error
    except IsADirectoryError as error:
        raise FileError(f"{path} is a folder; name a file in it.") from error
    except PermissionError as error:
        raise FileError(f"{path} may not be read; change its permissions.") from error
    except EOFError as error:
        raise FileError(f"{path}: the gzip data is cut short; copy the file again.") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileError(f"{path}: the gzip data is damaged; copy the file again.") from error
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(f"{path} cannot be opened: {error}.") from error


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
            "may be read. Take fewer rows or columns, or raise max_bytes."
        )
