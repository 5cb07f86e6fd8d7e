"""What each edge of a graph adds to the likelihood when everything else is refitted without it.

The conditional of a column is refitted on its neighbours in the graph, and once more without each
of them. So the numbers depend on the table and the graph alone, whichever method found it, and are
likelihood ratios: what two columns explain together counts for neither of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass import core
from isinglass.core import pair_null
from isinglass.engine.available import parts_of
from isinglass.engine.native import (
    CountedRows,
    adjusted_columns,
    forms_of,
    in_core,
    small_pairs,
    too_many_cells_named,
)
from isinglass.engine.refits import PairForms
from isinglass.engine.runs import Progress, progress_from
from isinglass.engine.workers import Workers
from isinglass.losses.forms import TABLE
from isinglass.losses.nulls import Null, chi_square
from isinglass.solvers.equivalent import calibrated_gain
from isinglass.table import Table

Array = NDArray[np.float64]
Pair = tuple[int, int]
Key = tuple[int, int]
"""A column, and the neighbour that its conditional does without."""


@dataclass(frozen=True, eq=False)
class Deviances:
    """The losses of both ends of some edges: of the source first, then of the target.

    Attributes
    ----------
    n : float
        Rows of the table.
    without, fitted : (k, 2) arrays
        Loss per row of an end's conditional without the edge, all else refitted, and with it.
    nulls : list of 2k nulls
        What the likelihood ratio of each end is when nothing links the pair.
    """

    n: float
    without: Array
    fitted: Array
    nulls: Sequence[Null]

    @property
    def cost(self) -> Array:
        """Log-likelihood per row that is lost without the edge, at each end."""
        return np.maximum(self.without - self.fitted, 0.0)

    @property
    def strength(self) -> Array:
        """Cox and Snell's R of the edge: 0 to 1."""
        strength: Array = np.sqrt(-np.expm1(-2.0 * self.cost.mean(axis=1)))
        return strength

    @property
    def relative_strength(self) -> Array:
        """Nagelkerke's R, at the end where it is larger: 1 if one end determines the other."""
        most = -np.expm1(-2.0 * self.without)
        share = np.divide(
            -np.expm1(-2.0 * self.cost), most, out=np.zeros_like(most), where=most > 1e-12
        )
        relative: Array = np.sqrt(np.clip(share.max(axis=1), 0.0, 1.0))
        return relative

    @property
    def evidence(self) -> Array:
        """Likelihood ratios as chi-squares with one degree of freedom; the mean of both ends."""
        gains = calibrated_gain(self.cost.ravel(), self.nulls, self.n)
        evidence: Array = 2.0 * self.n * gains.reshape(-1, 2).mean(axis=1)
        return evidence


@dataclass(frozen=True, eq=False)
class Expected:
    """What a conditional says about one of its neighbours, left out of it.

    `null` is what the likelihood ratio would be without a link. `table` has the rows of each
    combination of states that are expected without the edge: the column's states by the
    neighbour's.
    """

    without: float
    fitted: float
    null: Null
    table: Array


def deviances_of(
    n: float,
    pairs: Sequence[Pair],
    found: Mapping[Key, Expected],
    scales: Array | None = None,
) -> Deviances:
    """The losses among what was found for some pairs; `scales` is a (p, p) array."""
    ends = [(found[a, b], found[b, a]) for a, b in pairs]
    of_pairs = np.ones(len(pairs)) if scales is None else scales_of(pairs, scales)
    return Deviances(
        n,
        np.array([(a.without, b.without) for a, b in ends]).reshape(-1, 2),
        np.array([(a.fitted, b.fitted) for a, b in ends]).reshape(-1, 2),
        [end.null.times(s) for both, s in zip(ends, of_pairs, strict=True) for end in both],
    )


def scales_of(pairs: Sequence[Pair], scales: Array) -> Array:
    """The scales of some pairs among those of all."""
    return np.array([scales[pair] for pair in pairs], dtype=np.float64)


def expectations(
    table: Table,
    pairs: Sequence[Pair],
    *,
    intercept: bool,
    threads: int,
    progress: Progress | None = None,
    known: Collection[Pair] = (),
    forms: PairForms | None = None,
    edges: str = "table",
    workers: Workers | None = None,
) -> dict[Key, Expected]:
    """Refit every column on its neighbours among some pairs, and without each of them.

    Edges that are `known` are part of the graph, and are not left out themselves. Edges are whole
    tables unless `forms` says otherwise; `edges` says which forms competed for each.
    """
    neighbours = _neighbours(table, pairs)
    left_out = _neighbours(table, [pair for pair in pairs if pair not in known])
    total, done = sum(map(bool, left_out)), 0
    found: dict[Key, Expected] = {}
    for part in parts_of(table) if total else ():
        targets = [r for r in part.targets if left_out[r]]
        if targets:
            show = progress_from(progress, done, total)
            settings: dict[str, Any] = {"threads": threads, "progress": show}
            lists = neighbours, left_out
            settings |= {"of_edges": forms, "edges": edges, "workers": workers}
            found |= _of_part(part.table, targets, *lists, intercept=intercept, **settings)
            done += len(targets)
    return found


def _neighbours(table: Table, pairs: Iterable[Pair]) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in table.columns]
    for a, b in pairs:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return neighbours


def _of_part(
    table: Table,
    targets: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    left_out: Sequence[Sequence[int]],
    *,
    intercept: bool,
    of_edges: PairForms | None,
    edges: str,
    workers: Workers | None,
    **settings: Any,
) -> dict[Key, Expected]:
    """What is expected of some columns in the rows where they are seen."""
    states, forms, competing = table.n_states, forms_of(table, "auto"), forms_of(table, edges)
    small = small_pairs(forms, of_edges)

    def varying(of: Sequence[Sequence[int]]) -> list[list[int]]:
        return [sorted(t for t in of[r] if min(states[r], states[t]) > 1) for r in targets]

    lists, counted = varying(left_out), CountedRows.of(table.wide)
    beside = adjusted_columns(table)
    fitted = [[*some, *beside] for some in varying(neighbours)]
    with too_many_cells_named(table.names):
        flat = (workers or core).edge_losses(
            *counted.rows,
            targets,
            fitted,
            left_out=lists,
            n=counted.n,
            intercept=intercept,
            forms=in_core(forms) if small else None,
            small=small,
            **settings,
        )
    flat["expected"] *= counted.unit
    rows = {v: table.rows_of_states(v) for r in targets for v in (r, *left_out[r])}
    found: dict[Key, Expected] = {}
    losses, numbers = iter(flat["without"].tolist()), flat["expected"]
    for r, some, loss in zip(targets, lists, flat["loss"].tolist(), strict=True):
        for t in some:
            shape = states[r], states[t]
            expected, numbers = np.split(numbers, [math.prod(shape)])
            form = forms.allowed(r, t)[0] if (r, t) in small else TABLE
            null = chi_square(forms.df(r, t, form))
            if intercept and form == TABLE:
                null = Null(*pair_null(rows[r], rows[t]))
            null = null._replace(looks=competing.looks(r, t, form))
            found[r, t] = Expected(next(losses), loss, null, expected.reshape(shape))
        for t in set(left_out[r]).difference(some):  # constant here: nothing is lost
            found[r, t] = Expected(loss, loss, chi_square(1), np.zeros((states[r], states[t])))
    return found
