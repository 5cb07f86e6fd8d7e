"""A table from a file, written again with some of its missing cells filled, and nothing else."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass.table.reading.columnar import ARROW, PARQUET
from isinglass.table.reading.delimited import DELIMITERS
from isinglass.table.reading.read import FileTable

if TYPE_CHECKING:
    import polars as pl


def written_back(file: FileTable, filled: pl.DataFrame, path: Path) -> bytes:
    """The content of a file at `path`: the table that was read, with the cells of `filled`.

    Parquet and Arrow by the ending of the path, otherwise text. A cell of text that was there
    comes back as it was written; one that is filled is written as its value is elsewhere in the
    column.
    """
    suffix = path.suffix.lower()
    buffer = io.BytesIO()
    if suffix in PARQUET:
        filled.write_parquet(buffer)
    elif suffix in ARROW:
        filled.write_ipc(buffer)
    else:
        buffer.write(_text(file, filled, _separator(file, suffix)))
    return buffer.getvalue()


def _separator(file: FileTable, suffix: str) -> str:
    usual = DELIMITERS.get(suffix, file.separator)
    return usual if usual == "\t" or file.separator == "\t" else file.separator


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
        cells[place] = as_written[value] if value in as_written else _as_text(value)
    return cells


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
