"""Files become data frames, or one line that says what is wrong, where, and what to do."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from isinglass.errors import FileError
from isinglass.parameters import checked
from isinglass.table.cells import check_names
from isinglass.table.delimited import read_delimited
from isinglass.table.wording import plural

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DEFAULT_NA", "read_table"]

DEFAULT_NA = (
    *("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT"),
    *("None", "null", "NULL", "Null"),
)

_GZIP_MAGIC = b"\x1f\x8b"
_ARROW_FILE_MAGIC = b"ARROW1"
_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_PARQUET = (".parquet",)
_ARROW = (".arrow", ".feather", ".ipc")


@checked
def read_table(
    path: str | PathLike[str], na: str | Iterable[str] = DEFAULT_NA, *, header: bool = True
) -> pl.DataFrame:
    r"""Read a table from a file.

    Parameters
    ----------
    path : str or path
        CSV (.csv), TSV (.tsv, .tab), Parquet (.parquet) or Arrow (.arrow, .feather, .ipc),
        plain or gzipped. A .csv file may also be separated by semicolons or tabs.
    na : str or list of str
        What stands for a missing value, besides `DEFAULT_NA`.
    header : bool
        Whether the first row of a CSV or TSV file holds the names. Columns without a name
        are called by their position: x0, x1, ...

    Returns
    -------
    polars.DataFrame
        At least one row and one column; what is missing is null.

    Raises
    ------
    FileError
        If the file cannot be read: one line that says what, where, and what to do.
    DuplicateNames
        If two columns have one name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "votes.csv")
    ...     _ = path.write_text("motion,vote\ntax,yes\ntax,?\n")
    ...     read_table(path, na="?").to_dict(as_series=False)
    {'motion': ['tax', 'tax'], 'vote': ['yes', None]}
    """
    path = Path(path)
    suffix = _suffix(path)
    words = _na_words(na)
    data = _contents(path)
    if suffix in _DELIMITERS:
        delimiter = _DELIMITERS[suffix]
        frame = read_delimited(path, data, delimiter, (*DEFAULT_NA, *words), bool(header))
    else:
        frame = _with_nulls(_read_columnar(path, data, suffix), words)
    if frame.height == 0 or frame.width == 0:
        raise FileError(
            f"{path} has {plural(frame.width, 'column name')} but no rows; a table needs at "
            "least one row."
        )
    return frame


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    known = (*_DELIMITERS, *_PARQUET, *_ARROW)
    if suffix not in known and not os.path.isdir(path):
        raise FileError(
            f"{path}: the ending {suffix!r} is not known; known are {', '.join(known)}, each "
            "also with .gz. Rename or convert the file."
        )
    return suffix


def _na_words(na: str | Iterable[str]) -> tuple[str, ...]:
    words = (na,) if isinstance(na, str) else tuple(na)
    return tuple(word for word in words if word not in DEFAULT_NA)


def _contents(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise FileError(f"{path} does not exist; check the name and the folder.") from error
    except IsADirectoryError as error:
        raise FileError(f"{path} is a folder; name a file in it.") from error
    except PermissionError as error:
        raise FileError(f"{path} may not be read; change its permissions.") from error
    except (OSError, ValueError) as error:
        raise FileError(f"{path} cannot be opened: {error}.") from error
    if data.startswith(_GZIP_MAGIC):
        data = _decompressed(path, data)
    if not data.strip():
        raise FileError(f"{path} is empty; a table needs a header and at least one row.")
    return data


def _decompressed(path: Path, data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError as error:
        raise FileError(f"{path}: the gzip data is cut short; copy the file again.") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise FileError(f"{path}: the gzip data is damaged; copy the file again.") from error


def _read_columnar(path: Path, data: bytes, suffix: str) -> pl.DataFrame:
    import polars as pl

    try:
        if suffix in _PARQUET:
            return pl.read_parquet(io.BytesIO(data))
        if data.startswith(_ARROW_FILE_MAGIC):
            return pl.read_ipc(io.BytesIO(data))
        return pl.read_ipc_stream(io.BytesIO(data))
    # A damaged file can make polars fail in any way, a panic of its core included.
    except (Exception, pl.exceptions.PanicException) as error:
        raise FileError(
            f"{path} is damaged, or not in the format that {suffix} stands for; write it again."
        ) from error


def _with_nulls(frame: pl.DataFrame, words: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    check_names(frame.columns)
    if not words:
        return frame
    texts = [name for name, dtype in frame.schema.items() if not dtype.is_nested()]
    return frame.with_columns(
        pl.when(~pl.col(name).cast(pl.String).is_in(words)).then(pl.col(name)).alias(name)
        for name in texts
    )
