"""A slow, careful look at separated text, to say which row and column is broken.

It streams: one row of cells is in memory at a time. Rows are numbered as an editor numbers
lines, so that the number in a message leads to the place.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from isinglass.errors import Part, Setting
from isinglass.wording import counted, quoted


@dataclass(frozen=True)
class Layout:
    """How the cells of a text file are to be found."""

    delimiter: str
    header: bool
    names: tuple[str, ...]
    head: tuple[str, ...] | None = None


class _Broken(csv.Error):
    """A row whose quotes do not match."""

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row}")
        self.row = row


def records(data: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each row's first line in the file, counting from one, and its cells."""
    # Bytes that are not UTF-8 come through as surrogates, to be reported with their place.
    text = io.TextIOWrapper(
        io.BytesIO(data), encoding="utf-8-sig", errors="surrogateescape", newline=""
    )
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    while True:
        row = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            raise _Broken(row) from None
        yield row, cells


def find_fault(data: bytes, layout: Layout, before: int = 0) -> tuple[Part, ...] | None:
    """The first thing that is wrong: where, what, and what to do. None if all is well.

    `before` are the lines of the file before these.
    """
    try:
        faults = (
            _fault(before + row, cells, layout)
            for row, cells in records(data, layout.delimiter)
            if cells
        )
        return next((fault for fault in faults if fault), None)
    except _Broken as broken:
        row = _row(before + broken.row, layout)
        return (
            f'{row}: a quote (") opens there and is not closed, or text '
            "follows where it closes. Correct that row.",
        )


def has_blank_rows(data: bytes, layout: Layout) -> bool:
    """Whether there are lines without anything, which are no rows."""
    return any(not cells for _, cells in records(data, layout.delimiter))


def _fault(row: int, cells: list[str], layout: Layout) -> tuple[Part, ...] | None:
    text = "".join(cells)
    if _has_nul(text):
        cell = _cell(row, cells, layout, _has_nul)
        return (f"{cell}: a NUL byte. Save the file as plain text.",)
    if is_not_utf8(text):
        cell = _cell(row, cells, layout, is_not_utf8)
        return (
            f"{cell}: bytes that are not UTF-8. Save the file in UTF-8, or give its encoding (",
            Setting("encoding", "latin-1"),
            ").",
        )
    if layout.names and len(cells) != len(layout.names):
        return (f"{_row(row, layout)}: {_wrong_width(len(cells), layout)}",)
    return None


def _cell(row: int, cells: list[str], layout: Layout, is_bad: Callable[[str], bool]) -> str:
    position = next(at for at, cell in enumerate(cells) if is_bad(cell))
    # A name that is broken itself is better not repeated.
    named = position < len(layout.names) and not is_bad(layout.names[position])
    column = quoted(layout.names[position]) if named else str(position + 1)
    return f"{_row(row, layout)}, column {column}"


def _wrong_width(found: int, layout: Layout) -> str:
    width = len(layout.names)
    first = "header" if layout.header else "first row"
    says = f"{counted(found, 'cell')} where the {first} has {width}. Correct that row"
    if layout.header and found == width + 1:
        return f"{says}, or name the column of row names in the header."
    return f"{says}."


def _row(row: int, layout: Layout) -> str:
    start = "the header is row 1" if layout.header else "the first line is row 1"
    return f"row {row} ({start})"


def _has_nul(cell: str) -> bool:
    return "\0" in cell


def is_not_utf8(text: str) -> bool:
    """Whether the text holds bytes that were no UTF-8, as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
