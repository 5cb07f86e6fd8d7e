"""Each column of a graph fitted by itself: where the joint fit starts, and what rows leave open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from isinglass.core import cores
from isinglass.engine import fit_conditionals, fit_neighbourhoods
from isinglass.engine.refits import PairForms
from isinglass.losses.conditional import NodeFit
from isinglass.model.fit.conditionals import rows_that_count
from isinglass.model.fit.descent import Progress
from isinglass.model.fit.layout import Layout, Pair
from isinglass.table import Table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Alone:
    """Every column on its neighbours, so that an edge has two tables, one from either end."""

    layout: Layout
    fits: Mapping[int, NodeFit]

    def parameters(self) -> Array:
        """The two tables of an edge averaged: near the joint minimum where rows are many."""
        layout, fits = self.layout, self.fits
        start = np.zeros(layout.size)
        for r, fit in fits.items():
            start[layout.fields[r]] = (layout.bases[r].T @ fit.intercept)[: len(layout.fields[r])]
        for (i, j), positions in layout.edges.items():
            ends = [fits[i].coef[j]] if i in fits and j in fits[i].coef else []
            ends += [fits[j].coef[i].T] if j in fits and i in fits[j].coef else []
            if ends:  # else a column is constant, or they are never seen together
                start[positions] = layout.block((i, j), np.mean(ends, axis=0))
        return start

    def unbounded(self) -> frozenset[Pair]:
        """Edges that the rows leave open in some direction, whichever end is looked at."""
        return frozenset(
            (i, j)
            for (i, j), positions in self.layout.edges.items()
            if positions.size and self._is_open(i, j) and self._is_open(j, i)
        )

    def _is_open(self, r: int, t: int) -> bool:
        return r not in self.fits or t in self.fits[r].unbounded


def fit_alone(
    layout: Layout, table: Table, forms: PairForms, progress: Progress | None = None
) -> Alone:
    """Fit every column on its neighbours, on the rows where all of them are seen."""

    def show(done: int, total: int) -> None:
        if progress is not None:
            progress(f"each column by itself, {done} of {total}")

    if not table.available:
        own = layout.neighbours[: layout.own]
        neighbours = [sorted(t for t in others if t < layout.own) for others in own]
        fits = fit_conditionals(
            table, neighbours, forms, intercept=layout.intercept, threads=cores(), progress=show
        )
        return Alone(layout, {r: _whole(fit) for r, fit in enumerate(fits)})
    seen = {}
    for r in range(len(table.columns)):
        show(r, len(table.columns))
        fit = _fit_where_seen(layout, table, r)
        if fit is not None:
            seen[r] = fit
    return Alone(layout, seen)


def _whole(fit: NodeFit) -> NodeFit:
    """A fit with the tables of what is adjusted for among the others."""
    return replace(fit, coef={**fit.coef, **fit.always}, always={})


def _fit_where_seen(layout: Layout, table: Table, r: int) -> NodeFit | None:
    """One column on the rows where it and its neighbours are seen; None if there are none."""
    table = table.wide
    columns = [r, *sorted(layout.neighbours[r])]
    codes, weights = rows_that_count(layout, table, columns)
    if not len(codes):
        return None
    seen = replace(
        table,
        codes=codes,
        columns=tuple(
            replace(table.columns[v], states=table.columns[v].states[: layout.n_states[v]])
            for v in columns
        ),
        weights=weights,
        available=False,
        total=table.n,
        clusters=None,
    )
    others: list[list[int]] = [list(range(1, len(columns))), *([] for _ in columns[1:])]
    runs = fit_neighbourhoods(seen, others, intercept=layout.intercept, threads=1)
    fit = runs.fit(0, 0)
    return NodeFit(
        {columns[t]: coef for t, coef in fit.coef.items()},
        fit.intercept,
        fit.loss,
        frozenset(columns[t] for t in fit.unbounded),
    )
