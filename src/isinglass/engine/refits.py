"""Each column of a graph refitted on its neighbours, every edge in its form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isinglass.engine.native import fit_neighbourhoods
from isinglass.engine.runs import Progress
from isinglass.losses.conditional import NodeFit
from isinglass.losses.forms import FORMS, TABLE, Form
from isinglass.table import Table

Pair = tuple[int, int]
PairForms = Mapping[Pair, str]
"""The forms of edges by their columns, the first before the second; tables may be left out."""


def form_of(forms: PairForms | None, r: int, t: int) -> Form:
    """The form of an edge, whichever end it is seen from.

    >>> form_of({(0, 1): "product"}, 1, 0), form_of(None, 0, 1)
    ('product', 'table')
    """
    return FORMS[FORMS.index((forms or {}).get((min(r, t), max(r, t)), TABLE))]


def fit_conditionals(
    table: Table,
    neighbours: Sequence[Sequence[int]],
    forms: PairForms | None = None,
    *,
    intercept: bool = True,
    threads: int = 1,
    progress: Progress | None = None,
) -> list[NodeFit]:
    """Fit every column on given neighbours; without forms, edges are whole tables."""
    runs = fit_neighbourhoods(
        table,
        neighbours,
        intercept=intercept,
        threads=threads,
        progress=progress,
        of_edges=forms,
    )
    return [runs.fit(r, 0) for r in range(len(neighbours))]
