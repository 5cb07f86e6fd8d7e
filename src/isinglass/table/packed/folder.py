"""A packed table in a folder: bits of all chunks in one file, and a manifest that describes them.

``manifest.json`` has names, states, counts, the rows and the checksum of every chunk, and a
fingerprint of all that; ``rows.bits`` has the chunks, one after the other. Chunks are read, not
mapped: a file that is cut short while a map of it is read would end the process.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core.elsewhere import (
    Answers,
    Chunk,
    Questions,
    RowsElsewhere,
    answer_chunks,
    searches_together,
    state_counts,
    words_for,
)
from isinglass.errors import FileError, TableError
from isinglass.files import check_folder
from isinglass.table.column import Column, Note
from isinglass.table.packed.settle import Settled
from isinglass.table.packed.store import RawChunk, full_disk
from isinglass.table.table import Table, table_elsewhere

#: The ending of the folder, and the files in it.
BITS = ".bits"
MANIFEST, ROWS = "manifest.json", "rows.bits"
FORMAT = "isinglass-bits/1"


#: What is odd about columns of such states, given the weight of each, and of all rows.
Notes = Callable[[Settled, NDArray[np.float64], float], tuple[Note, ...]]


class PackedRows:
    """Chunks in the states of their columns, and what is counted while they pass by."""

    def __init__(self, settled: Settled, chunks: Iterator[Chunk]) -> None:
        self.settled, self._chunks = settled, chunks
        self.counts = np.zeros(sum(settled.n_states))
        self.parts: list[dict[str, int]] = []

    @classmethod
    def of(cls, settled: Settled, raw: Iterable[RawChunk]) -> PackedRows:
        """From chunks of labels."""
        found = (settled.chunk(each) for each in raw)
        return cls(settled, (chunk for chunk in found if chunk is not None))

    def __iter__(self) -> Iterator[tuple[Chunk, bytes]]:
        for chunk in self._chunks:
            data = chunk.bits.tobytes() + chunk.planes.tobytes()
            self.counts += state_counts(chunk, self.settled.n_states)
            digits = len(chunk.planes)
            self.parts.append({"rows": chunk.rows, "digits": digits, "crc32": zlib.crc32(data)})
            yield chunk, data

    def manifest(self, notes: Notes, made_with: Mapping[str, Any]) -> dict[str, Any]:
        """What is known once all chunks have passed by."""
        weight = float(self.counts[: self.settled.n_states[0]].sum())
        said = notes(self.settled, self.counts, weight)
        content = {
            "format": FORMAT,
            "version": version("isinglass"),
            "columns": [_column(column) for column in self.settled.columns],
            "counts": self.counts.tolist(),
            "chunks": self.parts,
            "notes": [[note.column, note.what, note.done] for note in said],
            "dropped": self.settled.dropped,
            "made_with": dict(made_with),
        }
        return {**content, "fingerprint": _fingerprint(content)}


def write_bits(
    folder: Path, rows: PackedRows, notes: Notes, *, made_with: Mapping[str, Any]
) -> None:
    """Write a packed table, whole or not at all; one that is there already is replaced."""
    check_place(folder)
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        with (aside / ROWS).open("wb") as file:
            for _, data in rows:
                file.write(data)
        content = rows.manifest(notes, made_with)
        (aside / MANIFEST).write_text(json.dumps(content), encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        aside.chmod(0o755)
        aside.rename(folder)
    except OSError as error:
        raise full_disk(folder, error) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def table_of_chunks(
    rows: PackedRows, notes: Notes, made_with: Mapping[str, Any], *, threads: int
) -> Table:
    """A packed table in memory."""
    chunks = [chunk for chunk, _ in rows]
    content = rows.manifest(notes, made_with)
    return _table(content, chunks.__getitem__, threads)


def check_place(folder: Path) -> None:
    """Raise FileError, before any long work, if a packed table could not be put there."""
    if folder.suffix != BITS:
        raise FileError(f"{folder}: a packed table is a folder that ends with {BITS}; name one.")
    check_folder(folder.parent)
    if folder.exists() and not (folder / MANIFEST).is_file():
        raise FileError(f"{folder} already exists and is not a packed table; name another one.")


def _column(column: Column) -> dict[str, Any]:
    states = [[type(state).__name__, _plain(state)] for state in column.states]
    return {
        "name": column.name,
        "states": states,
        "ordered": column.ordered,
        "cuts": column.cuts,
        "scores": column.scores,
    }


def _plain(state: Any) -> Any:
    if state is None or isinstance(state, bool | int | float | str):
        return state
    raise TableError(
        f"a packed table keeps texts, numbers and booleans, and {state!r} is a "
        f"{type(state).__name__}; write that column as text."
    )


def _read_column(said: Mapping[str, Any]) -> Column:
    kinds: dict[str, Callable[[Any], Any]] = {"bool": bool, "int": int, "float": float, "str": str}
    kinds["NoneType"] = lambda _: None
    states = tuple(kinds[kind](state) for kind, state in said["states"])
    lists = (None if said[name] is None else tuple(said[name]) for name in ("cuts", "scores"))
    return Column(said["name"], states, bool(said["ordered"]), *lists)


def _fingerprint(content: Mapping[str, Any]) -> str:
    """Of names, states, counts and the checksums of all rows."""
    said = [content[name] for name in ("format", "columns", "counts", "chunks", "dropped")]
    return f"packed:sha256:{sha256(json.dumps(said).encode()).hexdigest()}"


class BitsFile:
    """The chunks of a packed table in its folder; each is checked when it is first read."""

    def __init__(self, folder: Path, parts: list[Mapping[str, int]], n_states: list[int]) -> None:
        self.path, self.parts, self.n_states = folder / ROWS, parts, n_states
        self.states = sum(n_states) - len(n_states)
        sizes = [8 * words_for(part["rows"]) * (self.states + part["digits"]) for part in parts]
        self.begin = np.cumsum([0, *sizes])
        self.checked = np.zeros(len(parts), dtype=bool)

    def check_size(self) -> None:
        """Raise FileError unless the file is as long as the manifest says."""
        try:
            found = self.path.stat().st_size
        except OSError as error:
            raise FileError(f"{self.path} cannot be opened: {error.strerror}.") from None
        if found != self.begin[-1]:
            raise FileError(
                f"{self.path} has {found:,} bytes where its manifest says {self.begin[-1]:,}; "
                "pack the table again."
            )

    def load(self, number: int) -> Chunk:
        """Read a chunk."""
        begin, end = int(self.begin[number]), int(self.begin[number + 1])
        part = self.parts[number]
        try:
            with self.path.open("rb") as file:
                file.seek(begin)
                data = file.read(end - begin)
        except OSError as error:
            raise FileError(f"{self.path} cannot be read: {error.strerror}.") from None
        sound = len(data) == end - begin
        if sound and not self.checked[number]:
            sound = self.checked[number] = zlib.crc32(data) == part["crc32"]
        if not sound:
            raise FileError(
                f"{self.path} is damaged, or changed while it was read; pack the table again."
            )
        words = words_for(part["rows"])
        both = np.frombuffer(data, dtype=np.uint64).reshape(-1, words)
        return Chunk(both[: self.states], both[self.states :], part["rows"])


def elsewhere_in(
    load: Callable[[int], Chunk],
    parts: list[tuple[int, int]],
    n_states: list[int],
    counts: NDArray[np.float64],
    threads: int,
) -> RowsElsewhere:
    """Chunks that are loaded one by one, of so many rows and digits, as rows that are elsewhere."""
    stopped = threading.Event()
    weight = float(counts[: n_states[0]].sum())

    def answer(questions: Questions) -> Answers:
        return answer_chunks(
            load,
            len(parts),
            n_states,
            questions,
            weight=weight,
            threads=threads,
            stopped=stopped,
        )

    rows = sum(rows for rows, _ in parts)
    digits = max((digits for _, digits in parts), default=0)
    return RowsElsewhere(
        *(n_states, counts, rows, answer, stopped.set, digits, searches_together()),
        start=stopped.clear,
        chunks=lambda: map(load, range(len(parts))),
    )


def open_bits(folder: Path, *, threads: int) -> Table:
    """Open a packed table whose rows stay in its file."""
    content = read_manifest(folder)
    n_states = [len(column["states"]) for column in content["columns"]]
    file = BitsFile(folder, content["chunks"], n_states)
    file.check_size()
    return _table(content, file.load, threads)


def _table(content: Mapping[str, Any], load: Callable[[int], Chunk], threads: int) -> Table:
    """The table that a manifest is about, and its chunks by number."""
    columns = tuple(map(_read_column, content["columns"]))
    parts = [(part["rows"], part["digits"]) for part in content["chunks"]]
    counts = np.array(content["counts"], dtype=np.float64)
    n_states = [len(column.states) for column in columns]
    return table_elsewhere(
        elsewhere_in(load, parts, n_states, counts, threads),
        columns,
        fingerprint=content["fingerprint"],
        library="polars",
        notes=tuple(Note(*note) for note in content["notes"]),
        dropped=content["dropped"],
        made_with=content["made_with"],
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a packed table says of itself; FileError if that is not sound."""
    path = folder / MANIFEST
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        known = content["format"] == FORMAT
        sound = known and content["fingerprint"] == _fingerprint(content)
    except OSError as error:
        raise FileError(f"{folder} is not a packed table: {path.name}: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        known, sound = True, False
    if not known:
        raise FileError(
            f"{folder} is packed in the format {content['format']!r}; this version knows "
            f"{FORMAT!r}. Pack the table again."
        )
    if not sound:
        raise FileError(f"{path} is damaged; pack the table again.")
    return content
