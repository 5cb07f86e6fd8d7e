"""Large files, read once from beginning to end and packed as they come.

What is asked of a table is settled as for any other, by the labels of each column; see `settle`.
Columns that are to be binned are read once before, since a quantile needs all of their values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core.elsewhere import CHUNK_ROWS, MOST_WEIGHT
from isinglass.core.gate import MAX_STATES
from isinglass.errors import BadWeights, FileError, Setting, SettingError, TooManyStates
from isinglass.table.codebook import Codebook
from isinglass.table.coding.bins import Cuts, bin_factor, check_bins
from isinglass.table.coding.factor import MISSING
from isinglass.table.column import Note, by_column
from isinglass.table.encode import about_bins
from isinglass.table.packed.labels import ColumnLabels
from isinglass.table.packed.rows_of_files import FrameFiles, TextFiles, Wanted, open_files
from isinglass.table.packed.settle import Meaning, Settled, binned, settle
from isinglass.table.packed.store import Packer, Store
from isinglass.table.reading.codebooks import given_codebook, with_more
from isinglass.table.reading.read import DEFAULT_NA
from isinglass.wording import listing, quoted

#: Called with rows done, and about how many there are.
Watch = Callable[[int, int], None]
#: Distinct values of a column that is to be binned, or of the weights.
MOST_VALUES = 1 << 22
WEIGHTS = Setting("sample_weight")


@dataclass(frozen=True)
class Reading:
    """How a file is read: parameters of `read_table`, and columns to leave out."""

    na: Sequence[str] = DEFAULT_NA
    header: bool = True
    sep: str | None = None
    encoding: str = "utf-8"
    codebook: Any = None
    missing_codes: Any = None
    order: Any = None
    drop: Sequence[str] = ()

    def open(self, path: Path) -> TextFiles | FrameFiles:
        """The files."""
        return open_files(path, sep=self.sep, encoding=self.encoding, header=self.header)

    def meaning(self, files: TextFiles | FrameFiles) -> Meaning:
        """How labels are read."""
        codebook = with_more(
            given_codebook(self.codebook), missing_codes=self.missing_codes, order=self.order
        )
        words = tuple(self.na) if isinstance(files, TextFiles) else None
        return Meaning(words, Codebook(codebook.of_columns(files.names)))


@dataclass(frozen=True)
class Encoding:
    """How a table is encoded: parameters of `encode` that can be settled in one pass."""

    sample_weight: str | None = None
    missing: str = "error"
    bins: Mapping[Any, Any] | None = None
    max_states: int = 32
    high: Mapping[Any, Any] | None = None

    def settings(self) -> dict[str, Any]:
        """What was asked for, by name."""
        return {
            "sample_weight": self.sample_weight,
            "missing": self.missing,
            "bins": None if self.bins is None else dict(self.bins),
            "high": None if self.high is None else dict(self.high),
        }


def stream(
    path: Path,
    store: Store,
    reading: Reading,
    encoding: Encoding,
    watch: Watch = lambda rows, total: None,
) -> Settled:
    """Read a file, or all files of a folder, into a store, and settle the states of its columns."""
    if encoding.missing not in ("error", "drop", "state"):
        raise SettingError(
            *(Setting("missing", encoding.missing), " needs the rows in memory, and this table "),
            *("is read in chunks; take ", Setting("missing", "drop"), " or "),
            *(Setting("missing", "state"), "."),
        )
    files = reading.open(path)
    names = _names(files.names, reading.drop, encoding.sample_weight)
    most = min(int(encoding.max_states), MAX_STATES)
    asked = check_bins(by_column("bins", encoding.bins, names, unnamed=False), most)
    high = by_column("high", encoding.high, names, unnamed=False)
    meaning = reading.meaning(files)
    words = () if tuple(reading.na) == tuple(DEFAULT_NA) else tuple(reading.na)
    weighing = _Weighing.of(encoding.sample_weight, files, meaning)
    cut = [_Binned.of(name, files, meaning) for name in names if name in asked]
    if cut:
        others = [name for name in names if name not in asked and encoding.missing == "drop"]
        seen = _Incomplete([ColumnLabels(name, files.dtype(name)) for name in others], meaning)
        _count(files, words, cut, seen, weighing=weighing, watch=watch)
        for each in cut:
            each.settle(meaning, asked[each.labels.name])
    few = [ColumnLabels(name, files.dtype(name)) for name in names if name not in asked]
    packer = Packer([*few, *(each.few for each in cut)], store, CHUNK_ROWS)
    wanted = Wanted(few, [*(each.labels for each in cut), *weighing.labels])
    rows = 0
    for some in files.read(wanted, words, CHUNK_ROWS):
        _check_labels(few, encoding.max_states)
        weights = weighing.weigh(some.many[-1]) if weighing.labels else None
        parts = [each.look_up(codes) for each, codes in zip(cut, some.many, strict=False)]
        packer.add([*some.few, *parts], weights)
        rows += some.rows
        watch(rows, round(rows / max(some.share, 1e-9)))
    packer.flush()
    if not rows:
        raise FileError(f"{path} has column names but no rows; a table needs at least one row.")
    place = {labels.name: at for at, labels in enumerate(packer.labels)}
    settled = settle(
        store,
        [packer.labels[place[name]] for name in names],
        [place[name] for name in names],
        meaning,
        cuts={each.labels.name: each.cuts for each in cut},
        missing=encoding.missing,
        max_states=encoding.max_states,
        high=high,
    )
    notes = (*settled.notes, *(note for each in cut for note in each.notes))
    return Settled(
        settled.columns,
        settled.state_of,
        settled.order,
        settled.dropping,
        settled.dropped,
        notes,
    )


def _names(there: Sequence[str], drop: Sequence[str], weights: str | None) -> list[str]:
    """The columns of the table, in the order of the file."""
    unknown = [name for name in drop if name not in there]
    known = listing([quoted(name) for name in there], 8)
    if unknown:
        raise SettingError(f"there is no column {unknown[0]!r} to drop; the columns are {known}.")
    if weights is not None and weights not in there:
        raise BadWeights(
            WEIGHTS, f" names {weights!r}, which is not a column; the columns are {known}."
        )
    left = [name for name in there if name not in drop and name != weights]
    if not left:
        raise SettingError("no column is left; keep at least one.")
    return left


def _check_labels(few: Sequence[ColumnLabels], max_states: int) -> None:
    """Raise TooManyStates as soon as a column has more labels than a byte has."""
    for labels in few:
        if len(labels) >= MAX_STATES:
            raise TooManyStates(
                f"column {labels.name!r} has more than {MAX_STATES - 2} distinct values; at most "
                f"{max_states} states are supported. Bin it (",
                *(Setting("bins", {labels.name: 4}), ") if they are numbers, or drop it."),
                columns={labels.name: len(labels)},
                most=max_states,
            )


def _check_values(labels: ColumnLabels) -> None:
    if len(labels) > MOST_VALUES:
        raise TooManyStates(
            f"column {labels.name!r} has more than {MOST_VALUES:,} distinct values; round them, or "
            "drop the column.",
            columns={labels.name: len(labels)},
            most=MOST_VALUES,
        )


def _count(
    files: TextFiles | FrameFiles,
    words: Sequence[str],
    cut: Sequence[_Binned],
    seen: _Incomplete,
    *,
    weighing: _Weighing,
    watch: Watch,
) -> None:
    """The weight of each value of columns that are to be binned; incomplete rows have none."""
    rows = 0
    wanted = Wanted(seen.labels, [*(each.labels for each in cut), *weighing.labels])
    for some in files.read(wanted, words, CHUNK_ROWS):
        weights = weighing.weigh(some.many[-1]) if weighing.labels else np.ones(some.rows)
        if seen.labels:
            of_cut = [each.missing(codes) for each, codes in zip(cut, some.many, strict=False)]
            weights = np.where(seen.rows(some.few, of_cut), 0.0, weights)
        for each, codes in zip(cut, some.many, strict=False):
            each.count(codes, weights)
        rows += some.rows
        watch(rows, round(rows / max(some.share, 1e-9)))


class _Missing:
    """Which labels of a column mean that a value is missing, as labels come."""

    def __init__(self, labels: ColumnLabels, meaning: Meaning) -> None:
        self.labels, self.meaning = labels, meaning
        self.marks = np.zeros(0, dtype=bool)

    def rows(self, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which rows are missing, by the numbers of their labels."""
        if len(self.labels) > len(self.marks):
            self.marks = np.asarray(self.meaning.factor(self.labels).codes == MISSING)
        return np.asarray(self.marks[codes])


