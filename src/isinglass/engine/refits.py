"""Each column of a graph refitted on its neighbours, every edge in its form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isinglass.engine.native import adjusted_columns, fit_neighbourhoods
from isinglass.engine.runs import Progress
from isinglass.engine.scored import ScoredColumn
from isinglass.losses.conditional import NodeFit
from isinglass.losses.forms import TABLE, Form, Forms
from isinglass.table import Table

Pair = tuple[int, int]
PairForms = Mapping[Pair, str]
"""The forms of edges by their columns, the first before the second; tables may be left out."""


def form_of(forms: PairForms, r: int, t: int) -> Form:
    """The form of an edge, whichever end it is seen from."""
    form = forms.get((min(r, t), max(r, t)), TABLE)
    return "product" if form == "product" else "trend" if form == "trend" else TABLE


def has_smaller(forms: PairForms | None, r: int, neighbours: Sequence[int]) -> bool:
    """Whether some edge of a column is no whole table."""
    return bool(forms) and any(form_of(forms or {}, r, t) != TABLE for t in neighbours)


def scored_column(
    table: Table, r: int, neighbours: Sequence[int], forms: PairForms, intercept: bool
) -> ScoredColumn:
    """A column with its neighbours, and what is adjusted for, to be refitted in these forms."""
    wide = table.wide
    known = Forms(tuple(wide.n_states), wide.scores)
    edges = {t: form_of(forms, r, t) for t in neighbours if table.n_states[t] > 1}
    beside = dict.fromkeys(adjusted_columns(table), TABLE)
    return ScoredColumn(wide, r, {**edges, **beside}, known, intercept)


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
    scored = [has_smaller(forms, r, some) for r, some in enumerate(neighbours)]
    whole = [[] if of_scores else some for some, of_scores in zip(neighbours, scored, strict=True)]
    runs = fit_neighbourhoods(
        table,
        whole,
        intercept=intercept,
        threads=threads,
        progress=None if any(scored) else progress,
    )
    fits = []
    for r, some in enumerate(neighbours):
        if scored[r]:
            fit = scored_column(table, r, some, forms or {}, intercept).fit()
            fits.append(fit.adjusting(len(neighbours)))
        else:
            fits.append(runs.fit(r, 0))
        if any(scored) and progress is not None:
            progress(r + 1, len(neighbours))
    return fits
