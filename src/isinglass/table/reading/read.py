"""From the name of a file to a data frame."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from isinglass.errors import FileError, Setting, SettingError
from isinglass.parameters import check, checked
from isinglass.table.limits import check_size, most_bytes
from isinglass.table.reading.columnar import ARROW, PARQUET, read_columnar, with_nulls
from isinglass.table.reading.delimited import DELIMITERS, read_delimited, with_types
from isinglass.table.reading.second_look import is_not_utf8
from isinglass.wording import counted, quoted

if TYPE_CHECKING:
    import polars as pl

DEFAULT_NA = (
    *("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT"),
    *("null", "NULL", "Null"),
)


@dataclass(frozen=True)
class FileTable:
    """A table as it was read, and as it was written if it was text."""

    frame: pl.DataFrame
    texts: pl.DataFrame | None = None  # the cells of a text file as they are written there
    head: tuple[str, ...] | None = None  # its header, as it is written there
    separator: str = ","


@checked
def read_table(
    path: str | PathLike[str],
    na: str | Iterable[str] = DEFAULT_NA,
    *,
    header: bool = True,
    sep: str | None = None,
    encoding: str = "utf-8",
    max_bytes: float | None = None,
) -> pl.DataFrame:
    r"""Read a table from a file; a FileError says what is wrong where, and what to do.

    Parameters
    ----------
    path : str or path
        CSV (.csv), TSV (.tsv, .tab), Parquet (.parquet) or Arrow (.arrow, .feather, .ipc),
        plain or gzipped.
    na : str or list of str
        What stands for a missing value, instead of `DEFAULT_NA`: NA, NaN, null and their like,
        in text files only. An empty cell is always missing; ``na=""`` means empty cells only.
    header : bool
        Whether the first row of a CSV or TSV file holds the names. Columns without a name
        are called by their position: x0, x1, ...
    sep : str, optional
        The character between the cells of a text file. By default a tab in .tsv and .tab files;
        in .csv files a comma, or a semicolon or a tab if the first line has no comma.
    encoding : str
        How a text file is encoded, as "latin-1", "cp1252" or "utf-16".
    max_bytes : float, optional
        The largest content of a file, unpacked; by default a sixteenth of the machine's memory.

    Returns
    -------
    polars.DataFrame
        At least one row and one column; what is missing is null. A column of a text file becomes
        numbers, or true and false, if all its cells can be read so and those that differ still
        do: a column that holds both 01 and 1 stays text.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "votes.csv")
    ...     _ = path.write_text("motion,vote\ntax,yes\ntax,?\n")
    ...     read_table(path, na="?").to_dict(as_series=False)
    {'motion': ['tax', 'tax'], 'vote': ['yes', None]}
    """
    reading = {"header": header, "sep": sep, "encoding": encoding, "max_bytes": max_bytes}
    return read_file(path, na, **reading).frame


def read_file(
    path: str | PathLike[str],
    na: Any = DEFAULT_NA,
    *,
    header: Any = True,
    sep: Any = None,
    encoding: Any = "utf-8",
    max_bytes: Any = None,
) -> FileTable:
    """Read a table, and keep the texts of its cells; parameters as in `read_table`."""
    path = Path(path)
    suffix = _suffix(path)
    words = _na_words(na)
    check("sep", sep)
    check("max_bytes", max_bytes)
    _check_encoding(encoding)
    limit = most_bytes(max_bytes)
    data = contents(path, limit)
    if not data.removeprefix(codecs.BOM_UTF8).strip():
        raise FileError(f"{path} is empty; a table needs a header and at least one row.")
    if suffix in DELIMITERS:
        texts, layout = read_delimited(
            path, data, suffix, sep=sep, encoding=encoding, header=bool(header)
        )
        frame = with_types(texts, words)
        table = FileTable(frame, texts, layout.head, layout.delimiter)
    else:
        frame = read_columnar(path, data, suffix, limit)
        # Types tell what is missing there, unless the user names more.
        table = FileTable(frame if words == DEFAULT_NA else with_nulls(frame, words))
    if table.frame.height == 0 or table.frame.width == 0:
        raise FileError(
            f"{path} has {counted(table.frame.width, 'column name')} but no rows; a table needs at "
            "least one row."
        )
    return table


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    known = (*DELIMITERS, *PARQUET, *ARROW)
    if suffix not in known and not os.path.isdir(path):  # which, of odd names, says no
        raise FileError(
            f"{path}: the ending {suffix!r} is not known; known are {', '.join(known)}, each "
            "also with .gz. Rename or convert the file."
        )
    return suffix


def _na_words(na: Any) -> tuple[str, ...]:
    try:
        words = (na,) if isinstance(na, str) else tuple(na)
    except TypeError:
        words = (None,)
    if not all(isinstance(word, str) and not is_not_utf8(word) for word in words):
        raise SettingError(
            Setting("na"), f" must be a string or a list of strings, got {quoted(na)}."
        )
    return words


def _check_encoding(encoding: Any) -> None:
    try:
        codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, TypeError, ValueError):
        raise SettingError(
            Setting("encoding"),
            " must name an encoding of text, such as 'utf-8', 'latin-1', 'cp1252' or 'utf-16', "
            f"got {quoted(encoding)}.",
        ) from None


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
        with path.open("rb") as file:
            packed = file.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC)
            stream: Any = gzip.GzipFile(fileobj=file) if packed else file
            return _read(path, stream, max_bytes)
    except FileError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        known = (reason for kind, reason in _REASONS.items() if isinstance(error, kind))
        raise FileError(f"{path}{next(known, f' cannot be opened: {error}')}.") from error


def _read(path: Path, stream: IO[bytes], max_bytes: int) -> bytes:
    # A buffer that grows in place, so that the content is in memory once.
    buffer = io.BytesIO()
    while chunk := stream.read(_CHUNK):
        check_size(path, buffer.tell() + len(chunk), max_bytes)
        buffer.write(chunk)
    return buffer.getvalue()
