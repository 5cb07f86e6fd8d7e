"""The rows of large files as numbers of labels, some at a time: by text, or by frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core.texts import FEW, MANY, NOTHING, FrameCoder, TextCoder
from isinglass.errors import FileError
from isinglass.table.packed.labels import ColumnLabels
from isinglass.table.reading.blocks import ColumnarFile, TextFile, files_of
from isinglass.table.reading.columnar import with_nulls
from isinglass.table.reading.delimited import (
    DELIMITERS,
    may_have_short_rows,
    parsed,
    parsed_again,
)
from isinglass.table.reading.opening import ending
from isinglass.table.reading.second_look import Layout, find_fault

if TYPE_CHECKING:
    import polars as pl


#: Numbers of labels, for each column that has few, and for each that may have many.
Numbered = tuple[list[NDArray[np.uint8]], list[NDArray[np.uint32]]]


@dataclass(frozen=True)
class SomeRows:
    """Rows that are coded: numbers of labels for each column, and the share of all that is read."""

    few: list[NDArray[np.uint8]]
    many: list[NDArray[np.uint32]]
    share: float

    @property
    def rows(self) -> int:
        """How many."""
        return len((self.few or self.many)[0])


@dataclass(frozen=True)
class Wanted:
    """The labels of the columns that are read: of those that have few, and of those with many."""

    few: list[ColumnLabels]
    many: list[ColumnLabels] = field(default_factory=list)


def open_files(path: Path, *, sep: Any, encoding: str, header: bool) -> TextFiles | FrameFiles:
    """A file, or all files of a folder, which have the same columns."""
    paths = files_of(path)
    files: list[Any]
    if ending(paths[0]) in DELIMITERS:
        files = [TextFile.open(each, sep, encoding, header) for each in paths]
    else:
        files = [ColumnarFile.open(each) for each in paths]
    for each in files[1:]:
        if each.names != files[0].names:
            raise FileError(
                f"{each.path} has other columns than {files[0].path}; files of one folder have the "
                "same columns in the same order."
            )
    sizes = [each.stat().st_size for each in paths]
    return (TextFiles if ending(paths[0]) in DELIMITERS else FrameFiles)(files, sizes)


@dataclass(frozen=True)
class _Files:
    files: list[Any]
    sizes: list[int]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        found: tuple[str, ...] = self.files[0].names
        return found

    def _share(self, number: int, within: float) -> float:
        """The share of all bytes that is read, of a file and within it."""
        done = sum(self.sizes[:number]) + within * self.sizes[number]
        return float(done / max(sum(self.sizes), 1))


@dataclass(frozen=True)
class FrameFiles(_Files):
    """Parquet or Arrow files."""

    def dtype(self, name: str) -> Any:
        """The type of a column."""
        return self.files[0].schema[name]

    def read(self, wanted: Wanted, words: Sequence[str], _room: int) -> Iterator[SomeRows]:
        """Rows as they come; cells that are one of the words are null."""
        names = [labels.name for labels in (*wanted.few, *wanted.many)]
        for number, file in enumerate(self.files):
            done, reader = 0, _FrameReader(wanted, file.schema)
            for frame in file.frames(names):
                done += frame.height
                share = self._share(number, done / max(file.rows, 1))
                yield SomeRows(*reader.coded(with_nulls(frame, words)), share)


class _FrameReader:
    """Frames of one kind: a coder of the core numbers whole numbers and texts."""

    def __init__(self, wanted: Wanted, schema: Mapping[str, Any]) -> None:
        self.wanted = wanted
        self.names = [labels.name for labels in wanted.few]
        self.coder = FrameCoder([schema[name] for name in self.names])
        self.numbers = _Numbers(wanted.few)
        self.room = np.empty((0, len(self.names)), dtype=np.uint8, order="F")

    def coded(self, frame: pl.DataFrame) -> Numbered:
        """The numbers of all cells of a frame; those of the next frame take their place."""
        if frame.height > len(self.room):
            self.room = np.empty((frame.height, len(self.names)), dtype=np.uint8, order="F")
        codes = self.room[: frame.height]
        own = frame if frame.columns == self.names else frame.select(self.names)
        done = self.coder.code(own, codes) if self.names else ()
        self.numbers.learn(self.coder.sizes(), self.coder.labels)
        few = [
            self.numbers.of(k, codes[:, k])
            if done[k]
            else labels.code(frame[labels.name]).astype(np.uint8)
            for k, labels in enumerate(self.wanted.few)
        ]
        many = [labels.code(frame[labels.name]).astype(np.uint32) for labels in self.wanted.many]
        return few, many


class _Numbers:
    """Numbers that a coder gave to what it saw become those of the labels."""

    def __init__(self, labels: Sequence[ColumnLabels]) -> None:
        self.labels = labels
        self.tables: list[NDArray[np.uint32]] = [np.zeros(0, dtype=np.uint32) for _ in labels]
        self.same = [True] * len(self.tables)

    def learn(self, sizes: Iterable[int], seen: Callable[[int, int], Sequence[Any]]) -> None:
        """Number what is new: `seen(k, start)` is what the coder saw in a column, from a number."""
        for k, (labels, size) in enumerate(zip(self.labels, sizes, strict=True)):
            known = len(self.tables[k])
            if size > known:
                numbers = labels.numbers(seen(k, known)).astype(np.uint32)
                table = self.tables[k] = np.concatenate([self.tables[k], numbers])
                self.same[k] = len(table) <= 256 and np.array_equal(table, np.arange(len(table)))

    def of(self, k: int, codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The numbers of a column, in bytes."""
        return codes if self.same[k] else self.tables[k].astype(np.uint8)[codes]


