"""A table in the core that several calls work on: bits are made once, pairs are counted once."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import _core
from isinglass.core.elsewhere import RowsElsewhere, TooManyCells
from isinglass.core.forms import Forms, compiled
from isinglass.core.gate import Checked, checked_scales, checked_table, checked_threads
from isinglass.core.lapack import lapack_lent
from isinglass.core.lists import as_lists, as_marks, as_pairs, as_targets
from isinglass.core.stopping import Progress, watched

Codes = NDArray[np.integer]
Weights = NDArray[np.float64]
Flat = dict[str, NDArray[Any]]


def split_rows(
    codes: Codes | RowsElsewhere, n_states: Sequence[int], weights: Weights
) -> tuple[Checked, _core.Elsewhere | None]:
    """The checked arrays of a table, and whom to ask for its rows if they are elsewhere."""
    if isinstance(codes, RowsElsewhere):
        nothing = np.empty((0, len(n_states)), dtype=np.uint8)
        return checked_table(nothing, n_states, np.empty(0)), codes.in_core()
    return checked_table(codes, n_states, weights), None


@contextmanager
def cells_counted() -> Iterator[None]:
    """Say of which column there are too many cells to be counted elsewhere."""
    try:
        yield
    except _core.TooManyCells as error:
        raise TooManyCells(int(str(error))) from None


class PreparedTable:
    """Codes, weights and numbers of states, checked, packed, and ready to be counted.

    Rows may be elsewhere; then their holder counts.

    `n` is what losses are divided by, if not the rows. `answers` says how many of a column's
    states, the first ones, are answers; the rest stand for missing values, which make no edge
    unbounded. Counts of all pairs are kept while they take no more than a quarter of `memory`,
    bytes; by default, of what the system has left.

    >>> table = PreparedTable(np.array([[0, 0], [1, 1]] * 20), np.ones(40), [2, 2], threads=1)
    >>> found = table.search(0.01, nu=0.5, intercept=True, max_degree=None, threads=1)
    >>> found["variable"][found["add"] == 1].tolist()
    [0, 1, 0, 0]
    """

    def __init__(
        self,
        codes: Codes | RowsElsewhere,
        weights: Weights,
        n_states: Sequence[int],
        *,
        threads: int,
        n: float = 0.0,
        answers: Sequence[int] | None = None,
        memory: float = 0.0,
    ) -> None:
        self.n_states = tuple(n_states)
        rows, elsewhere = split_rows(codes, n_states, weights)
        self._prepared = _core.prepare(
            *rows,
            n=n,
            answers=np.asarray([] if answers is None else answers, dtype=np.int32),
            threads=checked_threads(threads),
            memory=memory,
            elsewhere=elsewhere,
        )

    def search(
        self,
        threshold: float,
        *,
        nu: float,
        intercept: bool,
        threads: int,
        max_degree: int | None,
        targets: Sequence[int] | None = None,
        required: Mapping[int, Set[int]] | None = None,
        forbidden: Mapping[int, Set[int]] | None = None,
        scales: NDArray[np.float64] | None = None,
        unit: float = 1.0,
        forms: Forms | None = None,
        level: float = math.inf,
        check: bool = False,
        progress: Progress | None = None,
    ) -> Flat:
        """Run Algorithm 1 for the columns in `targets` (all by default); results as flat arrays.

        A column's `required` others are its neighbours from the start and are never dropped; its
        `forbidden` ones are never looked at. Constant columns are neither.
        `scales`, a (p, p) array, divide the gains and the costs of each pair before they are made
        those of one parameter; the diagonal is not looked at, but positive. A weight of one stands
        for `unit` rows, of which pairs may have few. `forms` are those that edges may have, see
        `core_forms`; whole tables by default. Candidates that gain more than `level` come first,
        and among them the one that gains most before it is divided.

        The layout is described in ``core/search/flat.hpp``. With `check`, every candidate is
        evaluated, and a bound that skipped a better one is an error.
        """
        p = len(self.n_states)
        with lapack_lent(self.n_states), cells_counted():
            return _core.search(
                self._prepared,
                targets=as_targets(targets, self.n_states),
                required=as_pairs(required),
                forbidden=as_pairs(forbidden),
                scales=checked_scales(scales, p, p),
                unit=unit,
                forms=compiled(forms),
                level=level,
                threshold=threshold,
                nu=nu,
                intercept=intercept,
                max_degree=-1 if max_degree is None else max_degree,
                threads=checked_threads(threads),
                check=check,
                progress=watched(progress),
            )

    def edge_losses(
        self,
        targets: Sequence[int],
        neighbours: Sequence[Sequence[int]],
        *,
        left_out: Sequence[Sequence[int]],
        intercept: bool,
        threads: int,
        forms: Forms | None = None,
        small: Collection[tuple[int, int]] = (),
        progress: Progress | None = None,
    ) -> Flat:
        """Fit each target on its neighbours, and again without each of those in `left_out`.

        `loss` has one entry per target, `without` one per target and neighbour that was left out,
        in increasing order: losses per row.
        `expected` has the rows that the fit without a neighbour expects in each combination of the
        target's states and the neighbour's, row by row, one table after the other. Pairs (target,
        neighbour) in `small` have the smaller of their `forms`.
        """
        marks = [
            t in left for some, left in zip(neighbours, left_out, strict=True) for t in sorted(some)
        ]
        with lapack_lent(self.n_states), cells_counted():
            return _core.deviances(
                self._prepared,
                targets=as_targets(targets, self.n_states),
                leave_out=np.asarray(marks, dtype=np.uint8),
                forms=compiled(forms),
                small=as_marks(small, targets, neighbours),
                intercept=intercept,
                threads=checked_threads(threads),
                progress=watched(progress),
                **as_lists(neighbours),
            )
