"""Tables as sheets of an Excel workbook."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from isinglass.errors import MissingExtra, SettingError

#: Rows that a sheet of Excel can have, its head included.
MOST_ROWS = 1_048_576
#: Letters of the widest column.
_WIDEST = 40

Sheet = tuple[Sequence[str], Iterable[Sequence[Any]]]


def workbook(sheets: Mapping[str, Sheet]) -> bytes:
    """The content of an .xlsx file: one sheet for each table, given as its head and its rows.

    Texts stay texts: a name such as "=1+1" is no formula. The head stays in sight, and can filter.

    >>> workbook({"edges": (["source", "target"], [["a", "b"]])})[:2]
    b'PK'
    """
    try:
        import xlsxwriter
    except ImportError as error:
        raise MissingExtra(
            "writing Excel files needs xlsxwriter: pip install 'isinglass[files]'"
        ) from error
    buffer = io.BytesIO()
    plain = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(buffer, {"in_memory": True, **plain}) as book:
        bold = book.add_format({"bold": True, "bottom": 1})
        for name, (head, rows) in sheets.items():  # without any, the book gets an empty one
            _write(book.add_worksheet(name), bold, head, list(rows))
    return buffer.getvalue()


def _write(sheet: Any, bold: Any, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    if len(rows) >= MOST_ROWS:
        raise SettingError(f"a sheet of Excel has at most {MOST_ROWS:,} rows; write CSV instead.")
    sheet.write_row(0, 0, head, bold)
    for number, row in enumerate(rows, start=1):
        for at, cell in enumerate(row):
            if isinstance(cell, str):
                sheet.write_string(number, at, cell)
            elif cell is not None:
                sheet.write(number, at, cell)
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, len(rows), len(head) - 1)
    for at, title in enumerate(head):
        longest = max([len(title) + 3, *(len(str(row[at])) for row in rows[:200])])
        sheet.set_column(at, at, min(longest, _WIDEST))
