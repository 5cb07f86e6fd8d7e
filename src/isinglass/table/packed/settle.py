"""From numbered labels to states, once all rows are there, and chunks of these states.

Each column goes the way that a whole table goes, with one row per label: types, labels of a
codebook, bins, order, the missing state. So states and codes are those of the table in memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core.elsewhere import Chunk
from isinglass.core.gate import MAX_STATES
from isinglass.errors import Setting, TableError
from isinglass.table.cells import open_frame
from isinglass.table.codebook import Codebook, Variable
from isinglass.table.coding.bins import Cuts, bin_factor, cut_points
from isinglass.table.coding.factor import MISSING, Factor, factorise
from isinglass.table.coding.states import check_finite, learn_states
from isinglass.table.column import Column, Note
from isinglass.table.limits import check_limits
from isinglass.table.packed.labels import ColumnLabels
from isinglass.table.packed.store import (
    RawChunk,
    Store,
    bits_of_label,
    every_row,
    row_marks,
    some_rows,
)
from isinglass.table.reading.delimited import with_type
from isinglass.table.rows import about_dropped, about_missing, refuse_missing
from isinglass.wording import counted


@dataclass(frozen=True)
class Meaning:
    """How labels of a file are read: words for missing values, in text files, and a codebook."""

    words: Sequence[str] | None
    codebook: Codebook
    _known: dict[Hashable, Factor] = field(default_factory=dict, repr=False)

    def factor(self, labels: ColumnLabels) -> Factor:
        """The labels of a column as a column with one row per label.

        Most columns have the same labels as others, and the codebook says nothing of them.
        """
        said = self.codebook[labels.name]
        codebook = Codebook({} if said == Variable() else {labels.name: said})
        if codebook or len(labels) > MAX_STATES:
            return self._look_up(labels, codebook)
        alike = labels.dtype, tuple(map(type, labels.values)), tuple(labels.values)
        if alike not in self._known:
            self._known[alike] = self._look_up(labels, codebook)
        return self._known[alike]

    def _look_up(self, labels: ColumnLabels, codebook: Codebook) -> Factor:
        cells = labels.series()
        if self.words is not None:
            texts = codebook.without_missing(cells.to_frame()) if codebook else cells.to_frame()
            cells = with_type(texts[labels.name], self.words)
        frame = codebook.apply(cells.to_frame()) if codebook else cells.to_frame()
        return factorise(labels.name, open_frame(frame).cells(0))


def binned(name: str, factor: Factor, weights: NDArray[np.float64], asked: int | Cuts) -> Cuts:
    """Where to cut a column of numbers, whose labels have so much weight."""
    check_finite(name, factor)
    return cut_points(name, factor, weights, asked)


@dataclass(frozen=True)
class Settled:
    """The states of all columns, what each label became, and which rows are left out."""

    columns: tuple[Column, ...]
    state_of: tuple[NDArray[np.int64], ...]  # of each label; MISSING for those of rows left out
    order: tuple[int, ...]  # where each column stands in the chunks
    dropping: tuple[NDArray[np.bool_], ...] | None  # labels whose rows are dropped; None for none
    dropped: int
    notes: tuple[Note, ...]

    @cached_property
    def n_states(self) -> tuple[int, ...]:
        """Of each column."""
        return tuple(len(column.states) for column in self.columns)

    def chunk(self, raw: RawChunk) -> Chunk | None:
        """A chunk in the states of its columns, without rows that are left out; None if all are.

        It takes over the memory of the chunk of labels, if that can be: what many chunks give back
        one by one is often not used again.
        """
        keep = kept_rows(raw, self.dropping)
        bits = raw.chunk.bits
        if raw.n_labels != self.n_states or not self._same:
            states = np.zeros((len(self._labels), bits.shape[1]), dtype=np.uint64)
            for place, own in enumerate(self._rows(raw)):
                states[place] = own
            if bits.flags.writeable and bits.shape == states.shape:
                bits[:] = states
            else:
                bits = states
        if keep is None:
            return Chunk(bits, raw.chunk.planes, raw.chunk.rows)
        if not keep.any():
            return None
        planes, rows = raw.chunk.planes, raw.chunk.rows
        left = int(keep.sum())
        return Chunk(some_rows(bits, rows, keep), some_rows(planes, rows, keep), left)

    def _rows(self, raw: RawChunk) -> Iterator[NDArray[np.uint64]]:
        for at, labels in self._labels:
            parts = [bits_of_label(raw, at, label) for label in labels]
            yield np.bitwise_or.reduce(parts) if len(parts) > 1 else parts[0]

    @cached_property
    def _same(self) -> bool:
        """Whether states are the labels of their number, and columns are where they stand."""
        labels = [(at, [state]) for at, m in enumerate(self.n_states) for state in range(1, m)]
        return self.order == tuple(range(len(self.columns))) and self._labels == labels

    @cached_property
    def _labels(self) -> list[tuple[int, list[int]]]:
        """The labels of each state but the first of each column, and where the column stands."""
        return [
            (at, np.flatnonzero(states == state).tolist())
            for column, states, at in zip(self.columns, self.state_of, self.order, strict=True)
            for state in range(1, len(column.states))
        ]


def kept_rows(
    raw: RawChunk, dropping: Sequence[NDArray[np.bool_]] | None
) -> NDArray[np.bool_] | None:
    """Which rows of a chunk are kept; None for all: those with weight, and without these labels."""
    everything = every_row(raw.chunk.rows)
    keep = everything.copy()
    if len(raw.chunk.planes):
        keep &= np.bitwise_or.reduce(raw.chunk.planes, axis=0)
    for at, labels in enumerate(dropping or ()):
        for label in np.flatnonzero(labels):
            keep &= ~bits_of_label(raw, at, int(label))
    return None if np.array_equal(keep, everything) else row_marks(keep, raw.chunk.rows)


def settle(
    store: Store,
    labels: Sequence[ColumnLabels],
    order: Sequence[int],
    meaning: Meaning,
    *,
    cuts: Mapping[str, Cuts],
    missing: str,
    max_states: int,
    high: Mapping[str, Any],
) -> Settled:
    """Learn the states of all columns; `order` says where each stands in the chunks."""
    factors = [meaning.factor(each) for each in labels]
    gone = [np.asarray(factor.codes == MISSING) for factor in factors]
    weighted = any(len(raw.chunk.planes) for raw in store.held)
    dropping = _in_chunks(gone, order) if any(map(np.any, gone)) else None
    counts = _count_missing(store, labels, gone, order) if dropping else {}
    rows = _rows_with_weight(store) if weighted else store.rows
    complete = rows
    if dropping and missing in ("error", "drop"):
        complete = _rows_left(store, dropping)
    if counts and missing == "error":
        raise refuse_missing(counts, complete, rows, in_memory=False)
    if counts and missing == "drop" and not complete:
        raise TableError(
            *("no row is complete, so none remains with ", Setting("missing", "drop")),
            ". Drop the columns where most values are missing.",
        )
    dropping = dropping if missing == "drop" else None
    said = counted(rows, "row")
    notes: list[Note] = []
    if counts and missing == "state":
        notes += about_missing(counts, said, missing)
    elif counts:
        notes.append(about_dropped(counts, rows - complete, said))
    if dropping or weighted:
        used = _used_labels(store, labels, dropping, order)
        factors = [_seen(factor, own) for factor, own in zip(factors, used, strict=True)]
    else:
        used = [np.ones(len(each), dtype=bool) for each in labels]
    names = [each.name for each in labels]
    for name, factor in zip(names, factors, strict=True):
        check_finite(name, factor)
    factors = [
        bin_factor(factor, cuts[name]) if name in cuts else factor
        for name, factor in zip(names, factors, strict=True)
    ]
    check_limits(names, factors, max_states, missing)
    columns, state_of = [], []
    for name, factor, own in zip(names, factors, used, strict=True):
        column, codes = learn_states(name, factor, missing, high)
        states = np.full(len(own), MISSING, dtype=np.int64)
        states[own] = codes
        columns.append(replace(column, cuts=cuts.get(name)))
        state_of.append(states)
    return Settled(
        tuple(columns), tuple(state_of), tuple(order), dropping, rows - complete, tuple(notes)
    )


def _in_chunks(
    of_columns: Sequence[NDArray[np.bool_]], order: Sequence[int]
) -> tuple[NDArray[np.bool_], ...]:
    """What is known of columns, in the order in which chunks have them."""
    by_place = dict(zip(order, of_columns, strict=True))
    return tuple(by_place[at] for at in range(len(order)))


def _seen(factor: Factor, used: NDArray[np.bool_]) -> Factor:
    """A column of labels without those that no row has."""
    return factor if used.all() else factor.rows(used)


def _count_missing(
    store: Store,
    labels: Sequence[ColumnLabels],
    gone: Sequence[NDArray[np.bool_]],
    order: Sequence[int],
) -> dict[str, int]:
    """The rows in which each column is missing, of those where some are."""
    counts = {each.name: 0 for each in labels}
    for number in range(len(store)):
        raw = store.look_at(number)
        keep = kept_rows(raw, None)
        for each, marks, at in zip(labels, gone, order, strict=True):
            for label in np.flatnonzero(marks):
                own = row_marks(bits_of_label(raw, at, int(label)), raw.chunk.rows)
                counts[each.name] += int(np.count_nonzero(own if keep is None else own & keep))
    return {name: count for name, count in counts.items() if count}


def _rows_left(store: Store, dropping: Sequence[NDArray[np.bool_]] | None) -> int:
    total = 0
    for number in range(len(store)):
        raw = store.look_at(number)
        keep = kept_rows(raw, dropping)
        total += raw.chunk.rows if keep is None else int(keep.sum())
    return total


def _rows_with_weight(store: Store) -> int:
    return _rows_left(store, None)


def _used_labels(
    store: Store,
    labels: Sequence[ColumnLabels],
    dropping: Sequence[NDArray[np.bool_]] | None,
    order: Sequence[int],
) -> list[NDArray[np.bool_]]:
    """Which labels some row has that is kept."""
    used = [np.zeros(len(each), dtype=bool) for each in labels]
    for number in range(len(store)):
        raw = store.look_at(number)
        keep = kept_rows(raw, dropping)
        for own, at in zip(used, order, strict=True):
            for label in np.flatnonzero(~own):
                marks = row_marks(bits_of_label(raw, at, int(label)), raw.chunk.rows)
                own[label] = bool((marks if keep is None else marks & keep).any())
    return used
