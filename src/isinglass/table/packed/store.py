"""Chunks of rows as they come, in memory or in a file, before the states are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from isinglass.core.elsewhere import Chunk, pack_chunk, words_for
from isinglass.errors import FileError
from isinglass.table.packed.labels import ColumnLabels


@dataclass(frozen=True)
class RawChunk:
    """Packed rows whose codes number labels; there were so many of these when they were packed."""

    chunk: Chunk
    n_labels: tuple[int, ...]

    @cached_property
    def begins(self) -> list[int]:
        """Where the rows of bits of each column begin."""
        return [0, *accumulate(count - 1 for count in self.n_labels)]


@dataclass
class Store:
    """Packed chunks, one after the other: in memory, or in a file that is open for reading too."""

    file: IO[bytes] | None = None
    held: list[RawChunk] = field(default_factory=list)
    _begin: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.held)

    @property
    def rows(self) -> int:
        """Rows of all chunks."""
        return sum(raw.chunk.rows for raw in self.held)

    def add(self, raw: RawChunk) -> None:
        """Keep one more chunk; OSError if the disk is full."""
        if self.file is None:
            self.held.append(raw)
            return
        self._begin.append(self.file.tell())
        self.file.write(raw.chunk.bits.tobytes())
        self.file.write(raw.chunk.planes.tobytes())
        shapes = raw.chunk.bits[:, :0], raw.chunk.planes[:, :0]
        self.held.append(RawChunk(Chunk(*shapes, raw.chunk.rows), raw.n_labels))

    def take(self, number: int) -> RawChunk:
        """One of the chunks; it need not be kept any longer, if it was in memory."""
        raw = self.held[number]
        if self.file is None:
            empty = Chunk(raw.chunk.bits[:0], raw.chunk.planes[:0], raw.chunk.rows)
            self.held[number] = RawChunk(empty, raw.n_labels)
            return raw
        return self.look_at(number)

    def look_at(self, number: int) -> RawChunk:
        """One of the chunks."""
        raw = self.held[number]
        if self.file is None:
            return raw
        words = words_for(raw.chunk.rows)
        states, digits = len(raw.chunk.bits), len(raw.chunk.planes)
        self.file.seek(self._begin[number])
        data = self.file.read(8 * words * (states + digits))
        both = np.frombuffer(data, dtype=np.uint64).reshape(-1, words)
        return RawChunk(Chunk(both[:states], both[states:], raw.chunk.rows), raw.n_labels)


class Packer:
    """Rows of numbers of labels, packed chunk by chunk; whoever adds rows fills the buffers."""

    def __init__(self, labels: list[ColumnLabels], store: Store, chunk_rows: int) -> None:
        self.labels, self.store = labels, store
        self.codes = np.zeros((chunk_rows, len(labels)), dtype=np.uint8, order="F")
        self.weights = np.ones(chunk_rows)
        self.filled = 0

    @property
    def room(self) -> int:
        """Rows that the buffers can still take."""
        return len(self.codes) - self.filled

    def add(self, columns: list[NDArray[np.integer]], weights: NDArray[np.float64] | None) -> None:
        """Add rows, a list of their numbers for each column."""
        rows, done = len(columns[0]), 0
        while done < rows:
            count = min(rows - done, self.room)
            here, there = slice(self.filled, self.filled + count), slice(done, done + count)
            for j, column in enumerate(columns):
                self.codes[here, j] = column[there]
            self.weights[here] = 1.0 if weights is None else weights[there]
            done += count
            self.took(count)

    def took(self, rows: int) -> None:
        """So many more rows are in the buffers."""
        self.filled += rows
        if not self.room:
            self.flush()

    def flush(self) -> None:
        """Pack what is in the buffers."""
        if not self.filled:
            return
        n_labels = tuple(max(len(labels), 1) for labels in self.labels)
        rows = slice(None, self.filled)
        weights = self.weights[rows]
        # A weight of zero is packed like any other: such rows are left out later.
        chunk = pack_chunk(self.codes[rows], weights, n_labels)
        self.store.add(RawChunk(chunk, n_labels))
        self.filled = 0


def bits_of_label(raw: RawChunk, column: int, label: int) -> NDArray[np.uint64]:
    """The rows of a label, by its number."""
    own = raw.chunk.bits[raw.begins[column] : raw.begins[column + 1]]
    if label >= raw.n_labels[column]:
        return np.zeros(words_for(raw.chunk.rows), dtype=np.uint64)
    if label:
        return np.asarray(own[label - 1])
    return np.asarray(every_row(raw.chunk.rows) & ~np.bitwise_or.reduce(own, axis=0, initial=0))


@lru_cache(maxsize=1)
def every_row(rows: int) -> NDArray[np.uint64]:
    """Bits of all rows, to be looked at only."""
    marks = np.zeros(64 * words_for(rows), dtype=np.uint8)
    marks[:rows] = 1
    bits = np.packbits(marks, bitorder="little").view(np.uint64)
    bits.flags.writeable = False
    return bits


def row_marks(bits: NDArray[np.uint64], rows: int) -> NDArray[np.bool_]:
    """Bits of rows as an array of booleans, rows along the last axis."""
    octets = np.ascontiguousarray(bits).view(np.uint8)
    marks = np.unpackbits(octets, axis=-1, bitorder="little")
    return np.asarray(marks[..., :rows].astype(bool))


def some_rows(bits: NDArray[np.uint64], rows: int, keep: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The bits of some of the rows."""
    left = row_marks(bits, rows)[:, keep]
    padded = np.zeros((len(bits), 64 * words_for(left.shape[1])), dtype=np.uint8)
    padded[:, : left.shape[1]] = left
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def in_turn(store: Store) -> Iterator[RawChunk]:
    """All chunks, each of which is let go."""
    for number in range(len(store)):
        yield store.take(number)


def full_disk(folder: Path, error: OSError) -> FileError:
    """What is said where a file cannot be written to its end."""
    return FileError(f"cannot write to {str(folder)!r}: {error.strerror or error}.")
