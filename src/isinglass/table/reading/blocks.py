"""Files that are read block by block: whole rows of text, or frames of some rows."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from isinglass.errors import FileError
from isinglass.table.cells import check_names
from isinglass.table.reading.columnar import ARROW, PARQUET, damaged
from isinglass.table.reading.delimited import DELIMITERS, delimiter_of, first_look
from isinglass.table.reading.opening import ending, opened, why_not
from isinglass.table.reading.second_look import Layout

if TYPE_CHECKING:
    import polars as pl

#: Bytes of text that are read at once.
BLOCK = 1 << 22
#: Cells of a frame that is read at once, about, so that they stay in the cache; its rows are a
#: multiple of these.
FRAME_CELLS, FRAME_ROWS = 1 << 22, 4096
#: Endings of files that are read block by block.
STREAMED = (*DELIMITERS, *PARQUET, *ARROW)


@dataclass(frozen=True)
class Version:
    """What tells whether a file is still the same: its size and when it was written."""

    path: Path
    size: int
    written: int

    @classmethod
    def of(cls, path: Path) -> Version:
        """As it is now."""
        try:
            found = os.stat(path)
        except OSError as error:
            raise FileError(f"{path}{why_not(error)}.") from error
        return cls(path, found.st_size, found.st_mtime_ns)

    def check(self) -> None:
        """Raise FileError if the file has changed."""
        if Version.of(self.path) != self:
            raise FileError(
                f"{self.path} changed while it was read; wait until it is written, and start again."
            )


def files_of(path: Path) -> list[Path]:
    """The files of a folder, in the order of their names, or the file itself."""
    if not path.is_dir():
        return [path]
    found = sorted(each for each in path.iterdir() if ending(each) in STREAMED)
    if not found:
        raise FileError(
            f"{path} is a folder without a table; known are files that end with "
            f"{', '.join(STREAMED)}."
        )
    if len({ending(each) for each in found}) > 1:
        raise FileError(
            f"{path} holds files of several kinds, {found[0].name} and others; keep those of one "
            "kind in it."
        )
    return found


@dataclass(frozen=True)
class TextFile:
    """A text file, read in blocks of whole rows; its first rows say how it is laid out."""

    path: Path
    encoding: str
    layout: Layout
    position: list[float] = field(default_factory=lambda: [0.0])

    @classmethod
    def open(cls, path: Path, sep: str | None, encoding: str, header: bool) -> TextFile:
        """Look at the beginning of a file."""
        start = next(_decoded(path, encoding), b"")
        if not start.strip():
            raise FileError(f"{path} is empty; a table needs a header and at least one row.")
        delimiter = sep or delimiter_of(start, DELIMITERS[ending(path)])
        head = start[: start.rfind(b"\n") + 1] or start
        return cls(path, encoding, first_look(path, head, delimiter, header))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.layout.names

    def blocks(self) -> Iterator[bytes]:
        """Blocks of whole rows, each of which ends with a newline; the header is the first."""
        left = b""
        version = Version.of(self.path)
        for data in _decoded(self.path, self.encoding, self.position):
            left += data
            end = _end_of_rows(left)
            if end:
                yield left[:end]
                left = left[end:]
            version.check()
        if left:
            yield left + b"\n"

    def share_read(self) -> float:
        """The share of the file's bytes that is read."""
        return self.position[0] / max(Version.of(self.path).size, 1)


def _end_of_rows(data: bytes) -> int:
    """Where the last whole row ends: at a newline that is not within quotes."""
    end = data.rfind(b"\n") + 1
    if b'"' not in data:
        return end
    while end and data.count(b'"', 0, end) % 2:
        end = data.rfind(b"\n", 0, end - 1) + 1
    return end


def _decoded(path: Path, encoding: str, position: list[float] | None = None) -> Iterator[bytes]:
    """The content of a file in UTF-8, without a mark at its beginning, some bytes at a time."""
    name = codecs.lookup(encoding).name
    plain = name in ("utf-8", "utf-8-sig")
    decoder = codecs.getincrementaldecoder("utf-8" if plain else encoding)()
    with opened(path) as stream:
        first, lonely = True, False
        for data in _reads(path, stream):
            text = data
            if not plain:
                text = decoder.decode(data).encode()
            if first:
                text = text.removeprefix(codecs.BOM_UTF8)
                lonely = b"\n" not in text and b"\r" in text
                first = False
            if position is not None:
                position[0] = getattr(stream, "fileobj", stream).tell()
            yield text.replace(b"\r", b"\n") if lonely else text


def _reads(path: Path, stream: IO[bytes]) -> Iterator[bytes]:
    try:
        while data := stream.read(BLOCK):
            yield data
    except (OSError, EOFError, ValueError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{path}{why_not(error)}.") from error


@dataclass(frozen=True)
class ColumnarFile:
    """A Parquet or Arrow file, read in frames of some rows."""

    path: Path
    schema: dict[str, Any]
    rows: int

    @classmethod
    def open(cls, path: Path) -> ColumnarFile:
        """Look at the types of its columns."""
        import polars as pl

        Version.of(path)  # whether it is there
        with damaged(path, ending(path)):
            lazy = cls._scan(path)
            schema = dict(lazy.collect_schema())
            rows = lazy.select(pl.len()).collect().item()
        check_names(list(schema))
        return cls(path, schema, int(rows))

    @staticmethod
    def _scan(path: Path) -> pl.LazyFrame:
        import polars as pl

        scan = pl.scan_parquet if ending(path) in PARQUET else pl.scan_ipc
        return scan(path)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema)

    def frames(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Some columns, some rows at a time."""
        version = Version.of(self.path)
        step = max(FRAME_CELLS // max(len(columns), 1) // FRAME_ROWS, 1) * FRAME_ROWS
        with damaged(self.path, ending(self.path)):
            lazy = self._scan(self.path).select(list(columns))
            for start in range(0, self.rows, step):
                frame = lazy.slice(start, step).collect()
                version.check()
                yield frame
