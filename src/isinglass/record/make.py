"""From a fit to its record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any

from isinglass.engine import (
    Paths,
    Progress,
    RefittedValues,
    Search,
    Value,
    cuts_of,
    forms_at,
    graph_key,
)
from isinglass.graph import Graph
from isinglass.losses.forms import TABLE, Form, larger_form
from isinglass.record.filled import Filled
from isinglass.record.fit_record import FitRecord
from isinglass.record.tables import link_tables, tally_of
from isinglass.selection import TENTATIVE, how_chosen
from isinglass.table import Note
from isinglass.table.coding.labels import plain

Pair = tuple[int, int]


def record_of(
    search: Search,
    graph: Graph,
    threshold: float,
    edge_values: RefittedValues,
    *,
    settings: Mapping[str, Any],
    notes: Iterable[Note],
    progress: Progress | None = None,
    filled: Filled | None = None,
) -> FitRecord:
    """What to keep of a fit when its table is gone."""
    table = search.table
    return FitRecord(
        names=table.names,
        states=table.states,
        ordered=table.ordered,
        n_answers=table.n_answers,
        graph=graph,
        paths=tuple(Paths(search.runs, table.library)),
        values=_values(search, graph, edge_values, progress),
        threshold=threshold,
        floor=search.floor,
        selector=how_chosen(settings["threshold"]),
        diagnostics=tuple(notes),
        settings={key: _plain(value) for key, value in settings.items()},
        rows=table.n,
        fingerprint=search.rows.fingerprint,
        version=version("isinglass"),
        tally=tally_of(table),
        link_tables=link_tables(
            table,
            graph,
            edge_values.intercept,
            expected=edge_values.expected.get(graph_key(graph.pairs, graph.forms)),
        ),
        dropped=table.dropped,
        filled=filled,
        scores=table.scores,
        adjusted=table.adjusted_names,
        found_alone=search.runs.found_alone,
    )


def _values(
    search: Search, graph: Graph, edge_values: RefittedValues, progress: Progress | None
) -> dict[Pair, Value]:
    """The values of all edges that the run has at some threshold."""
    table, runs = search.table, search.runs
    tentative = max(TENTATIVE.threshold(table.n, len(table.columns)), search.floor)
    at = partial(forms_at, runs, rule=search.rule)
    found = edge_values(graph.pairs, graph.forms, progress)
    values = dict(zip(graph.pairs, found, strict=True))
    for forms in (at(threshold=tentative), at(threshold=search.floor), _ever(search)):
        if not forms.keys() <= values.keys():
            values |= edge_values.others(sorted(forms), forms, values.keys(), progress)
    return dict(sorted(values.items()))


def _ever(search: Search) -> dict[Pair, str]:
    """All pairs that the run has at some threshold, in the largest form that they have there."""
    found: dict[Pair, Form] = {}
    for r, cuts in enumerate(cuts_of(search.runs)):
        for at, support in enumerate(cuts.supports):
            # Fits are made when they are looked at.
            forms = {} if search.edges == TABLE else cuts.fits[at].forms
            for t in support:
                pair, form = (min(r, t), max(r, t)), forms.get(t, TABLE)
                found[pair] = larger_form(found.get(pair, form), form)
    return dict(found)


def _plain(setting: Any) -> Any:
    """A setting as a plain value; an object, as a selector is, by its own words."""
    setting = plain(setting)
    if setting is None or isinstance(setting, bool | int | float | str):
        return setting
    if isinstance(setting, Mapping):
        return {str(key): _plain(value) for key, value in setting.items()}
    return repr(setting)
