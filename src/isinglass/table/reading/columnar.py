"""Parquet and Arrow, whose columns have types already; and tables written back to files."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass.errors import FileError, IsinglassError
from isinglass.table.cells import check_names
from isinglass.table.coding.labels import number_in
from isinglass.table.limits import check_size
from isinglass.table.reading.delimited import DELIMITERS

if TYPE_CHECKING:
    import polars as pl

    from isinglass.table.reading.read import FileTable

PARQUET = (".parquet",)
ARROW = (".arrow", ".feather", ".ipc")
_ARROW_FILE_MAGIC = b"ARROW1"
#: Bytes of a cell, at the least, in memory.
_CELL = 1


def read_columnar(path: Path, data: bytes, suffix: str, max_bytes: int) -> pl.DataFrame:
    """Read a file that keeps types; FileError if it is damaged, or unpacks to too much."""
    import polars as pl

    with damaged(path, suffix):
        if suffix in PARQUET:
            _check_cells(path, pl.scan_parquet(io.BytesIO(data)), max_bytes)
            frame = pl.read_parquet(io.BytesIO(data))
        elif data.startswith(_ARROW_FILE_MAGIC):
            _check_cells(path, pl.scan_ipc(io.BytesIO(data)), max_bytes)
            frame = pl.read_ipc(io.BytesIO(data))
        else:
            frame = pl.read_ipc_stream(io.BytesIO(data))
    check_names(frame.columns)
    return frame


@contextmanager
def damaged(path: Path, suffix: str) -> Iterator[None]:
    """Say that a file is damaged, whatever polars makes of it."""
    import polars as pl

    try:
        yield
    except IsinglassError:
        raise
    # A damaged file can make polars fail in any way, a panic of its core included.
    except (Exception, pl.exceptions.PanicException) as error:
        raise FileError(
            f"{path} is damaged, or not in the format that {suffix} stands for; write it again."
        ) from error


def _check_cells(path: Path, lazy: pl.LazyFrame, max_bytes: int) -> None:
    """A file of a few bytes can stand for a table of billions of equal cells."""
    import polars as pl

    rows = lazy.select(pl.len()).collect().item()
    check_size(path, _CELL * rows * max(1, len(lazy.collect_schema())), max_bytes)


def with_nulls(frame: pl.DataFrame, words: Sequence[str]) -> pl.DataFrame:
    """Make cells null that are one of the words, as text or as a number."""
    return frame.with_columns(_replacements(frame, words)) if words else frame


def _replacements(frame: pl.DataFrame, words: Sequence[str]) -> Iterator[pl.Expr]:
    import polars as pl

    numbers = [number for number in map(number_in, words) if math.isfinite(number)]
    for name, dtype in frame.schema.items():
        if dtype.is_float():
            found = pl.col(name).cast(pl.Float64).is_in(numbers)
        elif _has_text(dtype):
            found = pl.col(name).cast(pl.String).is_in(list(words))
        else:
            continue
        yield pl.when(~found).then(pl.col(name)).alias(name)


def _has_text(dtype: pl.DataType) -> bool:
    """Whether a cell of the type can be written as one word."""
    import polars as pl

    return dtype.is_integer() or dtype in (pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Date)


def written_back(file: FileTable, filled: pl.DataFrame, path: Path) -> bytes:
    """The content of a file at `path`: the table that was read, with the cells of `filled`.

    In text, a cell that was there comes back as it was written, and one that is filled is written
    as its value is elsewhere in the column.
    """
    suffix = path.suffix.lower()
    buffer = io.BytesIO()
    if suffix in PARQUET:
        filled.write_parquet(buffer)
    elif suffix in ARROW:
        filled.write_ipc(buffer)
    else:
        usual = DELIMITERS.get(suffix) or file.separator
        separator = usual if "\t" in (usual, file.separator) else file.separator
        buffer.write(_text(file, filled, separator))
    return buffer.getvalue()


def _text(file: FileTable, filled: pl.DataFrame, separator: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    if file.texts is None:
        writer.writerow(filled.columns)
        writer.writerows(filled.rows())
        return text.getvalue().encode()
    if file.head is not None:
        writer.writerow(file.head)
    columns = [_cells(file.texts[name], file.frame[name], filled[name]) for name in filled.columns]
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


def _cells(texts: pl.Series, before: pl.Series, filled: pl.Series) -> list[Any]:
    cells = texts.to_list()
    places = np.flatnonzero((before.is_null() & filled.is_not_null()).to_numpy())
    if not len(places):
        return cells
    as_written = dict(zip(before.to_list(), cells, strict=True))
    for place, value in zip(places.tolist(), filled.gather(places).to_list(), strict=True):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        cells[place] = as_written.get(value, text)
    return cells
