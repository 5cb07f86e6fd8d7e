"""From the name of a file to a data frame."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isinglass.errors import FileError, Setting, SettingError
from isinglass.parameters import check, checked
from isinglass.table.codebook import Codebook
from isinglass.table.limits import most_bytes
from isinglass.table.reading.codebooks import given_codebook, with_more
from isinglass.table.reading.columnar import ARROW, PARQUET, read_columnar, with_nulls
from isinglass.table.reading.delimited import DELIMITERS, read_delimited, with_types
from isinglass.table.reading.opening import contents, ending
from isinglass.table.reading.r_files import R_FILES, read_r
from isinglass.table.reading.second_look import is_not_utf8
from isinglass.table.reading.spreadsheets import SHEETS, read_sheet
from isinglass.table.reading.statistical import READERS, read_statistical
from isinglass.wording import counted, quoted

if TYPE_CHECKING:
    import polars as pl

DEFAULT_NA = (
    *("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT"),
    *("null", "NULL", "Null"),
)


#: Bytes at the start of a file that usually say whether it is blank.
_START = 4096


@dataclass(frozen=True)
class FileTable:
    """A table as it was read, and as it was written if it was text."""

    frame: pl.DataFrame
    texts: pl.DataFrame | None = None  # the cells of a text file as they are written there
    head: tuple[str, ...] | None = None  # its header, as it is written there
    separator: str = ","
    codebook: Codebook = field(default_factory=Codebook)  # the file's own, and the user's


@checked
def read_table(
    path: str | PathLike[str],
    na: str | Iterable[str] = DEFAULT_NA,
    *,
    header: bool = True,
    sep: str | None = None,
    encoding: str = "utf-8",
    max_bytes: float | None = None,
    sheet: str | None = None,
    codebook: Any = None,
    missing_codes: Mapping[str, Sequence[Any]] | None = None,
    order: Mapping[str, Sequence[str]] | None = None,
) -> pl.DataFrame:
    r"""Read a table from a file; a FileError says what is wrong where, and what to do.

    Parameters
    ----------
    path : str or path
        CSV (.csv), TSV (.tsv, .tab), other separated text (.txt, .dat, .data), Parquet (.parquet)
        or Arrow (.arrow, .feather, .ipc); with the extra ``files`` also SPSS (.sav, .zsav, .por),
        Stata (.dta), SAS (.sas7bdat, .xpt), Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument
        (.ods); with the extra ``r`` data frames of R (.rds, .rda). Plain or gzipped.
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
    sheet : str, optional
        The name of a sheet of a spreadsheet, or of a data frame in an .rda file; by default the
        first.
    codebook : path, Codebook or dict of str to Variable, optional
        What columns and codes mean: see :func:`read_codebook`. It is added to the labels that a
        file of SPSS, Stata, SAS or R has itself.
    missing_codes : dict, optional
        Codes that stand for a missing value, by column, as ``{"income": [98, 99]}``; under
        ``"*"`` those of all columns.
    order : dict, optional
        The states of columns from low to high, as ``{"sleep": ["bad", "fair", "good"]}``.

    Returns
    -------
    polars.DataFrame
        At least one row and one column; what is missing is null. A column of a text file becomes
        numbers, or true and false, if all its cells can be read so and those that differ still
        do: a column that holds both 01 and 1 stays text. Codes that have labels become these: an
        ``Enum`` in the order of the codes, or ``Categorical`` where the level is nominal.

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
    meaning = {"codebook": codebook, "missing_codes": missing_codes, "order": order}
    return read_file(path, na, sheet=sheet, **reading, **meaning).frame


