"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from isinglass.errors import FileError


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Raise FileError, before any long work, if files could not be put into a folder."""
    path = Path(folder).absolute()
    while not path.exists():
        path = path.parent
    if not path.is_dir():
        raise FileError(
            f"cannot write to {os.fspath(folder)!r}: {path.name!r} is a file; name a folder."
        )
    if not os.access(path, os.W_OK | os.X_OK):
        raise FileError(
            f"cannot write to {os.fspath(folder)!r}: permission denied; name another folder."
        )


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise FileError, before any long work, if a file could not be written."""
    if Path(path).is_dir():
        raise FileError(f"cannot write to {os.fspath(path)!r}: it is a folder; name a file.")
    check_folder(Path(path).parent)


def write_all(folder: str | os.PathLike[str], contents: Mapping[str, bytes]) -> None:
    """Write some files into a folder, made if need be; all of them or none."""
    write_files({Path(folder) / name: content for name, content in contents.items()})


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write some files; folders are made if need be.

    All are written under other names first and renamed together at the end, so that no file
    is ever seen half-written, and a full disk leaves the old ones as they were.
    """
    staged: dict[str, Path] = {}
    folder = Path()
    try:
        for path, content in contents.items():
            folder = path.parent
            folder.mkdir(parents=True, exist_ok=True)
            staged[_stage(folder, path.name, content)] = path
        for temporary, path in staged.items():
            folder = path.parent
            os.replace(temporary, path)
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"cannot write to {os.fspath(folder)!r}: {reason}.") from None
    finally:
        for temporary in staged:
            Path(temporary).unlink(missing_ok=True)


def _stage(folder: Path, name: str, content: bytes) -> str:
    """Write a file under a name of its own, and return that."""
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return temporary


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
