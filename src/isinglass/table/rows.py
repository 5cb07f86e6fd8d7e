"""The rows that exist: weight above zero, missing values settled. Fits and scores start here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.table.coding.codes import Codes
from isinglass.table.coding.factor import Factor, factorise
from isinglass.table.coding.missing import complete_rows, notes_on_missing
from isinglass.table.coding.states import check_finite
from isinglass.table.notes import Note
from isinglass.table.sources.opening import open_source
from isinglass.table.weights import split_weights


@dataclass(frozen=True)
class Rows:
    """The columns and weights of the rows that exist; states have no order yet.

    `kept` says which of the rows that came they are, None for all; `dropped` how many are gone
    because values were missing.
    """

    names: tuple[str, ...]
    factors: tuple[Factor, ...]
    weights: NDArray[np.float64]
    library: str | None
    notes: tuple[Note, ...]
    kept: NDArray[np.intp] | None = None
    dropped: int = 0


def read_rows(X: Any, sample_weight: ArrayLike | str | None, missing: str) -> Rows:
    """Read any table, leave out the rows that do not count, and settle missing values."""
    source = open_source(X)
    columns, weights = split_weights(source, sample_weight)
    exists = weights > 0
    left = np.flatnonzero(exists)
    if not exists.all():
        source, weights = source.rows(exists), weights[exists]
    names = tuple(source.names[position] for position in columns)
    factors = tuple(factorise(source.names[at], source.cells(at)) for at in columns)
    kept = complete_rows(names, factors, missing)
    notes = notes_on_missing(names, factors, kept, missing)
    dropped = 0 if kept is None else int(np.count_nonzero(~kept))
    if kept is not None:
        factors, weights = tuple(factor.rows(kept) for factor in factors), weights[kept]
        left = left[kept]
    for name, factor in zip(names, factors, strict=True):
        check_finite(name, factor)
    everything = len(left) == len(exists)
    indices = None if everything else left
    return Rows(names, factors, weights, source.library, notes, indices, dropped)


def stack(codes: Sequence[Codes]) -> NDArray[np.uint8]:
    """The columns side by side, each contiguous, a byte for each cell."""
    table = np.empty((len(codes[0]), len(codes)), dtype=np.uint8, order="F")
    for position, column in enumerate(codes):
        table[:, position] = column
    return table
