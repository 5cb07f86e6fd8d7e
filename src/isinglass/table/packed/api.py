"""Packed tables as the rest of the package meets them: made from files, opened, or unpacked."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import cores
from isinglass.core.elsewhere import Chunk
from isinglass.errors import SettingError
from isinglass.parameters import checked
from isinglass.table.column import Note, about_column, about_rows
from isinglass.table.limits import memory, most_bytes
from isinglass.table.packed.folder import (
    BITS,
    PackedRows,
    check_place,
    open_bits,
    table_of_chunks,
    write_bits,
)
from isinglass.table.packed.settle import Settled
from isinglass.table.packed.store import Store, full_disk, in_turn, row_marks
from isinglass.table.packed.stream import Encoding, Reading, Watch, stream
from isinglass.table.reading.blocks import STREAMED, ColumnarFile, files_of
from isinglass.table.reading.columnar import ARROW, PARQUET
from isinglass.table.reading.delimited import DELIMITERS
from isinglass.table.reading.opening import ending
from isinglass.table.reading.read import DEFAULT_NA, check_encoding, na_words
from isinglass.table.table import Table

#: The share of the memory that the codes of a table may take, a byte for each cell.
_SHARE = 1 / 8
#: How many times its size a gzipped text unpacks to, about.
_GZIPPED = 4


@checked
def pack(
    path: str | PathLike[str],
    out: str | PathLike[str],
    *,
    na: str | Iterable[str] = DEFAULT_NA,
    header: bool = True,
    sep: str | None = None,
    encoding: str = "utf-8",
    codebook: Any = None,
    missing_codes: Mapping[str, Sequence[Any]] | None = None,
    order: Mapping[str, Sequence[str]] | None = None,
    drop: Sequence[str] | None = None,
    sample_weight: str | None = None,
    missing: str = "error",
    bins: Mapping[Any, int | Sequence[float]] | None = None,
    max_states: int = 32,
    high: Mapping[Any, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Table:
    r"""Pack a large file into a folder of bits, from which fits start at once.

    The file is read once, some rows at a time, so that neither the table nor its bits have to fit
    into memory; twice, if columns are cut at quantiles. States are fixed here: missing values, bins
    and weights cannot be changed in a fit of the packed table.

    Parameters
    ----------
    path : str or path
        A CSV, TSV, Parquet or Arrow file, text also gzipped; or a folder of files of one kind,
        which have the same columns.
    out : str or path
        The folder to write, which ends with ``.bits``; written whole or not at all.
    na, header, sep, encoding, codebook, missing_codes, order
        As in :func:`read_table`.
    drop : list of str, optional
        Columns to leave out.
    sample_weight : str, optional
        The column of weights, which are counts.
    missing : "error", "drop" or "state"
        How to treat missing values; see :class:`GreedyGraph`.
    bins, max_states, high
        As in :class:`GreedyGraph`.
    progress : function of (rows done, rows in all, about), optional

    Returns
    -------
    Table
        The packed table, to be given to `GreedyGraph.fit`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import isinglass as ig
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "votes.csv")
    ...     _ = path.write_text("tax,school\nyea,yea\nnay,nay\nyea,yea\n")
    ...     table = ig.pack(path, path.with_suffix(".bits"))
    ...     table.names, table.n, ig.GreedyGraph().fit(table).graph_
    (('tax', 'school'), 3.0, Graph(2 columns, 0 edges))
    """
    folder = Path(out)
    check_place(folder)
    check_encoding(encoding)
    reading = Reading(
        na_words(na),
        header,
        sep,
        encoding,
        codebook,
        missing_codes,
        order,
        tuple(drop or ()),
    )
    how = Encoding(sample_weight, missing, bins, max_states, high)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryFile(dir=folder.parent) as file:
            store = Store(file)
            settled = stream(Path(path), store, reading, how, progress or _silent)
            rows = PackedRows.of(settled, in_turn(store))
            write_bits(folder, rows, _notes, made_with=how.settings())
    except OSError as error:
        if isinstance(error, SettingError) or not error.errno:
            raise
        raise full_disk(folder, error) from None
    return open_packed(folder)


def _silent(rows: int, total: int) -> None:
    pass


def _notes(settled: Settled, counts: NDArray[np.float64], n: float) -> tuple[Note, ...]:
    """What is odd, in the order of `encode`."""
    ends = np.cumsum(settled.n_states)[:-1]
    seen = np.split(counts, ends)
    odd = [
        note
        for column, of in zip(settled.columns, seen, strict=True)
        for note in about_column(column, of)
    ]
    return (*settled.notes, *about_rows(settled.columns, n), *odd)


@checked
def open_packed(path: str | PathLike[str]) -> Table:
    r"""Open a table that `pack` wrote, to be given to `GreedyGraph.fit`.

    Sizes and fingerprint are checked when it is opened, and the checksum of each chunk when that is
    first read. A table whose codes take little of the memory is unpacked, and is then as if it had
    been read at once. Of any other the rows stay in the folder: fits count them chunk by chunk, and
    find the same graph and numbers.

    Parameters
    ----------
    path : str or path
        The folder.

    Returns
    -------
    Table

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import isinglass as ig
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "votes.csv")
    ...     _ = path.write_text("tax,school\nyea,yea\nnay,nay\nyea,yea\n")
    ...     _ = ig.pack(path, path.with_suffix(".bits"))
    ...     ig.open_packed(path.with_suffix(".bits")).n_states
    (2, 2)
    """
    return in_memory(open_bits(Path(path), threads=cores()))


def in_memory(table: Table) -> Table:
    """A table with its codes in memory, if they are here and take no more than a share of it."""
    rows = table.elsewhere
    if rows is None or rows.chunks is None or rows.rows * len(table.columns) > memory() * _SHARE:
        return table
    return unpacked(table, rows.rows, rows.chunks())


def unpacked(table: Table, rows: int, chunks: Iterable[Chunk]) -> Table:
    """A table with its codes in memory, whose chunks are given."""
    codes = np.zeros((rows, len(table.columns)), dtype=np.uint8, order="F")
    weights, first = np.ones(rows), 0
    for chunk in chunks:
        here = slice(first, first + chunk.rows)
        if len(chunk.planes):
            digits = row_marks(chunk.planes, chunk.rows)
            weights[here] = (1 << np.arange(len(digits))) @ digits
        at = 0
        for j, m in enumerate(table.n_states):
            for state in range(1, m):
                codes[here, j] += np.uint8(state) * row_marks(chunk.bits[at], chunk.rows)
                at += 1
        first += chunk.rows
    return replace(table, codes=codes, weights=weights, elsewhere=None, known=None, total=None)


def stream_table(
    path: str | PathLike[str],
    reading: Reading,
    encoding: Encoding,
    *,
    threads: int | None = None,
    progress: Watch | None = None,
) -> Table:
    """Read a large file into packed chunks in memory."""
    store = Store()
    settled = stream(Path(path), store, reading, encoding, progress or _silent)
    rows = PackedRows.of(settled, in_turn(store))
    return table_of_chunks(rows, _notes, encoding.settings(), threads=threads or cores())


def is_packed(path: str | PathLike[str]) -> bool:
    """Whether a path names a packed table."""
    return Path(path).suffix == BITS and os.path.isdir(path)


def is_large(path: str | PathLike[str], max_bytes: float | None = None) -> bool:
    """Whether a file is too large to be read at once, and can be read in chunks."""
    path = Path(path)
    if not os.path.exists(path) or is_packed(path):
        return False
    if path.is_dir():
        return any(ending(each) in STREAMED for each in path.iterdir())
    if ending(path) not in STREAMED or max_bytes is not None:
        return False
    if ending(path) in (*PARQUET, *ARROW):
        return path.suffix.lower() != ".gz" and _columnar_cells(path) > most_bytes(None)
    return text_size(path) > most_bytes(None)


def text_size(path: str | PathLike[str]) -> float:
    """Bytes of a text file, about, once it is unpacked; infinite for anything else."""
    path = Path(path)
    if path.is_dir() or ending(path) not in DELIMITERS:
        return math.inf
    return path.stat().st_size * (_GZIPPED if path.suffix.lower() == ".gz" else 1)


def _columnar_cells(path: Path) -> int:
    if path.stat().st_size < 1 << 20:  # a file of few bytes is read at once, or refused there
        return 0
    file = ColumnarFile.open(files_of(path)[0])
    return file.rows * len(file.names)
