"""From a fitted estimator to the record of its fit."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from isinglass.estimators.link_tables import link_tables
from isinglass.estimators.tally import tally_of
from isinglass.model.record import FitRecord
from isinglass.selection import how_chosen
from isinglass.table.fingerprint import fingerprint
from isinglass.table.labels import plain

if TYPE_CHECKING:
    from isinglass.estimators.greedy import GreedyGraph


def record_of(estimator: GreedyGraph) -> FitRecord:
    """What is worth keeping of a fit when its table is gone."""
    table = estimator._table
    return FitRecord(
        table.names,
        tuple(column.states for column in table.columns),
        table.ordered,
        table.n_answers,
        estimator.graph_,
        tuple(estimator.paths_),
        tuple(estimator._runs.worth(r) for r in range(len(table.columns))),
        estimator.threshold_,
        estimator.floor_,
        how_chosen(estimator.threshold),
        tuple(estimator._notes()),
        {key: _plain(value) for key, value in estimator.get_params(deep=False).items()},
        table.n,
        fingerprint(table),
        version("isinglass"),
        tally_of(table),
        link_tables(table, estimator.graph_, bool(estimator.intercept)),
        table.dropped,
    )


def _plain(setting: Any) -> Any:
    """A setting as a plain value; an object, as a selector is, by its own words."""
    setting = plain(setting)
    if setting is None or isinstance(setting, bool | int | float | str):
        return setting
    if isinstance(setting, Mapping):
        return {str(key): _plain(value) for key, value in setting.items()}
    return repr(setting)
