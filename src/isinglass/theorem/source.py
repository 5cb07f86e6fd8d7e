"""Where an instance comes from: the model, its rows, and the model that noise is drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isinglass.engine import learn_neighbourhoods, pairs_at
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.graph import Graph, Link
from isinglass.model import MarkovField, fit_model
from isinglass.model.inference.rows import encode_rows
from isinglass.table import Table
from isinglass.table.column import Column
from isinglass.uncertainty.simulation.denser import band_ends


@dataclass(frozen=True, eq=False)
class Source:
    """A model and its rows.

    Attributes
    ----------
    field : MarkovField
        The truth, or an estimate.
    noisy : MarkovField
        What tables are drawn from for the noise level: the truth, or a denser estimate.
    n : float
        Rows that the noise is of.
    table : Table or None
        The rows whose curvature is taken; without them, those of the large draw.
    truth : bool
        Whether `field` is the truth of `table`.
    """

    field: MarkovField
    noisy: MarkovField
    n: float
    table: Table | None
    truth: bool = False
    intercept: bool = True
    library: str | None = None

    @classmethod
    def of_fit(cls, estimator: GreedyGraph) -> Self:
        """The estimate of a fitted graph, and its table."""
        check_is_fitted(estimator, "search_")
        table = estimator.table_
        if table.available:
            raise SettingError(
                "theory needs a table without missing values; fit with missing='drop' or 'model'."
            )
        intercept = bool(estimator.intercept)
        return cls(
            estimator.model_,
            denser_field(estimator),
            table.n,
            table,
            intercept=intercept,
            library=table.library,
        )

    @classmethod
    def of_truth(cls, field: MarkovField, X: Any, rows: int | None) -> Self:
        """A model that is the truth, and a table of it or a number of rows."""
        if (X is None) == (rows is None):
            raise SettingError("give rows, how many there are to be, or X, a table of the model.")
        if X is None:
            return cls(field, field, float(rows or 0), None, library=field.library)
        table = table_of(field, encode_rows(field, X, range(len(field.names))))
        return cls(field, field, table.n, table, truth=True, library=field.library)


def table_of(field: MarkovField, codes: NDArray[Any]) -> Table:
    """Codes of a model's columns as a table; every state must occur."""
    for v, (name, states) in enumerate(zip(field.names, field.states, strict=True)):
        seen = np.bincount(codes[:, v], minlength=len(states)) > 0
        if not seen.all():
            state = states[int(np.argmin(seen))]
            raise SettingError(
                f"state {state!r} of {name!r} is in none of the {len(codes):,} rows; merge it with "
                "another state, or take more rows."
            )
    columns = tuple(
        Column(name, states, ordered=len(states) == 2)
        for name, states in zip(field.names, field.states, strict=True)
    )
    return Table(np.asfortranarray(codes, np.uint8), columns, np.ones(len(codes)), None, ())


def denser_field(estimator: GreedyGraph) -> MarkovField:
    """The model of a graph that was searched far below the threshold."""
    table, intercept = estimator.table_, bool(estimator.intercept)
    floor = min(*band_ends(table).values(), estimator.floor_)
    runs = learn_neighbourhoods(table, floor, nu=estimator.nu, intercept=intercept)
    pairs = pairs_at(runs, floor, "or") | frozenset(estimator.graph_.pairs)
    links = tuple(
        Link(
            *pair,
            strength=None,
            sign=0,
            coupling=None,
            log_odds=None,
            evidence=None,
            selected_by="",
            unbounded=False,
        )
        for pair in sorted(pairs)
    )
    return fit_model(table, Graph(table.names, links), intercept=intercept)
