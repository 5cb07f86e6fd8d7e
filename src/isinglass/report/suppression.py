"""A summary that may be sent: only what does not give small groups of rows away.

It is built from a list of what may be shown, and holds nothing else. Any exact number that depends
on a combination of states (a gain, a strength, a hash of the table) can be solved for its rows.
So counts become bands of shares, each wider than any number that is hidden, and strengths keep one
digit. Where some combination of two columns has too few rows, even the presence of their link says
something about it: the link is shown, without any number, only if it would be there whatever the
hidden cells hold. Otherwise it is left out, as if there were none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import Setting, SettingError
from isinglass.graph import Link
from isinglass.losses.association import table_information, trend_information
from isinglass.losses.forms import TABLE, Form, Forms
from isinglass.model import FitRecord
from isinglass.record.findings import Findings
from isinglass.report import texts
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.wording import json_value, whole

Array = NDArray[np.float64]

HIDDEN = "(hidden)"
#: Notes that follow from the numbers of rows, columns and states alone.
HARMLESS_NOTES = ("constant", "fewer rows than columns", "few rows per cell")
#: Widths of a band of shares.
WIDTHS = (0.05, 0.1, 0.2, 0.25, 0.5, 1.0)


def groups_of(record: FitRecord, found: Findings) -> list[dict[str, Any]]:
    """The groups of columns that the user defined, by name."""
    return [
        {
            "name": group.name,
            "colour": group.colour,
            "columns": [record.names[i] for i in group.columns],
        }
        for group in found.groups or ()
    ]


def suppressed(record: FitRecord, found: Findings, least: float) -> dict[str, Any]:
    """What may be said of a fit where groups of fewer than `least` rows must stay hidden."""
    if record.tally is None:
        raise SettingError(
            "the record does not say how many rows each state has, so small groups cannot be "
            "hidden; fit the table again, or do not use suppress."
        )
    if record.adjusted:
        raise SettingError(
            "columns that are adjusted for split the rows into groups too small to be hidden; fit "
            "without ",
            *(Setting("adjust"), ", or do not use suppress."),
        )
    edges = _edges(record, least)
    rare = {
        name
        for name, counts, answers in zip(
            record.names, record.tally.counts, record.n_answers, strict=True
        )
        if min(counts[:answers]) < least
    }
    summary: dict[str, Any] = {
        "title": found.title,
        "rows": whole(record.rows),
        "columns": len(record.names),
        "rule": str(record.settings.get("rule")),
        "selector": record.selector,
        "edges": edges,
        "nodes": [
            {
                "label": None if found.labels is None else found.labels[r],
                **_node(record, r, least, edges),
            }
            for r in range(len(record.names))
        ],
        "groups": groups_of(record, found),
        "diagnostics": [
            asdict(note)
            for note in record.diagnostics
            if note.what in HARMLESS_NOTES and note.column not in rare
        ],
        "filled": None if record.filled is None else record.filled.how(),
        "settings": dict(record.settings),
        "version": record.version,
        "suppress": least,
    }
    return summary | {"texts": texts.all_texts(summary)}


def _node(record: FitRecord, r: int, least: float, edges: list[dict[str, Any]]) -> dict[str, Any]:
    assert record.tally is not None
    name, answers = record.names[r], record.n_answers[r]
    counts = record.tally.counts[r][:answers]
    width = next((width for width in WIDTHS if width * record.rows >= 2 * least), 1.0)
    return {
        "name": name,
        "states": [
            HIDDEN if count < least else json_value(label)
            for label, count in zip(record.states[r][:answers], counts, strict=True)
        ],
        "ordered": record.ordered[r],
        "shares": [_band(count / record.rows, width) for count in counts],
        "degree": sum(name in (edge["source"], edge["target"]) for edge in edges),
    }


def _band(share: float, width: float) -> list[float]:
    """The band that a share lies in, as its ends.

    >>> _band(0.23, 0.05), _band(1.0, 0.25)
    ([0.2, 0.25], [0.75, 1.0])
    """
    number = min(int(share / width + 1e-9), round(1 / width) - 1)
    return [round(number * width, 2), round((number + 1) * width, 2)]


def _edges(record: FitRecord, least: float) -> list[dict[str, Any]]:
    """Links that may be shown: those with a strength first, in an order that reveals no more."""
    shown = []
    for link in record.graph:
        small = _smallest(record, link) < least
        if small and not _certain(record, link, least):
            continue
        shown.append(
            {
                "source": record.names[link.source],
                "target": record.names[link.target],
                "strength": None if small else round(link.weight, 1),
                "sign": None if small else link.sign,
            }
        )
    return sorted(shown, key=lambda edge: -(edge["strength"] or 0.0))


def _smallest(record: FitRecord, link: Link) -> float:
    """Rows of the smallest cell of two columns; zero if they were not counted."""
    table = (record.link_tables or {}).get((link.source, link.target))
    if table is not None:
        return float(table.observed.min())
    if record.tally is None or record.tally.pairs is None:
        return 0.0
    i, j, p = link.source, link.target, len(record.names)
    return float(record.tally.pairs.smallest[i * p - i * (i + 1) // 2 + (j - i - 1)])


def _certain(record: FitRecord, link: Link, least: float) -> bool:
    """Whether a link would be there whatever its small cells hold, other columns held alike."""
    table = (record.link_tables or {}).get((link.source, link.target))
    if table is None or link.strength is None:
        return False
    information, form = _information_of(record, link), cast(Form, link.form)
    worst = _least_information(table.observed, least, information)
    here = float(information(table.observed))
    if here <= 0:
        return False
    loss = -0.5 * np.log1p(-min(link.strength**2, 1 - 1e-12)) * min(worst / here, 1.0)
    pair, forms = (link.source, link.target), _forms(record)
    df, looks = forms.df(*pair, form), forms.looks(*pair, form)
    return bool(one_parameter_gain(loss, df, record.rows, looks) > record.threshold)


def _forms(record: FitRecord) -> Forms:
    edges = str(record.settings.get("edges", "auto"))
    return Forms(tuple(record.n_answers), record.scores, edges)


def _information_of(record: FitRecord, link: Link) -> Callable[[Array], Array]:
    """What counts of two columns say about a link of its form."""
    if link.form == TABLE:
        return table_information
    states = [record.n_answers[end] for end in (link.source, link.target)]
    known = [record.scores[end] for end in (link.source, link.target)]
    scores = [
        np.arange(2.0) if some is None and m == 2 else None if some is None else np.array(some[:m])
        for some, m in zip(known, states, strict=True)
    ]
    return partial(trend_information, scores=scores[0], other=scores[1])


def _least_information(
    observed: Array, least: float, information_of: Callable[[Array], Array]
) -> float:
    """The least information of two columns about each other, for any rows in their small cells.

    Cell by cell, from a start that does not depend on what they hold: so the answer does not.
    """
    values = np.arange(np.ceil(least))
    table = np.where(observed < least, values[-1], observed).ravel()
    largest = int(observed.argmax())
    best = np.inf
    for _ in range(20):
        before = best
        for cell in np.flatnonzero(observed < least):
            tables = np.tile(table, (len(values), 1))
            tables[:, cell] = values
            tables[:, largest] += observed.sum() - tables.sum(axis=1)
            information = information_of(np.maximum(tables, 0.0).reshape(-1, *observed.shape))
            table, best = tables[information.argmin()], float(information.min())
        if best >= before - 1e-12:
            break
    return best
