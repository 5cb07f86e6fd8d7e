"""The file of a model and of a fit: parts of plain data under one heading, with a schema number.

The fields are listed in ``docs/files.md``. An older file is brought up to date when it is read,
a newer one is refused with the version that wrote it.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Hashable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from isinglass.core.gate import MAX_STATES
from isinglass.documents.document import LARGEST, Entry, Fault, as_bytes, read_document, shown
from isinglass.errors import SettingError
from isinglass.files import check_file, write_files
from isinglass.table.coding.labels import plain

_TIMES: dict[str, Any] = {"datetime": dt.datetime, "date": dt.date, "time": dt.time}


def label_to_json(label: Any) -> Any:
    """A label as JSON can hold it, or SettingError.

    >>> [label_to_json(label) for label in ("yes", 1, 1.0, True, None)]
    ['yes', 1, 1.0, True, None]
    >>> label_to_json(dt.date(2020, 2, 29))
    {'date': '2020-02-29'}
    """
    label = plain(label)
    if label is None or type(label) in (str, bool):
        return label
    if type(label) in (int, float) and abs(label) <= LARGEST:
        return label
    for kind, of_type in _TIMES.items():
        if type(label) is of_type:
            return {kind: label.isoformat()}
    raise SettingError(
        f"the label {shown(label)} cannot be saved; a label must be text, a finite number, true or "
        "false, a date or a time."
    )


def label_from_json(entry: Entry) -> Hashable:
    """The label that `label_to_json` wrote, or Fault.

    >>> label_from_json(Entry({"date": "2020-02-29"}, "a state"))
    datetime.date(2020, 2, 29)
    """
    value: Any = entry.value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return entry.text()
    if isinstance(value, int | float) and -LARGEST <= value <= LARGEST:
        return value
    if isinstance(value, dict) and len(value) == 1 and (kind := next(iter(value))) in _TIMES:
        written = entry[kind].text()
        try:
            label: Hashable = _TIMES[kind].fromisoformat(written)
        except ValueError:
            raise entry.fault(f"is not a {kind}: {shown(written)}") from None
        return label
    raise entry.fault(f"must be text, a finite number, true, false or a date, not {shown(value)}")


def states_from_json(entry: Entry) -> tuple[Hashable, ...]:
    """The labels of one column."""
    if not 1 <= len(entry.items()) <= MAX_STATES:
        raise entry.fault(f"has {len(entry.value)} members; 1 to {MAX_STATES} are allowed")
    return tuple(label_from_json(label) for label in entry.entries(f"one of {entry.name}"))


T = TypeVar("T")
Document = dict[str, Any]

FORMAT = "isinglass model"
SCHEMA = 3

#: The data-frame libraries of results.
LIBRARIES = (None, "pandas", "polars", "pyarrow")


def _with_answers(fit: Entry) -> Document:
    """Schema 2: columns say whether they are ordered and how many answers they have.

    Cut points and unbounded edges, which it also has, are optional.
    """
    columns = [
        column.members() | {"ordered": False, "answers": len(column["states"].items())}
        for column in fit["columns"].entries("a column")
    ]
    return fit.members() | {"columns": columns}


def _with_values(fit: Entry) -> Document:
    """Schema 3: strength and evidence are those of refits, which older files do not know.

    What they called strength only says how wide an edge is drawn.
    """
    numbers = ("strength", "relative_strength", "evidence", "entry_evidence")
    unknown = dict.fromkeys((*numbers, "source_state", "target_state"))
    edges = [
        {"tier": ""} | edge.members() | unknown | {"size": edge.get("strength").value}
        for edge in fit["edges"].entries("an edge")
    ]
    return fit.members() | {"edges": edges, "values": []}


def _of_fit(upgrade: Callable[[Entry], Document]) -> Callable[[Document], Document]:
    """A change of the record of a fit, if there is one."""

    def upgraded(document: Document) -> Document:
        fit = document.get("fit")
        return document | {"fit": upgrade(Entry(fit))} if isinstance(fit, dict) else document

    return upgraded


#: From a schema to the function that makes the next one of it.
UPGRADES = {1: _of_fit(_with_answers), 2: _of_fit(_with_values)}


def save_parts(path: str | os.PathLike[str], **parts: Document) -> None:
    """Write the parts of a model file (``model``, ``fit``), whole or not at all."""
    check_file(path)
    write_files({Path(path): as_file(parts)})


def as_file(parts: dict[str, Document]) -> bytes:
    """The content of a model file with these parts."""
    head = {"format": FORMAT, "schema": SCHEMA, "isinglass": version("isinglass")}
    return as_bytes(head | parts)


def load_part(path: str | os.PathLike[str], part: str, understand: Callable[[Entry], T]) -> T:
    """Read one part of a model file."""

    def read(document: Any) -> T:
        document = up_to_date(document)
        if part == "model" and part not in document and "fit" in document:
            raise Fault(
                "it holds the record of a fit, but no model; fit the table again, without "
                "--no-model and to the end, or save a model with MarkovField.save"
            )
        if part not in document:
            held = "model" if "model" in document else "a heading"
            raise Fault(f"it holds no {part}, only {held}")
        return understand(Entry(document[part]))

    return read_document(path, read)


def holds(path: str | os.PathLike[str], part: str) -> bool:
    """Whether a model file has a part (``model``, ``fit``)."""
    return read_document(path, lambda document: part in up_to_date(document))


def up_to_date(document: Any) -> Document:
    """The document in the present schema."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Fault(f'it is not a model file (no "format": "{FORMAT}")')
    schema = Entry(document)["schema"].value
    if type(schema) is not int or schema < 1:
        raise Fault(f"its schema must be a whole number from 1, not {shown(schema)}")
    if schema > SCHEMA:
        raise Fault(
            f"it has schema {shown(schema)}, from isinglass {shown(document.get('isinglass'))}; "
            f"this is isinglass {version('isinglass')}, which reads up to {SCHEMA}; "
            "install a newer isinglass"
        )
    for old in range(schema, SCHEMA):
        document = UPGRADES[old](document)
    return dict(document)
