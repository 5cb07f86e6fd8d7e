"""Tables in which missing cells are filled by draws from a model, several times over.

The rows are stacked, one copy for each draw, with their weights shared among the copies. Only cells
that were missing differ. Random numbers belong to cells: a model that is a little different fills
nearly all cells as before, so that a loop of filling and fitting converges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core.models import complete_rows
from isinglass.model.adjustment import with_columns
from isinglass.model.inference.sampling import flat_model
from isinglass.table import Table

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Codes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class MissingCells:
    """The missing cells of a table; `of` finds them.

    Attributes
    ----------
    table : Table
        With codes beyond a column's answers where it is missing.
    missing : (n, p) array of bool
    rows, columns : arrays of int
        Of each missing cell, row by row.
    streams : array of int
        Which random numbers each row has: by what is in it, wherever it stands.
    """

    table: Table
    missing: NDArray[np.bool_]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    streams: NDArray[np.uint64]

    @classmethod
    def of(cls, table: Table) -> MissingCells:
        """Find the missing cells."""
        missing = table.codes >= np.asarray(table.n_answers)
        rows, columns = np.nonzero(missing)
        return cls(table, missing, rows, columns, _ranks(table))

    def filled(
        self,
        field: MarkovField,
        draws: int,
        seed: int,
        threads: int,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Table, int]:
        """A stack of filled tables, and how many rows were not drawn exactly, but by Gibbs sweeps.

        Row i of draw d is row d * n + i.
        """
        table, n = self.table, len(self.table.codes)
        incomplete = np.unique(self.rows)
        drawn, by_gibbs = complete_rows(
            flat_model(with_columns(field)),
            table.wide.codes[incomplete],
            self.streams[incomplete],
            draws=draws,
            seed=seed,
            threads=threads,
            progress=progress,
        )
        codes = np.empty((draws * n, len(table.columns)), dtype=np.uint8, order="F")
        for copy in range(draws):
            codes[copy * n : (copy + 1) * n] = table.codes
            codes[copy * n + self.rows, self.columns] = drawn[copy]
        return self._stacked(codes, draws), by_gibbs

    def _stacked(self, codes: Codes, draws: int) -> Table:
        table = self.table
        answers = zip(table.columns, table.n_answers, strict=True)
        return replace(
            table,
            codes=codes,
            columns=tuple(replace(column, states=column.states[:m]) for column, m in answers),
            weights=np.tile(table.weights / draws, draws),
            total=table.n,  # not a rounded sum of shares
            available=False,
            by_model=False,
            filled_from=table,
            clusters=self._copies_together(draws),
            adjusted=table.adjusted_of(np.tile(np.arange(len(table.codes)), draws)),
        )

    def _copies_together(self, draws: int) -> NDArray[np.intp] | None:
        """The clusters of a stack; copies of a row are one where weights have design effects."""
        clusters = self.table.clusters
        if clusters is None and self.table.design:
            clusters = np.arange(len(self.table.codes))
        return None if clusters is None else np.tile(clusters, draws)


def _ranks(table: Table) -> NDArray[np.uint64]:
    """The place of each row if all were sorted by what is in them."""
    rows: NDArray[Any] = np.ascontiguousarray(table.wide.codes)
    key = rows.view(np.dtype((np.void, rows.shape[1]))).ravel()
    order = np.argsort(np.unique(key, return_inverse=True)[1], kind="stable")
    ranks = np.empty(len(rows), dtype=np.uint64)
    ranks[order] = np.arange(len(rows))
    return ranks
