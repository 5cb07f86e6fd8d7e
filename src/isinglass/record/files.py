"""The record of a fit as plain values, and back again, read without trust."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from isinglass.documents.document import Entry, Fault, to_plain
from isinglass.documents.parts import LIBRARIES, Document, label_to_json, states_from_json
from isinglass.engine import FoundAlone, Value
from isinglass.errors import SettingError
from isinglass.graph import FLOATS, Graph, Link
from isinglass.losses.forms import FORMS, TABLE
from isinglass.record.filled import Filled
from isinglass.record.findings import MEASURES, VERDICTS, ColumnGroup, Findings, Verdicts
from isinglass.record.paths import path_from_json, path_to_json
from isinglass.record.tables import Associations, LinkTable, Tally
from isinglass.table import Note
from isinglass.table.settings import COLOUR

if TYPE_CHECKING:
    from isinglass.record.fit_record import FitRecord

T = TypeVar("T")
Pair = tuple[int, int]

#: What neighbourhoods are joined by.
RULES = ("or", "and", "joint")
#: No count of rows in a file is larger.
MOST_ROWS = 10**18


def record_to_json(record: FitRecord) -> Document:
    """The record as plain values; SettingError if something cannot be saved.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> est.record().to_json()["rows"]
    1000.0
    """
    columns = zip(
        *(record.names, record.states, record.ordered, record.n_answers, record.scores), strict=True
    )
    document: Document = {
        "isinglass": record.version,
        **{key: getattr(record, key) for key in ("fingerprint", "rows", "threshold", "floor")},
        "selector": record.selector,
        "settings": dict(record.settings),
        "columns": [
            {
                "name": name,
                "states": [label_to_json(label) for label in states],
                "ordered": bool(ordered),
                "answers": int(answers),
            }
            | ({} if scores is None else {"scores": list(scores[:answers])})
            for name, states, ordered, answers, scores in columns
        ],
        "library": record.graph.library,
        "edges": to_plain(record.graph.links),
        "diagnostics": to_plain(record.diagnostics),
        "paths": [path_to_json(path) for path in record.paths],
        "values": _pairs_to_json(record.values),
        "tally": to_plain(record.tally),
        "link_tables": None if record.link_tables is None else _pairs_to_json(record.link_tables),
        "dropped": record.dropped,
        "findings": to_plain(record.findings),
        "filled": None if record.filled is None else _filled_to_json(record.filled),
        "adjusted": list(record.adjusted),
        "found_alone": _found_alone_to_json(record.found_alone),
    }
    try:
        members_from_json(Entry(document))  # what could not be loaded is not written
    except Fault as fault:
        raise SettingError(f"the record cannot be saved: {fault}.") from None
    return document


def _pairs_to_json(of_pairs: Mapping[Pair, Any]) -> list[Document]:
    """One object for each pair of columns."""
    return [{"columns": to_plain(pair), **to_plain(said)} for pair, said in of_pairs.items()]


def members_from_json(fit: Entry) -> dict[str, Any]:
    """The members of the record that `record_to_json` wrote, by name; Fault if any is odd."""
    columns = fit["columns"].entries("column {}")
    names = tuple(column["name"].text() for column in columns)
    if not names or len(set(names)) < len(names):
        raise Fault("the names of its columns must differ, and be at least one")
    p = len(names)
    states = tuple(states_from_json(column["states"]) for column in columns)
    n_states = tuple(map(len, states))
    answers = tuple(
        column["answers"].whole(m + 1) for column, m in zip(columns, n_states, strict=True)
    )
    if 0 in answers:
        raise Fault("every column must have at least one answer")
    links = [_link(edge, p) for edge in fit["edges"].entries("an edge")]
    floor, threshold = fit["floor"].positive(), fit["threshold"].positive()
    if threshold < floor:
        raise Fault("its threshold is below the floor that the search ran to")
    paths = fit["paths"].entries("path {}", p)
    settings = _setting(Entry(fit["settings"].members(), "settings"))
    if settings.get("rule", "or") not in RULES:
        raise Fault(f"its rule must be one of {', '.join(RULES)}")
    return {
        "names": names,
        "states": states,
        "ordered": tuple(column["ordered"].flag() for column in columns),
        "n_answers": answers,
        "graph": Graph(names, tuple(links), fit["library"].choice(*LIBRARIES)),
        "paths": tuple(path_from_json(path, floor, names, n_states) for path in paths),
        "values": _by_columns(fit["values"], p, _value),
        "threshold": threshold,
        "floor": floor,
        **{key: fit[key].text() for key in ("selector", "fingerprint")},
        "diagnostics": tuple(map(_note, fit["diagnostics"].entries("a diagnostic"))),
        "settings": settings,
        "rows": fit["rows"].positive(),
        "version": fit["isinglass"].text(),
        # Files of the same schema may lack these.
        "tally": fit.get("tally").optional(lambda tally: _tally(tally, n_states)),
        "link_tables": fit.get("link_tables").optional(lambda some: _link_tables(some, answers)),
        "dropped": fit.get("dropped").optional(lambda rows: rows.whole(MOST_ROWS)),
        "findings": fit.get("findings").optional(lambda findings: _findings(findings, p)),
        "filled": fit.get("filled").optional(lambda filled: _filled(filled, p)),
        "adjusted": fit.get("adjusted").optional(_names) or (),
        "found_alone": fit.get("found_alone").optional(lambda ends: _found_alone(ends, p)),
        "scores": tuple(
            column.get("scores").optional(partial(_scores, answers=k, states=m))
            for column, k, m in zip(columns, answers, n_states, strict=True)
        ),
    }


def _names(entry: Entry) -> tuple[str, ...]:
    return tuple(one.text() for one in entry.entries("a column that is adjusted for"))


def _scores(entry: Entry, answers: int, states: int) -> tuple[float, ...]:
    """Scores of answers, which rise; missing values, the last state if any, have none."""
    given = entry.increasing(entry.numbers(answers))
    return (*given, *(math.nan,) * (states - answers))


def _found_alone_to_json(found: FoundAlone | None) -> list[list[Any]] | None:
    """A column, a neighbour, and the threshold; null if the column has it at all thresholds."""
    if found is None:
        return None
    return [[*end, high if math.isfinite(high) else None] for end, high in found.items()]


def _found_alone(ends: Entry, p: int) -> dict[Pair, float]:
    found: dict[Pair, float] = {}
    for one in ends.entries(f"one of {ends.name}"):
        column, neighbour, high = one.items(3)
        end = Entry(column, ends.name).whole(p), Entry(neighbour, ends.name).whole(p)
        if end[0] == end[1] or end in found:
            raise ends.fault("must be columns with other columns, each once")
        found[end] = Entry(high, ends.name).optional(Entry.positive) or math.inf
    return found


def _filled_to_json(filled: Filled) -> Document:
    return {
        "missing": list(filled.missing),
        "lost": [[*pair, share] for pair, share in filled.lost.items()],
        "draws": filled.draws,
        "rounds": filled.rounds,
        "settled": filled.settled,
    }


def _filled(filled: Entry, p: int) -> Filled:
    missing = filled["missing"].entries("the missing cells of a column", p)
    return Filled(
        tuple(cells.whole(MOST_ROWS) for cells in missing),
        _triples(filled["lost"], p, _share),
        filled["draws"].whole(MOST_ROWS),
        filled["rounds"].whole(MOST_ROWS),
        filled["settled"].flag(),
    )


def _link(edge: Entry, p: int) -> Link:
    source, target = edge["source"].whole(p), edge["target"].whole(p)
    if source >= target:
        raise Fault("the source of an edge must come before its target")
    members: Document = {
        **{key: edge[key].optional(Entry.number) for key in FLOATS if key != "step_log_odds"},
        "step_log_odds": edge.get("step_log_odds").optional(Entry.number),
        **{key: edge[key].optional(Entry.text) for key in ("source_state", "target_state")},
        **{key: edge[key].text() for key in ("selected_by", "tier")},
        "form": edge.get("form").optional(lambda one: one.choice(*FORMS)) or TABLE,
        "sign": edge["sign"].choice(-1, 0, 1),
        "unbounded": edge["unbounded"].flag(),
        "size": edge["size"].number(),
    }
    return Link(source, target, **members)


def _by_columns(entry: Entry, p: int, read: Callable[[Entry, Pair], T]) -> dict[Pair, T]:
    """What objects with ``columns`` say of pairs of columns."""
    objects = [(one["columns"].pair(p), one) for one in entry.entries(f"one of the {entry.name}")]
    return entry.by_pair((pair, read(one, pair)) for pair, one in objects)


def _value(entry: Entry, pair: Pair) -> Value:
    return Value(*(entry[key].optional(lambda one: one.number(least=0)) for key in Value._fields))


def _note(note: Entry) -> Note:
    return Note(note["column"].optional(Entry.text), note["what"].text(), note["done"].text())


def _setting(entry: Entry, depth: int = 0) -> Any:
    """A setting: a scalar, or an object of them."""
    if isinstance(entry.value, dict) and depth < 2:
        return {
            Entry(key, "a setting").text(): _setting(Entry(part, "a setting"), depth + 1)
            for key, part in entry.value.items()
        }
    if isinstance(entry.value, str):
        return entry.text()
    if entry.value is not None and not isinstance(entry.value, bool):
        entry.number()
    return entry.value


def _tally(tally: Entry, n_states: tuple[int, ...]) -> Tally:
    counts = zip(
        tally["counts"].entries("the counts of a column", len(n_states)), n_states, strict=True
    )
    return Tally(
        tuple(tuple(rows.numbers(m, least=0)) for rows, m in counts),
        tally["pairs"].optional(lambda pairs: _associations(pairs, len(n_states))),
    )


def _associations(pairs: Entry, p: int) -> Associations:
    size = p * (p - 1) // 2
    sign = pairs["sign"]
    if not all(type(one) is int and -1 <= one <= 1 for one in sign.items(size)):
        raise sign.fault("must be -1, 0 or 1")
    information, smallest = (
        np.array(pairs[key].numbers(size, least=0)) for key in ("information", "smallest")
    )
    return Associations(information, np.array(sign.value, dtype=np.int8), smallest)


def _link_tables(tables: Entry, answers: tuple[int, ...]) -> dict[Pair, LinkTable]:
    def read(one: Entry, pair: Pair) -> LinkTable:
        shape = answers[pair[0]], answers[pair[1]]
        return LinkTable(*(one[key].table(*shape, least=0) for key in ("observed", "expected")))

    return _by_columns(tables, len(answers), read)


def _findings(findings: Entry, p: int) -> Findings:
    return Findings(
        findings["title"].optional(Entry.text),
        findings["measures"].optional(lambda measures: _measures(measures, p)),
        findings["frequencies"].optional(lambda shares: _triples(shares, p, _share)),
        findings["explanations"].optional(lambda texts: _triples(texts, p, Entry.text)),
        findings["verdicts"].optional(lambda verdicts: _verdicts(verdicts, p * (p - 1) // 2)),
        # Files of the same schema may lack these.
        findings.get("labels").optional(
            lambda labels: tuple(
                one.optional(Entry.text) for one in labels.entries("the label of a column", p)
            )
        ),
        findings.get("groups").optional(
            lambda groups: tuple(_group(one, p) for one in groups.entries("a group of columns"))
        ),
    )


def _group(group: Entry, p: int) -> ColumnGroup:
    columns = group["columns"].entries("a column of a group")
    colour = group["colour"].optional(Entry.text)
    if colour is not None and not COLOUR.fullmatch(colour):
        raise group["colour"].fault("must be a colour such as #0072b2")
    return ColumnGroup(group["name"].text(), tuple(one.whole(p) for one in columns), colour)


def _measures(measures: Entry, p: int) -> dict[str, tuple[float | None, ...]]:
    return {
        Entry(key, "a measure").choice(*MEASURES): _optional_numbers(measures[key], p)
        for key in measures.members()
    }


def _optional_numbers(entry: Entry, length: int) -> tuple[float | None, ...]:
    for one in entry.entries(entry.name, length):
        one.optional(Entry.number)
    return tuple(entry.value)


def _triples(entry: Entry, p: int, read: Callable[[Entry], T]) -> dict[Pair, T]:
    """What lists of two columns and one more value say of pairs of columns."""
    triples = [one.items(3) for one in entry.entries(f"one of {entry.name}")]
    return entry.by_pair(
        (Entry(pair, entry.name).pair(p), read(Entry(said, entry.name))) for *pair, said in triples
    )


def _share(entry: Entry) -> float:
    if not 0 <= entry.number() <= 1:
        raise entry.fault("must be from 0 to 1")
    return float(entry.value)


def _verdicts(verdicts: Entry, pairs: int) -> Verdicts:
    words = verdicts["verdict"].entries("a verdict", pairs)
    return Verdicts(
        tuple(word.choice(*VERDICTS) for word in words),
        _optional_numbers(verdicts["odds_ratio"], pairs),
        _optional_numbers(verdicts["rows_needed"], pairs),
        verdicts.get("state_odds_ratio").optional(lambda each: _optional_numbers(each, pairs)),
    )
