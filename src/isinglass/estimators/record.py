"""From a fitted estimator to the record of its fit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from isinglass.engine import Progress, Value, cuts_of, pairs_at
from isinglass.record.counting import tally_of
from isinglass.record.fit_record import FitRecord
from isinglass.record.link_counts import link_tables
from isinglass.selection import TENTATIVE, how_chosen
from isinglass.table.coding.labels import plain
from isinglass.table.fingerprint import fingerprint

Pair = tuple[int, int]

if TYPE_CHECKING:
    from isinglass.estimators.greedy import GreedyGraph


def record_of(estimator: GreedyGraph, progress: Progress | None = None) -> FitRecord:
    """What is worth keeping of a fit when its table is gone."""
    table = estimator.table_
    return FitRecord(
        table.names,
        tuple(column.states for column in table.columns),
        table.ordered,
        table.n_answers,
        estimator.graph_,
        tuple(estimator.paths_),
        _values(estimator, progress),
        estimator.threshold_,
        estimator.floor_,
        how_chosen(estimator.threshold),
        tuple(estimator._notes()),
        {key: _plain(value) for key, value in estimator.get_params(deep=False).items()},
        table.n,
        fingerprint(table),
        version("isinglass"),
        tally_of(table),
        link_tables(
            table,
            estimator.graph_,
            bool(estimator.intercept),
            expected=estimator._valuer.expected.get(estimator.graph_.pairs),
        ),
        table.dropped,
    )


def _values(estimator: GreedyGraph, progress: Progress | None) -> dict[Pair, Value]:
    """The values of all edges that the run has at some threshold."""
    table, runs = estimator.table_, estimator.search_.runs
    tentative = max(TENTATIVE.threshold(table.n, len(table.columns)), estimator.floor_)
    at = partial(pairs_at, runs, rule=estimator.rule)
    ever = {
        (min(r, t), max(r, t))
        for r, cuts in enumerate(cuts_of(runs))
        for support in cuts.supports
        for t in support
    }
    chosen = estimator.graph_.pairs
    values = dict(zip(chosen, estimator._valuer(chosen, progress), strict=True))
    for pairs in (at(threshold=tentative), at(threshold=estimator.floor_), ever):
        if not pairs <= values.keys():
            values |= estimator._valuer.others(sorted(pairs), values.keys(), progress)
    return dict(sorted(values.items()))


def _plain(setting: Any) -> Any:
    """A setting as a plain value; an object, as a selector is, by its own words."""
    setting = plain(setting)
    if setting is None or isinstance(setting, bool | int | float | str):
        return setting
    if isinstance(setting, Mapping):
        return {str(key): _plain(value) for key, value in setting.items()}
    return repr(setting)