@dataclass(frozen=True)
class TextFiles(_Files):
    """Separated text: a coder of the core numbers the cells where there are no quotes."""

    def dtype(self, name: str) -> Any:
        """Text, until all labels are known."""
        import polars as pl

        return pl.String()

    def read(self, wanted: Wanted, _words: Sequence[str], room: int) -> Iterator[SomeRows]:
        """Rows as they come, as many at a time as there is room for."""
        place = {labels.name: FEW for labels in wanted.few}
        place |= {labels.name: MANY for labels in wanted.many}
        kept = [place.get(name, NOTHING) for name in self.names]
        for number, file in enumerate(self.files):
            reader = _TextReader(file, wanted, kept, room)
            for rows in reader.read():
                share = self._share(number, file.share_read())
                yield SomeRows(*rows, share)


class _TextReader:
    """One file of text: numbers of the coder become those of the labels."""

    def __init__(self, file: TextFile, wanted: Wanted, kept: Sequence[int], room: int) -> None:
        self.file, self.wanted, self.layout = file, wanted, file.layout
        self.coder = TextCoder(kept, file.layout.delimiter.encode())
        # Columns begin at odd distances: at powers of two they would take each other's place in
        # the cache while a row is written.
        self.few = np.zeros((room + 64, len(wanted.few)), dtype=np.uint8, order="F")
        self.many = np.zeros((room + 64, len(wanted.many)), dtype=np.uint32, order="F")
        names = file.names
        every = (*wanted.few, *wanted.many)
        self.at = [names.index(labels.name) for labels in every]
        self.numbers = _Numbers(every)
        self.lines = 0

    def read(self) -> Iterator[Numbered]:
        for whole in self.file.blocks():
            first = _end_of_header(whole) if self.lines == 0 and self.layout.header else 0
            self.lines += whole.count(b"\n", 0, first)
            block = whole[first:]
            yield from self._with_quotes(block) if b'"' in block else self._plain(block)
            self.lines += block.count(b"\n")

    def _plain(self, block: bytes) -> Iterator[Numbered]:
        start = 0
        while start < len(block):
            rows, taken, broken = self.coder.code(block, start, self.few, self.many, 0)
            start += taken
            if rows:
                self.numbers.learn(self.coder.sizes()[self.at], self._seen)
                yield self._translated(rows)
            if broken:
                raise self._fault(block[start:], self.lines + block.count(b"\n", 0, start))

    def _seen(self, k: int, start: int) -> list[str | None]:
        name = self.numbers.labels[k].name
        return [self._decoded(text, name) for text in self.coder.texts(self.at[k], start)]

    def _decoded(self, text: bytes, name: str) -> str | None:
        try:
            found = text.decode()
        except UnicodeDecodeError:
            raise FileError(
                f"{self.file.path}, column {name!r}: bytes that are not UTF-8. Save the file in "
                "UTF-8, or give its encoding."
            ) from None
        if "\0" in found:
            raise FileError(
                f"{self.file.path}, column {name!r}: a NUL byte. Save the file as plain text."
            )
        return found or None

    def _translated(self, rows: int) -> Numbered:
        split = len(self.wanted.few)
        few = [self.numbers.of(k, self.few[:rows, k]) for k in range(split)]
        tables = self.numbers.tables[split:]
        return few, [table[self.many[:rows, k]] for k, table in enumerate(tables)]

    def _with_quotes(self, block: bytes) -> Iterator[Numbered]:
        layout = Layout(self.layout.delimiter, False, self.layout.names)
        frame = None if b"\0" in block else parsed(block, layout)
        if frame is None or may_have_short_rows(block, layout, frame):
            if find_fault(block, self.layout):
                raise self._fault(block, self.lines)
            frame = parsed_again(self.file.path, block, layout, frame)
        yield _FrameReader(self.wanted, frame.schema).coded(frame)

    def _fault(self, block: bytes, before: int) -> FileError:
        fault = find_fault(block, self.layout, before) or ("a row cannot be read.",)
        return FileError(f"{self.file.path}, ", *fault)


def _end_of_header(block: bytes) -> int:
    """Where the first row that is not blank ends."""
    end, seen = 0, False
    while not seen or block.count(b'"', 0, end) % 2:
        begin, end = end, block.find(b"\n", end) + 1
        seen = seen or bool(block[begin:end].strip())
    return end
