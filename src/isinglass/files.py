"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from isinglass.errors import FileError, Setting

#: What a file says that is written beside the one that was named.
MARK = b"Written by isinglass"


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Raise FileError, before any long work, if files could not be put into a folder."""
    named = os.fspath(folder)
    path = Path(os.path.abspath(named))
    while (mode := _mode(path, named)) is None:
        path = path.parent
    if not stat.S_ISDIR(mode):
        raise FileError(f"cannot write to {named!r}: {path.name!r} is a file; name a folder.")
    if not os.access(path, os.W_OK | os.X_OK):
        raise FileError(f"cannot write to {named!r}: permission denied; name another folder.")


def check_file(path: str | os.PathLike[str]) -> None:
    """Raise FileError, before any long work, if a file could not be written."""
    named = os.fspath(path)
    mode = _mode(Path(named), named)
    if mode is not None and stat.S_ISDIR(mode):
        raise FileError(f"cannot write to {named!r}: it is a folder; name a file.")
    device = os.path.abspath(named).startswith(("/dev/std", "/dev/fd/", "/proc/"))
    if device or (mode is not None and not stat.S_ISREG(mode)):  # it would become a file
        raise FileError(f"cannot write to {named!r}: it is not a plain file; name another.")
    check_folder(Path(named).parent)


def check_side_files(contents: Iterable[Path], main: Path, *, overwrite: bool = False) -> None:
    """Raise FileError if a file beside the named one would be replaced that is not ours."""
    for path in contents:
        if path != main and not overwrite and path.is_file() and MARK not in _start(path):
            raise FileError(
                f"{str(path)!r} would be written beside {str(main)!r}, but already exists, and "
                "isinglass did not write it; name another file, or give ",
                Setting("overwrite", True),
                ".",
            )


def _start(path: Path) -> bytes:
    """The first bytes of a file; none if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(1 << 12)
    except OSError:
        return b""


def _mode(path: Path, named: str) -> int | None:
    """What kind of thing is at a path; None if there is nothing."""
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"cannot write to {named!r}: {reason}.") from None


def write_all(folder: str | os.PathLike[str], contents: Mapping[str, bytes]) -> None:
    """Write some files into a folder, made if need be; all of them or none."""
    write_files({Path(folder) / name: content for name, content in contents.items()})


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write some files; folders are made if need be.

    All are checked first, then written under other names, and renamed together at the end, so
    that no file is ever seen half-written, and a full disk leaves the old ones as they were.
    """
    for path in contents:
        check_file(path)
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
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name[:40]}.")
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
