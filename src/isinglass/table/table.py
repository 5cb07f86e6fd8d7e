"""The table as the rest of the package sees it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.core import all_pair_counts
from isinglass.core.elsewhere import RowsElsewhere, all_pairs, crossed
from isinglass.errors import TableError
from isinglass.parameters import check
from isinglass.table.clusters import numbered
from isinglass.table.coding.adjusted import Adjusted
from isinglass.table.coding.factor import Codes
from isinglass.table.coding.states import look_up_states
from isinglass.table.column import Column, Note, high_states
from isinglass.table.design import design_effects
from isinglass.table.packed.absent import AbsentRows
from isinglass.table.rows import read_rows, stack


@dataclass(frozen=True, eq=False)
class Table:
    """A discrete table in codes; `encode` makes one of anything.

    ``columns[j].states[codes[i, j]]`` is the label of row i in column j; columns of the codes are
    contiguous. Weights are positive, and their sum is `n`, unless this is a part of a table with
    `total` rows. `library` is where the table came from, hence where results go: "pandas",
    "polars", "pyarrow", or None for arrays.

    Where `available`, the last state of a column may stand for missing values, and is no answer.
    With ``missing="available"`` rows in which a column is missing are left out when that column is
    the target; where `by_model`, with ``missing="model"``, they are filled. `kept` says which rows
    of the table that came in these are, None for all; `dropped` how many are gone because values
    were missing. `clusters` numbers the cluster of each row from 0, as they first appear; None
    where rows are independent. With `design`, weights are sampling weights, and each pair of
    columns has a design effect of its own. Columns that are `adjusted` for stand beside the others,
    in the same rows; `wide` has them as its last columns. A stack of filled tables has copies of
    each row, all of the first before all of the second, with their shares of its weight, and knows
    the table that it was `filled_from`.

    Rows may be `elsewhere`, packed in chunks: then nobody has the codes and the weights, `total` is
    their number, `known` the fingerprint, and `made_with` has the settings of the encoding; what is
    counted is asked of whoever holds the rows.

    >>> from isinglass.table import encode
    >>> table = encode([["no", 3], ["yes", 7], ["yes", 3]])
    >>> table.names, table.n_states, table.n
    (('x0', 'x1'), (2, 2), 3.0)
    """

    codes: Codes
    columns: tuple[Column, ...]
    weights: NDArray[np.float64]
    library: str | None
    notes: tuple[Note, ...]
    available: bool = False
    total: float | None = None
    kept: NDArray[np.intp] | None = None
    dropped: int = 0
    clusters: NDArray[np.intp] | None = None
    design: bool = False
    by_model: bool = False
    adjusted: Adjusted | None = None
    filled_from: Table | None = None
    elsewhere: RowsElsewhere | None = None
    known: str | None = None
    made_with: Mapping[str, Any] | None = None

    @cached_property
    def n(self) -> float:
        """The number of rows that the weights stand for."""
        return float(self.weights.sum()) if self.total is None else self.total

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each column."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def states(self) -> tuple[tuple[Hashable, ...], ...]:
        """The labels of each column's states."""
        return tuple(column.states for column in self.columns)

    @cached_property
    def n_states(self) -> tuple[int, ...]:
        """The number of states of each column."""
        return tuple(len(column.states) for column in self.columns)

    @cached_property
    def n_answers(self) -> tuple[int, ...]:
        """States of each column, at least one, without the missing state where it is left out."""
        return tuple(
            max(len(column.states) - (self.available and column.has_missing_state), 1)
            for column in self.columns
        )

    @cached_property
    def ordered(self) -> tuple[bool, ...]:
        """Whether the order of each column's states means something."""
        return tuple(column.ordered for column in self.columns)

    @cached_property
    def wide(self) -> Table:
        """The table with the columns that are adjusted for as its last ones."""
        beside = self.adjusted
        if beside is None:
            return self
        every = (*self.columns, *beside.columns)
        if self.elsewhere is not None:
            return replace(self, columns=every, adjusted=None)
        codes = np.asfortranarray(np.hstack([self.codes, beside.codes]))
        return replace(self, codes=codes, columns=every, adjusted=None)

    @property
    def adjusted_names(self) -> tuple[str, ...]:
        """The names of the columns that are adjusted for."""
        return () if self.adjusted is None else self.adjusted.names

    @cached_property
    def scores(self) -> tuple[tuple[float, ...] | None, ...]:
        """The scores of each column's states, rising; NaN for a missing value. None if unordered.

        >>> from isinglass.table import encode
        >>> encode([["a", 1], ["b", 5], ["c", 7]]).scores
        (None, (0.0, 1.0, 2.0))
        """
        return tuple(map(_scores_of, self.columns))

    def rows_of_states(self, column: int) -> NDArray[np.float64]:
        """How many rows have each state of a column."""
        if self.elsewhere is not None:
            begin = sum(self.elsewhere.n_states[:column])
            return self.elsewhere.counts[begin : begin + self.n_states[column]]
        counts = np.bincount(self.codes[:, column], self.weights, self.n_states[column])
        return counts.astype(np.float64)

    def crossed(self, pairs: Sequence[tuple[int, int]]) -> list[NDArray[np.float64]]:
        """How many rows have each combination of states of two columns, for each pair of them.

        >>> from isinglass.table import encode
        >>> encode([["no", 3], ["yes", 7], ["yes", 3]]).crossed([(0, 1)])[0].tolist()
        [[1.0, 0.0], [1.0, 1.0]]
        """
        if self.elsewhere is not None:
            return crossed(self.elsewhere, pairs)
        found = []
        for i, j in pairs:
            across = self.n_states[j]
            key = self.codes[:, i].astype(np.intp) * across + self.codes[:, j]
            rows = np.bincount(key, self.weights, minlength=self.n_states[i] * across)
            found.append(rows.astype(np.float64).reshape(-1, across))
        return found

    def all_pair_counts(self, threads: int = 1) -> NDArray[np.float64]:
        """How many rows have each combination of two states: a square matrix, in column order."""
        if self.elsewhere is None:
            return all_pair_counts(self.codes, self.weights, self.n_states, threads)
        own = sum(self.n_states)  # without what is adjusted for
        return all_pairs(self.elsewhere)[:own, :own]

    @cached_property
    def design_effects(self) -> NDArray[np.float64] | None:
        """How many times more each pair varies than by its rows, (p, p); None if all are one."""
        if self.filled_from is not None:  # drawn values are no further rows
            return self.filled_from.design_effects
        uneven = self.design and bool((self.weights != self.weights[0]).any())
        if not uneven and self.clusters is None:
            return None
        weights = self.weights
        counts = not self.design and np.allclose(weights, np.rint(weights), rtol=1e-12, atol=0)
        return design_effects(
            self.codes,
            weights,
            self.n_answers if self.by_model else self.n_states,
            sampling=not counts,
            clusters=self.clusters,
            seen=self.codes < np.asarray(self.n_answers) if self.by_model else None,
        )

    def pair_scales(self, given: NDArray[np.float64] | None = None) -> NDArray[np.float64] | None:
        """Return what divides the gains of each pair: the given scales times the design effects."""
        effects = self.design_effects
        return given if effects is None else effects if given is None else given * effects

    @cached_property
    def high(self) -> tuple[str | None, ...]:
        """The high state of each column as text; None for columns without two states."""
        return high_states((column.states for column in self.columns), self.n_answers)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of names, states, codes, weights, clusters: the same for tables of any library."""
        if self.known is not None:
            return self.known
        content = sha256()
        for column, codes in zip(self.wide.columns, self.wide.codes.T, strict=True):
            content.update(repr((column.name, column.states)).encode("utf-8", "backslashreplace"))
            content.update(codes.astype("<i4").tobytes())
        content.update(self.weights.astype("<f8").tobytes())
        if self.clusters is not None:
            content.update(self.clusters.astype("<i8").tobytes())
        if self.adjusted is not None:
            content.update(f"adjusted for {len(self.adjusted.columns)}".encode())
        return f"sha256:{content.hexdigest()}"

    def part(self, rows: NDArray[np.bool_]) -> tuple[Table, list[NDArray[np.intp]]]:
        """Some rows, with the states seen there, and which those are; `n` stays the same."""
        part, kept = self.with_rows(
            self.codes[rows], self.weights[rows], self.clusters_of(rows), self.adjusted_of(rows)
        )
        return replace(part, available=False, by_model=False, total=self.n), kept

    def clusters_of(self, rows: NDArray[Any]) -> NDArray[np.intp] | None:
        """The clusters of some rows, numbered anew; None where rows are independent."""
        return None if self.clusters is None else numbered(self.clusters[rows])

    def adjusted_of(self, rows: NDArray[Any]) -> Adjusted | None:
        """What is adjusted for, in some rows."""
        return None if self.adjusted is None else self.adjusted.rows(rows)

    def with_rows(
        self,
        codes: Codes,
        weights: NDArray[np.float64],
        clusters: NDArray[np.intp] | None = None,
        adjusted: Adjusted | None = None,
    ) -> tuple[Table, list[NDArray[np.intp]]]:
        """Other rows of the same columns, with the states seen there; and which those are.

        The states of what is adjusted for come last.
        """
        if adjusted is not None:
            wide, kept = self.wide.with_rows(np.hstack([codes, adjusted.codes]), weights, clusters)
            return wide.narrow(adjusted.positions), kept
        kept = [np.flatnonzero(np.bincount(column)) for column in codes.T]
        if all(len(states) == m for states, m in zip(kept, self.n_states, strict=True)):
            same = replace(self, codes=np.asfortranarray(codes), weights=weights, notes=())
            return replace(same, clusters=clusters, filled_from=None), kept
        fewer = [
            np.searchsorted(states, column).astype(np.uint8)
            for states, column in zip(kept, codes.T, strict=True)
        ]
        columns = tuple(
            column.keep(states) for column, states in zip(self.columns, kept, strict=True)
        )
        stacked = stack(fewer)
        parts = weights, self.library, (), self.available
        table = Table(stacked, columns, *parts, clusters=clusters, design=self.design)
        return replace(table, by_model=self.by_model), kept

    def narrow(self, positions: tuple[int, ...]) -> Table:
        """The opposite of `wide`: as many of the last columns as have `positions` are set aside."""
        p = len(self.columns) - len(positions)
        own, beside = np.split(self.codes, [p], axis=1)
        adjusted = Adjusted(np.asfortranarray(beside), self.columns[p:], positions)
        codes = np.asfortranarray(own)
        return replace(self, codes=codes, columns=self.columns[:p], adjusted=adjusted)

    def encode_like(
        self,
        X: Any,
        sample_weight: ArrayLike | str | None = None,
        missing: str = "error",
        clusters: ArrayLike | str | None = None,
    ) -> Table:
        """Encode new rows with the states of this table, columns in the same order.

        Weights are kept as they are: new rows need no `n_eff`. Missing is a state only where it was
        one before.

        >>> from isinglass.table import encode
        >>> table = encode([["Voss", 3], ["Bergen", 7]])
        >>> table.encode_like([["Bergen", 3]]).codes
        array([[0, 0]], dtype=uint8)
        """
        check("missing", missing)
        rows = read_rows(X, sample_weight, missing, clusters)
        beside = self.adjusted
        known = len(self.wide.columns)
        if len(rows.factors) != known:
            raise TableError(
                f"the table has {len(rows.factors)} columns, but fit saw {known}; "
                "give the same columns in the same order."
            )
        apart = () if beside is None else beside.positions
        own = [factor for at, factor in enumerate(rows.factors) if at not in apart]
        by_model = missing == "model" and any(factor.missing.any() for factor in own)
        columns = _may_be_missing(self.columns) if by_model else self.columns
        codes = map(look_up_states, columns, own)
        parts = rows.weights, rows.library, rows.notes, self.available or by_model
        table = Table(stack([*codes]), columns, *parts, kept=rows.kept, clusters=rows.clusters)
        if beside is not None:
            others = map(look_up_states, beside.columns, (rows.factors[at] for at in apart))
            beside = replace(beside, codes=stack([*others]))
        return replace(table, by_model=by_model, adjusted=beside)


def table_elsewhere(
    elsewhere: RowsElsewhere,
    columns: Sequence[Column],
    *,
    fingerprint: str,
    library: str | None = None,
    notes: tuple[Note, ...] = (),
    dropped: int = 0,
    adjusted: tuple[int, ...] = (),
    made_with: Mapping[str, Any] | None = None,
) -> Table:
    """A table whose rows somebody else holds.

    `adjusted` are the positions, in the table that came in, of the columns to adjust for; they are
    the last ones here.
    """
    absent: Any = AbsentRows()
    weight = float(elsewhere.counts[: elsewhere.n_states[0]].sum())
    p = len(columns) - len(adjusted)
    table = Table(
        absent,
        tuple(columns[:p]),
        absent,
        library,
        notes,
        total=weight,
        dropped=dropped,
        elsewhere=elsewhere,
        known=fingerprint,
        made_with=made_with,
    )
    if not adjusted:
        return table
    return replace(table, adjusted=Adjusted(absent, tuple(columns[p:]), adjusted))


def _scores_of(column: Column) -> tuple[float, ...] | None:
    if not column.ordered:
        return None
    given = column.scores or tuple(map(float, range(len(column.states))))
    unscored = column.has_missing_state and len(given) > 2
    return (*given[:-1], np.nan) if unscored else given


def _may_be_missing(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The columns, each with a state for missing values."""
    return tuple(
        column if column.has_missing_state else replace(column, states=(*column.states, None))
        for column in columns
    )
