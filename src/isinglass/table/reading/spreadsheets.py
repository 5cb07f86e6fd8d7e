"""Excel and OpenDocument: the cells of a sheet as texts, which are then read like those of a CSV.

So a column means the same whether it was saved as a sheet or as CSV.
"""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isinglass.errors import FileError, MissingExtra, Setting, SettingError
from isinglass.table.cells import check_names
from isinglass.table.limits import check_size
from isinglass.wording import listing

if TYPE_CHECKING:
    import polars as pl

SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def read_sheet(
    path: Path, data: bytes, sheet: str | None, *, header: bool, max_bytes: int
) -> pl.DataFrame:
    """The cells of a sheet as texts, null where they are empty; by default of the first sheet."""
    _check_unpacked(path, data, max_bytes)
    book = _open(path, data)
    if sheet is not None and sheet not in book.sheet_names:
        raise SettingError(
            *(Setting("sheet"), f" names {sheet!r}, but {path} has the sheets "),
            f"{listing([repr(name) for name in book.sheet_names], 8)}.",
        )
    try:
        loaded = book.load_sheet(0 if sheet is None else sheet, header_row=None, dtypes="string")
        cells = loaded.to_polars()
    except Exception as error:  # as above
        raise _damaged(path) from error
    return _named(path, _without_blank_lines(cells), header)


def _open(path: Path, data: bytes) -> Any:
    try:
        import fastexcel
    except ImportError as error:
        raise MissingExtra(
            f"{path}: spreadsheets need fastexcel: pip install 'isinglass[files]'"
        ) from error
    try:
        return fastexcel.read_excel(data)
    except Exception as error:  # a damaged file can make it fail in many ways
        raise _damaged(path) from error


def _damaged(path: Path) -> FileError:
    return FileError(
        f"{path} is damaged, password-protected, or not a spreadsheet; save it again, or as CSV."
    )


def _check_unpacked(path: Path, data: bytes, max_bytes: int) -> None:
    """A file of a few bytes can unpack to gigabytes."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            check_size(path, sum(part.file_size for part in parts.infolist()), max_bytes)
    except zipfile.BadZipFile:
        return  # the older .xls is not packed; what is damaged is found out next


def _without_blank_lines(cells: pl.DataFrame) -> pl.DataFrame:
    """Without rows and columns in which no cell is filled."""
    import polars as pl

    if not cells.width or not cells.height:
        return cells
    cells = cells.filter(~pl.all_horizontal(pl.all().is_null()))
    return cells.select(column for column in cells if column.null_count() < cells.height)


def _named(path: Path, cells: pl.DataFrame, header: bool) -> pl.DataFrame:
    if not cells.width:
        raise FileError(f"{path}: the sheet is empty; a table needs a header and one row.")
    names = [str(cell or "").strip() for cell in cells.row(0)] if header else [""] * cells.width
    names = [name or f"x{position}" for position, name in enumerate(names)]
    if any(count > 1 for count in Counter(names).values()):
        check_names(names)
    cells.columns = names
    return cells.slice(1) if header else cells