class _Incomplete:
    """Which rows lack a value, where incomplete rows are dropped; of no columns otherwise."""

    def __init__(self, labels: list[ColumnLabels], meaning: Meaning) -> None:
        self.labels = labels
        self._columns = [_Missing(each, meaning) for each in labels]

    def rows(
        self, codes: Sequence[NDArray[np.uint8]], others: Sequence[NDArray[np.bool_]]
    ) -> NDArray[np.bool_]:
        """The rows, by the numbers of their labels; `others` are those of other columns."""
        found = [each.rows(own) for each, own in zip(self._columns, codes, strict=True)]
        return np.asarray(np.logical_or.reduce([*found, *others]))


class _Binned:
    """A column that is cut into bins: all its labels, and one label that stands for each bin."""

    def __init__(self, labels: ColumnLabels, few: ColumnLabels, meaning: Meaning) -> None:
        self.labels, self.few = labels, few
        self.missing = _Missing(labels, meaning).rows
        self.weights: NDArray[np.float64] = np.zeros(0)
        self.cuts: Cuts = ()
        self.notes: list[Note] = []
        self.stands_for = np.zeros(0, dtype=np.uint8)

    @classmethod
    def of(cls, name: str, files: TextFiles | FrameFiles, meaning: Meaning) -> _Binned:
        """Nothing is known of it yet."""
        labels, few = (ColumnLabels(name, files.dtype(name)) for _ in range(2))
        return cls(labels, few, meaning)

    def count(self, codes: NDArray[np.uint32], weights: NDArray[np.float64] | None) -> None:
        """Add the weights of some rows to those of their labels."""
        _check_values(self.labels)
        found = np.bincount(codes, weights, minlength=len(self.labels)).astype(np.float64)
        found[: len(self.weights)] += self.weights
        self.weights = found

    def settle(self, meaning: Meaning, asked: int | Cuts) -> None:
        """Find the cut points, and the bin of each label."""
        name = self.labels.name
        factor, seen = meaning.factor(self.labels), self.weights > 0
        self.cuts = binned(name, factor.rows(seen), self.weights[seen], asked)
        in_bins = bin_factor(factor, self.cuts)
        self.notes = [*about_bins(name, asked, self.cuts, in_bins)]
        self.stands_for = np.zeros(len(self.labels), dtype=np.uint8)
        for code in np.unique(in_bins.codes):
            alike = np.flatnonzero(in_bins.codes == code)
            first = None if code == MISSING else self.labels.values[alike[0]]
            self.stands_for[alike] = self.few.number(first)

    def look_up(self, codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
        """The numbers of labels that stand for bins; FileError if there are new labels."""
        if len(self.labels) > len(self.stands_for):
            raise FileError(
                f"column {self.labels.name!r} has a value that it did not have before; the file "
                "changed while it was read."
            )
        return np.asarray(self.stands_for[codes])


class _Weighing:
    """The weights of rows, if a column has them."""

    def __init__(self, labels: list[ColumnLabels], meaning: Meaning) -> None:
        self.labels, self.meaning = labels, meaning
        self.values = np.zeros(0)

    @classmethod
    def of(cls, name: str | None, files: TextFiles | FrameFiles, meaning: Meaning) -> _Weighing:
        """By the name of a column."""
        return cls([] if name is None else [ColumnLabels(name, files.dtype(name))], meaning)

    def weigh(self, codes: NDArray[np.uint32]) -> NDArray[np.float64]:
        """The weights of some rows, by the numbers of their labels."""
        (labels,) = self.labels
        _check_values(labels)
        if len(labels) > len(self.values):
            self.values = self._checked(labels)
        return np.asarray(self.values[codes])

    def _checked(self, labels: ColumnLabels) -> NDArray[np.float64]:
        factor = self.meaning.factor(labels)
        if (factor.codes == MISSING).any() or not factor.reads_as_numbers:
            raise BadWeights(WEIGHTS, " must be numbers, one for each row.")
        values = factor.labels.astype(np.float64)[factor.codes]
        whole = np.isfinite(values).all() and np.array_equal(values, np.rint(values))
        if not whole or values.min() < 0 or values.max() > MOST_WEIGHT:
            raise BadWeights(
                WEIGHTS,
                f" must be whole numbers from 0 to {MOST_WEIGHT:,} for a table that is read in "
                "chunks; round the weights to counts of rows.",
            )
        return values
