"""CSV and TSV: polars reads them, and our own second look explains what it stumbles over.

polars is quick but pads short rows in silence and refuses stray quotes, so a file that
makes it stumble, or that might hide a short row, is looked at again cell by cell.
"""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from isinglass.core import cores
from isinglass.errors import FileError, Setting
from isinglass.table.cells import check_names
from isinglass.table.reading.second_look import Layout, find_fault, has_blank_rows, records

if TYPE_CHECKING:
    import polars as pl

_LONGEST_HEADER = 1 << 20
DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "", ".dat": "", ".data": ""}
#: What may separate the cells of a file whose ending does not say, the most likely first.
_LIKELY = "\t;,| "


def read_delimited(
    path: Path, data: bytes, suffix: str, *, sep: str | None, encoding: str, header: bool
) -> tuple[pl.DataFrame, Layout]:
    """Read separated text: its cells as texts, null where they are empty, and its layout."""
    data = in_utf8(path, data, encoding)
    layout = first_look(path, data, sep or delimiter_of(data, DELIMITERS[suffix]), header)
    frame = None if b"\0" in data else parsed(data, layout)
    if frame is None or may_have_short_rows(data, layout, frame):
        fault = find_fault(data, layout)
        if fault:
            raise FileError(f"{path}, ", *fault)
        frame = parsed_again(path, data, layout, frame)
    return frame, layout


def may_have_short_rows(data: bytes, layout: Layout, frame: pl.DataFrame) -> bool:
    """Whether rows may lack cells: polars fills them up with nulls, up to the last column.

    Without quotes, the separators of the whole file tell: polars refuses rows of too many cells.
    """
    if not frame[layout.names[-1]].null_count():
        return False
    rows = frame.height + layout.header
    all_there = data.count(layout.delimiter.encode()) == (frame.width - 1) * rows
    return b'"' in data or frame.width == 1 or not all_there


def in_utf8(path: Path, data: bytes, encoding: str) -> bytes:
    """Text of any encoding as UTF-8; FileError if it is not written so."""
    name = codecs.lookup(encoding).name
    if name not in ("utf-8", "utf-8-sig"):
        try:
            return data.decode(encoding).removeprefix("\ufeff").encode()
        except UnicodeError as error:
            at = f"at byte {error.start:,}" if isinstance(error, UnicodeDecodeError) else "there"
            raise FileError(
                f"{path} is not written in {encoding}: {at} the text cannot be decoded. "
                "Give another ",
                Setting("encoding"),
                ".",
            ) from None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise FileError(
            f"{path} is written in UTF-16; save it as UTF-8, or give ",
            Setting("encoding", "utf-16"),
            ".",
        )
    return data


def first_look(path: Path, data: bytes, delimiter: str, header: bool) -> Layout:
    """The layout of a text, by its first row."""
    layout = Layout(delimiter, header, names=())
    try:
        _, cells = next(_filled(records(data, delimiter)), (0, []))
    except csv.Error:
        raise FileError(f"{path}, ", *(find_fault(data, layout) or ())) from None
    if not cells:
        raise FileError(f"{path} is empty; a table needs a header and at least one row.")
    names = tuple(
        (cell.strip() if header else "") or f"x{position}" for position, cell in enumerate(cells)
    )
    check_names(names)
    return Layout(delimiter, header, names, tuple(cells) if header else None)


def first_row(data: bytes, suffix: str, sep: str | None, encoding: str) -> list[str]:
    """The cells of the first row that is not blank, as far as it can be read."""
    head = data[:_LONGEST_HEADER].decode(encoding, "replace").removeprefix("\ufeff").encode()
    try:
        delimiter = sep or delimiter_of(head, DELIMITERS[suffix])
        return next(_filled(records(head, delimiter)), (0, []))[1]
    except csv.Error:
        return []


def _filled(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    return ((row, cells) for row, cells in rows if cells)


def delimiter_of(data: bytes, usual: str) -> str:
    """What separates cells: what is usual, unless the first line says otherwise."""
    lines = data[:_LONGEST_HEADER].lstrip().splitlines()
    first_line = lines[0].decode("utf-8", "replace") if lines else ""
    if not usual:
        return next((each for each in _LIKELY if each in first_line), ",")
    if usual != "," or usual in first_line:
        return usual
    return next((other for other in ";\t" if other in first_line), usual)


def parsed(data: bytes, layout: Layout) -> pl.DataFrame | None:
    """What polars makes of it, None if it gives up."""
    import polars as pl

    try:
        frame = pl.read_csv(
            _without_last_lines(data),
            separator=layout.delimiter,
            has_header=layout.header,
            infer_schema=False,
            eol_char="\n" if b"\n" in data or b"\r" not in data else "\r",
        )
        frame.columns = list(layout.names)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError):
        return None
    return frame


def _without_last_lines(data: bytes) -> bytes:
    """Text without blank lines at its end, which would become rows of nulls."""
    last = data[-4:]
    one = last[len(last.rstrip(b"\r\n")) :] in (b"", b"\n", b"\r\n")
    return data if one else data.rstrip(b"\r\n")


def parsed_again(
    path: Path, data: bytes, layout: Layout, frame: pl.DataFrame | None
) -> pl.DataFrame:
    """Read text that is sound, but has blank lines or stray quotes, after writing it anew."""
    if frame is not None and not has_blank_rows(data, layout):
        return frame
    frame = parsed(_rewritten(data, layout), layout)
    if frame is None:
        raise FileError(f"{path} cannot be read as a table; save it again as CSV in UTF-8.")
    return frame


def _rewritten(data: bytes, layout: Layout) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=layout.delimiter, lineterminator="\n")
    writer.writerows(cells for _, cells in _filled(records(data, layout.delimiter)))
    return text.getvalue().encode()


def with_types(texts: pl.DataFrame, na: Sequence[str]) -> pl.DataFrame:
    """Give every column of text its type; cells that are empty or in `na` become null."""
    import polars as pl

    left = texts.clone()
    # Each column of text is let go as soon as it has become another one.
    columns = (left.drop_in_place(name) for name in texts.columns)
    with ThreadPoolExecutor(cores()) as threads:
        return pl.DataFrame(list(threads.map(with_type, columns, repeat(na))))


def with_type(cells: pl.Series, na: Sequence[str]) -> pl.Series:
    """Give a column of text its type; cells that are empty or in `na` become null."""
    words = ["", *na]
    distinct = cells.unique().drop_nulls()
    seen = distinct.filter(~distinct.is_in(words))
    if len(seen) < len(distinct):
        cells = cells.set(cells.is_in(words), None)
    numbers = _numbers(seen)
    if numbers is not None:
        return cells.cast(numbers.dtype)
    lower = seen.str.to_lowercase()
    if len(seen) and lower.is_in(["false", "true"]).all() and lower.n_unique() == len(seen):
        return cells.str.to_lowercase() == "true"
    return cells


def _numbers(seen: pl.Series) -> pl.Series | None:
    """The distinct texts as numbers, None if one is none or two become the same."""
    import polars as pl

    for dtype in (pl.Int64, pl.Float64):
        numbers = seen.cast(dtype, strict=False)
        if len(seen) and not (numbers.is_null() | numbers.is_nan()).any():
            return numbers if numbers.n_unique() == len(seen) else None
    return None