def read_file(
    path: str | PathLike[str],
    na: Any = DEFAULT_NA,
    *,
    header: Any = True,
    sep: Any = None,
    encoding: Any = "utf-8",
    max_bytes: Any = None,
    sheet: Any = None,
    codebook: Any = None,
    missing_codes: Any = None,
    order: Any = None,
) -> FileTable:
    """Read a table, and keep the texts of its cells; parameters as in `read_table`."""
    path = Path(path)
    suffix = _suffix(path)
    words = na_words(na)
    check("sep", sep)
    check("max_bytes", max_bytes)
    check_encoding(encoding)
    limit = most_bytes(max_bytes)
    meaning = with_more(given_codebook(codebook), missing_codes=missing_codes, order=order)
    data = contents(path, limit)
    if _is_blank(data):
        raise FileError(f"{path} is empty; a table needs a header and at least one row.")
    if suffix in DELIMITERS:
        texts, layout = read_delimited(
            path, data, suffix, sep=sep, encoding=encoding, header=bool(header)
        )
        table = _of_texts(texts, words, meaning, layout.head, layout.delimiter)
    elif suffix in SHEETS:
        texts = read_sheet(path, data, sheet, header=bool(header), max_bytes=limit)
        table = _of_texts(texts, words, meaning, tuple(texts.columns))
    else:
        frame, own = _with_types_already(path, data, suffix, sheet, limit)
        meaning = own.updated(meaning).of_columns(frame.columns)
        # Types tell what is missing there, unless the user names more.
        frame = frame if words == DEFAULT_NA else with_nulls(frame, words)
        table = FileTable(meaning.apply(frame), codebook=meaning)
    if table.frame.height == 0 or table.frame.width == 0:
        raise FileError(
            f"{path} has {counted(table.frame.width, 'column name')} but no rows; a table needs at "
            "least one row."
        )
    return table


def _is_blank(data: bytes) -> bool:
    """Whether there is nothing but spaces; a long file is not copied to find out."""
    start = data[:_START].removeprefix(codecs.BOM_UTF8)
    return not start.strip() and not data[_START:].strip()


def _of_texts(
    texts: pl.DataFrame,
    words: Sequence[str],
    codebook: Codebook,
    head: tuple[str, ...] | None,
    separator: str = ",",
) -> FileTable:
    """A table of texts; codes for missing values go first, lest a word keep numbers from theirs."""
    codebook = codebook.of_columns(texts.columns)
    frame = codebook.apply(with_types(codebook.without_missing(texts), words))
    return FileTable(frame, texts, head, separator, codebook)


def _with_types_already(
    path: Path, data: bytes, suffix: str, name: str | None, limit: int
) -> tuple[pl.DataFrame, Codebook]:
    if suffix in R_FILES:
        return read_r(path, data, name, limit)
    if suffix in READERS:
        return read_statistical(path, data, suffix, limit)
    return read_columnar(path, data, suffix, limit), Codebook()


def _suffix(path: Path) -> str:
    suffix = ending(path)
    known = (*DELIMITERS, *PARQUET, *ARROW, *READERS, *R_FILES, *SHEETS)
    if suffix not in known and not os.path.isdir(path):  # which, of odd names, says no
        raise FileError(
            f"{path}: the ending {suffix!r} is not known; known are {', '.join(known)}, each "
            "also with .gz. Rename or convert the file."
        )
    return suffix


def na_words(na: Any) -> tuple[str, ...]:
    """What stands for a missing value; SettingError unless it is text."""
    try:
        words = (na,) if isinstance(na, str) else tuple(na)
    except TypeError:
        words = (None,)
    if not all(isinstance(word, str) and not is_not_utf8(word) for word in words):
        raise SettingError(
            Setting("na"), f" must be a string or a list of strings, got {quoted(na)}."
        )
    return words


def check_encoding(encoding: Any) -> None:
    """Raise SettingError unless there is such an encoding of text."""
    try:
        codecs.lookup(encoding)
        "".encode(encoding)
    except (LookupError, TypeError, ValueError):
        raise SettingError(
            Setting("encoding"),
            " must name an encoding of text, such as 'utf-8', 'latin-1', 'cp1252' or 'utf-16', "
            f"got {quoted(encoding)}.",
        ) from None
