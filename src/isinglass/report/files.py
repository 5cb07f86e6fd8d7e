"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from isinglass.errors import FileError


def write_all(folder: str | os.PathLike[str], contents: Mapping[str, bytes]) -> None:
    """Write some files into a folder, made if need be; no file is ever seen half-written."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            _write_whole(Path(folder) / name, content)
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"cannot write to {os.fspath(folder)!r}: {reason}.") from None


def _write_whole(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
