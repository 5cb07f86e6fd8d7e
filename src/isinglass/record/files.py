"""The record of a fit, read from plain values without trust; writing it is in `record`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any

from isinglass.documents.document import Fault, choice, items, member, number, or_none, text, whole
from isinglass.documents.labels import states_from_json
from isinglass.documents.parts import LIBRARIES
from isinglass.engine import Value
from isinglass.graph import Graph, Link
from isinglass.record.findings import findings_from_json
from isinglass.record.link_tables import link_tables_from_json
from isinglass.record.paths import path_from_json
from isinglass.record.tally import tally_from_json
from isinglass.table import Note
from isinglass.table.coding.labels import plain

#: No positive number in a file is smaller: what is divided by it stays finite.
LEAST = 1e-100
#: No count of rows in a file is larger.
MOST_ROWS = 10**18


def members_from_json(document: Any) -> dict[str, Any]:
    """The members of the record that `FitRecord.to_json` wrote, by name; Fault if any is odd."""

    def part(key: str) -> Any:
        return member(document, key, "the fit")

    names, states, ordered, answers = _columns_from_json(part("columns"))
    p = len(names)
    links = [_link_from_json(edge, p) for edge in items(part("edges"), "edges")]
    floor = _positive(part("floor"), "floor")
    paths = tuple(
        path_from_json(path, at, floor, names, states)
        for at, path in enumerate(items(part("paths"), "paths", p))
    )
    return {
        "names": names,
        "states": states,
        "ordered": ordered,
        "n_answers": answers,
        "graph": Graph(names, tuple(links), choice(part("library"), "library", LIBRARIES)),
        "paths": paths,
        "values": values_from_json(part("values"), p),
        "threshold": _threshold(part("threshold"), floor),
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
        **_later_members(document, answers),
    }


def _later_members(document: Any, answers: tuple[int, ...]) -> dict[str, Any]:
    """What files of the same schema may lack."""
    tables, dropped, findings = map(document.get, ("link_tables", "dropped", "findings"))
    return {
        "link_tables": None if tables is None else link_tables_from_json(tables, answers),
        "dropped": None if dropped is None else whole(dropped, "the rows left out", MOST_ROWS),
        "findings": None if findings is None else findings_from_json(findings, len(answers)),
    }


def _columns_from_json(
    value: Any,
) -> tuple[tuple[str, ...], tuple[tuple[Hashable, ...], ...], tuple[bool, ...], tuple[int, ...]]:
    columns = items(value, "columns")
    names = tuple(text(member(column, "name", "a column"), "a name") for column in columns)
    if not names or len(set(names)) < len(names):
        raise Fault("the names of its columns must differ, and be at least one")
    states = tuple(
        states_from_json(member(column, "states", "a column"), "a state") for column in columns
    )
    ordered = tuple(
        choice(member(column, "ordered", "a column"), "whether a column is ordered", (False, True))
        for column in columns
    )
    answers = tuple(
        whole(member(column, "answers", "a column"), "the answers of a column", len(labels) + 1)
        for column, labels in zip(columns, states, strict=True)
    )
    if 0 in answers:
        raise Fault("every column must have at least one answer")
    return names, states, ordered, answers


def _link_from_json(edge: Any, p: int) -> Link:
    def part(key: str) -> Any:
        return member(edge, key, "an edge")

    source, target = (whole(part(end), f"the {end} of an edge", p) for end in ("source", "target"))
    if source >= target:
        raise Fault("the source of an edge must come before its target")
    return Link(
        source,
        target,
        strength=or_none(number, part("strength"), "the strength of an edge"),
        sign=choice(part("sign"), "the sign of an edge", (-1, 0, 1)),
        coupling=or_none(number, part("coupling"), "the coupling of an edge"),
        log_odds=or_none(number, part("log_odds"), "the log-odds of an edge"),
        evidence=or_none(number, part("evidence"), "the evidence of an edge"),
        selected_by=text(part("selected_by"), "who selected an edge"),
        unbounded=choice(part("unbounded"), "whether an edge is unbounded", (False, True)),
        tier=text(part("tier"), "the tier of an edge"),
        relative_strength=or_none(number, part("relative_strength"), "a relative strength"),
        entry_evidence=or_none(number, part("entry_evidence"), "an entry evidence"),
        source_state=or_none(text, part("source_state"), "the source state of an edge"),
        target_state=or_none(text, part("target_state"), "the target state of an edge"),
        size=number(part("size"), "the size of an edge"),
        df=or_none(partial(whole, below=2**31), edge.get("df"), "the parameters of an edge"),
    )


def values_to_json(values: Mapping[tuple[int, int], Value]) -> list[dict[str, Any]]:
    """What is known of every edge of a run, as plain values."""
    return [
        {"columns": [int(a), int(b)], **{key: plain(one) for key, one in value._asdict().items()}}
        for (a, b), value in values.items()
    ]


def values_from_json(value: Any, p: int) -> dict[tuple[int, int], Value]:
    """The values that `values_to_json` wrote; Fault if anything is odd."""
    values: dict[tuple[int, int], Value] = {}
    for entry in items(value, "values"):
        pair = items(member(entry, "columns", "a value"), "the columns of a value", 2)
        a, b = (whole(end, "a column of a value", p) for end in pair)
        if a >= b or (a, b) in values:
            raise Fault("every pair of values must be in column order, and be there once")
        known = [
            or_none(number, member(entry, key, "a value"), f"the {key} of a value")
            for key in Value._fields
        ]
        if any(one is not None and one < 0 for one in known):
            raise Fault("the numbers of a value must not be negative")
        values[a, b] = Value(*known)
    return values


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


def _threshold(value: Any, floor: float) -> float:
    threshold = _positive(value, "threshold")
    if threshold < floor:
        raise Fault("its threshold is below the floor that the search ran to")
    return threshold


def _positive(value: Any, where: str) -> float:
    size = number(value, where)
    if not size > LEAST:
        raise Fault(f"{where} must be positive")
    return size
