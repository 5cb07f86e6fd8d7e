"""The record of a fit as plain values, and back again, read without trust."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from isinglass.documents.document import (
    Fault,
    by_pair,
    choice,
    items,
    member,
    not_negative,
    number,
    or_none,
    text,
    whole,
)
from isinglass.documents.labels import label_to_json, states_from_json
from isinglass.documents.parts import LIBRARIES
from isinglass.engine import Value
from isinglass.errors import SettingError
from isinglass.graph import Graph, Link
from isinglass.record.associations import tally_from_json
from isinglass.record.findings import findings_from_json
from isinglass.record.link_tables import link_tables_from_json, link_tables_to_json
from isinglass.record.paths import path_from_json, path_to_json
from isinglass.table import Note
from isinglass.table.coding.labels import plain

if TYPE_CHECKING:
    from isinglass.record.fit_record import FitRecord

Document = dict[str, Any]
Pair = tuple[int, int]

#: No positive number in a file is smaller: what is divided by it stays finite.
LEAST = 1e-100
#: No count of rows in a file is larger.
MOST_ROWS = 10**18


def record_to_json(record: FitRecord) -> Document:
    """A record as plain values; SettingError if something cannot be saved."""
    tables = record.link_tables
    document: Document = {
        "isinglass": record.version,
        "fingerprint": record.fingerprint,
        "rows": record.rows,
        "threshold": record.threshold,
        "floor": record.floor,
        "selector": record.selector,
        "settings": dict(record.settings),
        "columns": [
            {
                "name": name,
                "states": [label_to_json(label) for label in states],
                "ordered": bool(ordered),
                "answers": int(answers),
            }
            for name, states, ordered, answers in zip(
                record.names, record.states, record.ordered, record.n_answers, strict=True
            )
        ],
        "library": record.graph.library,
        "edges": [_plain_members(link._asdict()) for link in record.graph.links],
        "diagnostics": [_plain_members(vars(note)) for note in record.diagnostics],
        "paths": [path_to_json(path) for path in record.paths],
        "values": [
            {"columns": [int(a), int(b)], **_plain_members(value._asdict())}
            for (a, b), value in record.values.items()
        ],
        "tally": record.tally and record.tally.to_json(),
        "link_tables": None if tables is None else link_tables_to_json(tables),
        "dropped": record.dropped,
        "findings": record.findings and record.findings.to_json(),
    }
    try:
        members_from_json(document)  # what could not be loaded is not written
    except Fault as fault:
        raise SettingError(f"the record cannot be saved: {fault}.") from None
    return document


def members_from_json(document: Any) -> dict[str, Any]:
    """The members of the record that `record_to_json` wrote, by name; Fault if any is odd."""

    def part(key: str) -> Any:
        return member(document, key, "the fit")

    names, states, ordered, answers = _columns_from_json(part("columns"))
    p = len(names)
    links = [_link_from_json(edge, p) for edge in items(part("edges"), "edges")]
    floor = _positive(part("floor"), "floor")
    threshold = _positive(part("threshold"), "threshold")
    if threshold < floor:
        raise Fault("its threshold is below the floor that the search ran to")
    # Files of the same schema may lack these.
    tables, dropped, findings = map(document.get, ("link_tables", "dropped", "findings"))
    return {
        "names": names,
        "states": states,
        "ordered": ordered,
        "n_answers": answers,
        "graph": Graph(names, tuple(links), choice(part("library"), "library", LIBRARIES)),
        "paths": tuple(
            path_from_json(path, at, floor, names, states)
            for at, path in enumerate(items(part("paths"), "paths", p))
        ),
        "values": by_pair(part("values"), "values", p, _value_from_json),
        "threshold": threshold,
        "floor": floor,
        "selector": text(part("selector"), "selector"),
        "diagnostics": tuple(
            _note_from_json(note) for note in items(part("diagnostics"), "diagnostics")
        ),
        "settings": _settings_from_json(part("settings")),
        "rows": _positive(part("rows"), "rows"),
        "fingerprint": text(part("fingerprint"), "fingerprint"),
        "version": text(part("isinglass"), "the version"),
        "tally": tally_from_json(document.get("tally"), tuple(map(len, states))),
        "link_tables": None if tables is None else link_tables_from_json(tables, answers),
        "dropped": None if dropped is None else whole(dropped, "the rows left out", MOST_ROWS),
        "findings": None if findings is None else findings_from_json(findings, p),
    }


def _plain_members(members: Mapping[str, Any]) -> Document:
    return {key: plain(value) for key, value in members.items()}


def _columns_from_json(
    value: Any,
) -> tuple[tuple[str, ...], tuple[tuple[Hashable, ...], ...], tuple[bool, ...], tuple[int, ...]]:
    def part(key: str) -> list[Any]:
        return [member(column, key, "a column") for column in items(value, "columns")]

    names = tuple(text(name, "a name") for name in part("name"))
    if not names or len(set(names)) < len(names):
        raise Fault("the names of its columns must differ, and be at least one")
    states = tuple(states_from_json(labels, "a state") for labels in part("states"))
    ordered = tuple(
        choice(one, "whether a column is ordered", (False, True)) for one in part("ordered")
    )
    answers = tuple(
        whole(one, "the answers of a column", len(labels) + 1)
        for one, labels in zip(part("answers"), states, strict=True)
    )
    if 0 in answers:
        raise Fault("every column must have at least one answer")
    return names, states, ordered, answers


def _link_from_json(edge: Any, p: int) -> Link:
    def part(key: str) -> tuple[Any, str]:
        return member(edge, key, "an edge"), f"the {key} of an edge"

    source, target = (whole(*part(end), p) for end in ("source", "target"))
    if source >= target:
        raise Fault("the source of an edge must come before its target")
    numbers = ("strength", "coupling", "log_odds", "evidence", "relative_strength")
    members: Document = {
        **{key: or_none(number, *part(key)) for key in (*numbers, "entry_evidence")},
        **{key: or_none(text, *part(key)) for key in ("source_state", "target_state")},
        **{key: text(*part(key)) for key in ("selected_by", "tier")},
        "sign": choice(*part("sign"), (-1, 0, 1)),
        "unbounded": choice(*part("unbounded"), (False, True)),
        "size": number(*part("size")),
    }
    return Link(source, target, **members)


def _value_from_json(entry: Any) -> tuple[Any, Value]:
    numbers = (
        or_none(not_negative, member(entry, key, "a value"), f"the {key} of a value")
        for key in Value._fields
    )
    return member(entry, "columns", "a value"), Value(*numbers)


def _note_from_json(note: Any) -> Note:
    column, what, done = (member(note, key, "a diagnostic") for key in ("column", "what", "done"))
    return Note(
        or_none(text, column, "the column of a diagnostic"),
        text(what, "what a diagnostic says"),
        text(done, "what a diagnostic did"),
    )


def _settings_from_json(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Fault("settings must be an object")
    return {text(key, "a setting"): _plain(setting) for key, setting in value.items()}


def _plain(setting: Any, depth: int = 0) -> Any:
    """A setting: a scalar, or an object of them."""
    if isinstance(setting, dict) and not depth:
        return {text(key, "a setting"): _plain(part, 1) for key, part in setting.items()}
    if isinstance(setting, str):
        return text(setting, "a setting")
    if setting is None or isinstance(setting, bool):
        return setting
    number(setting, "a setting")
    return setting


def _positive(value: Any, where: str) -> float:
    size = number(value, where)
    if not size > LEAST:
        raise Fault(f"{where} must be positive")
    return size
