"""A model as a file of plain data: JSON, written whole, read without trust.

The fields are listed in ``docs/files.md``. A file has a schema number: an older one is brought
up to date when it is read, a newer one is refused with the version that wrote it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from isinglass.core import MAX_STATES
from isinglass.errors import SettingError
from isinglass.files import check_file, write_files
from isinglass.model.document import (
    Fault,
    as_bytes,
    choice,
    items,
    member,
    numbers,
    read_document,
    shown,
    table,
    text,
    whole,
)
from isinglass.model.error_files import errors_from_json, errors_to_json
from isinglass.model.field import MarkovField
from isinglass.model.labels import label_from_json, label_to_json

if TYPE_CHECKING:
    from isinglass.model.record import FitRecord

T = TypeVar("T")
Document = dict[str, Any]

FORMAT = "isinglass model"
SCHEMA = 3


def _with_answers(document: Document) -> Document:
    """Schema 2: columns say whether they are ordered and how many answers they have.

    Cut points and unbounded edges, which it knows as well, may be left out.
    """
    fit = document.get("fit")
    if not isinstance(fit, dict):
        return document
    columns = [
        column | {"ordered": False, "answers": len(items(column.get("states"), "states"))}
        for column in items(fit.get("columns"), "columns")
        if isinstance(column, dict)
    ]
    return document | {"fit": fit | {"columns": columns}}


def _with_values(document: Document) -> Document:
    """Schema 3: strength and evidence are those of refits, which older files do not know.

    What they called strength only says how wide an edge is drawn.
    """
    fit = document.get("fit")
    if not isinstance(fit, dict):
        return document
    numbers = ("strength", "relative_strength", "evidence", "entry_evidence")
    unknown = dict.fromkeys((*numbers, "source_state", "target_state"))
    edges = [
        {"tier": ""} | edge | unknown | {"size": edge.get("strength")}
        for edge in items(fit.get("edges"), "edges")
        if isinstance(edge, dict)
    ]
    return document | {"fit": fit | {"edges": edges, "values": []}}


#: From a schema to the function that makes the next one of it.
UPGRADES: dict[int, Callable[[Document], Document]] = {1: _with_answers, 2: _with_values}

LIBRARIES = (None, "pandas", "polars", "pyarrow")


def save_model(
    field: MarkovField, path: str | os.PathLike[str], fit: FitRecord | None = None
) -> None:
    """Write a model, and the record of its fit if there is one."""
    check_file(path)
    write_files({Path(path): model_bytes(field, fit)})


def model_bytes(field: MarkovField, fit: FitRecord | None = None) -> bytes:
    """The content of a model file."""
    if fit is not None and fit.names != field.names:
        raise SettingError("the record is of other columns than the model; save them apart.")
    parts = {"model": model_to_json(field)}
    if fit is not None:
        parts["fit"] = fit.to_json()
    return _with_head(parts)


def record_bytes(fit: FitRecord) -> bytes:
    """The content of a model file that holds the record of a fit, and no model."""
    return _with_head({"fit": fit.to_json()})


def load_model(path: str | os.PathLike[str]) -> MarkovField:
    """Read the model of a file."""
    return load_part(path, "model", model_from_json)


def save_parts(path: str | os.PathLike[str], **parts: Document) -> None:
    """Write the parts of a model file (``model``, ``fit``), whole or not at all."""
    check_file(path)
    write_files({Path(path): _with_head(parts)})


def _with_head(parts: dict[str, Document]) -> bytes:
    head = {"format": FORMAT, "schema": SCHEMA, "isinglass": version("isinglass")}
    return as_bytes(head | parts)


def load_part(path: str | os.PathLike[str], part: str, understand: Callable[[Any], T]) -> T:
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
        return understand(document[part])

    return read_document(path, read)


def holds(path: str | os.PathLike[str], part: str) -> bool:
    """Whether a model file has a part (``model``, ``fit``)."""
    return read_document(path, lambda document: part in up_to_date(document))


def up_to_date(document: Any) -> Document:
    """The document in the present schema."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Fault(f'it is not a model file (no "format": "{FORMAT}")')
    schema = member(document, "schema", "it")
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


def model_to_json(field: MarkovField) -> Document:
    """The model as plain values; SettingError if a label or a name cannot be saved."""
    document: Document = {
        "library": field.library,
        "columns": [_column_to_json(field, v) for v in range(len(field.names))],
        "couplings": [
            {
                "columns": [i, j],
                "table": coupling.tolist(),
                "unbounded": (i, j) in field.unbounded,
            }
            for (i, j), coupling in field.couplings.items()
        ],
    }
    if field.errors is not None:
        document["errors"] = errors_to_json(field.errors)
    try:
        model_from_json(document)  # what could not be loaded is not written
    except Fault as fault:
        raise SettingError(f"the model cannot be saved: {fault}.") from None
    return document


def _column_to_json(field: MarkovField, v: int) -> Document:
    column = {
        "name": field.names[v],
        "states": [label_to_json(label) for label in field.states[v]],
        "intercept": field.intercepts[v].tolist(),
    }
    return column | ({"cuts": list(field.cuts[v])} if v in field.cuts else {})


def model_from_json(document: Any) -> MarkovField:
    """The model that `model_to_json` wrote; Fault or SettingError if anything is odd."""
    columns = items(member(document, "columns", "the model"), "columns")
    names, states, intercepts = [], [], []
    cuts: dict[int, tuple[float, ...]] = {}
    for at, column in enumerate(columns):
        where = f"column {at}"
        names.append(text(member(column, "name", where), f"the name of {where}"))
        states.append(states_from_json(member(column, "states", where), f"a state of {where}"))
        intercept = member(column, "intercept", where)
        intercepts.append(np.array(numbers(intercept, f"the intercept of {where}")))
        if column.get("cuts") is not None:
            cuts[at] = _cuts_from_json(column["cuts"], f"the cuts of {where}")
    couplings = {}
    unbounded = set()
    for at, coupling in enumerate(items(member(document, "couplings", "the model"), "couplings")):
        where = f"coupling {at}"
        pair = items(member(coupling, "columns", where), f"columns of {where}", 2)
        i, j = (whole(end, f"a column of {where}", len(names)) for end in pair)
        if (i, j) in couplings:
            raise Fault(f"columns {i} and {j} are coupled twice")
        rows = table(
            member(coupling, "table", where),
            f"the table of {where}",
            len(states[i]),
            len(states[j]),
        )
        couplings[i, j] = np.array(rows)
        if choice(coupling.get("unbounded", False), f"unbounded of {where}", (False, True)):
            unbounded.add((i, j))
    library = choice(document.get("library"), "library", LIBRARIES)
    model = MarkovField(
        tuple(names),
        tuple(states),
        tuple(intercepts),
        couplings,
        library,
        frozenset(unbounded),
        cuts,
    )
    if document.get("errors") is None:
        return model
    return replace(model, errors=errors_from_json(document["errors"], model))


def _cuts_from_json(value: Any, where: str) -> tuple[float, ...]:
    cuts = numbers(value, where)
    if cuts != sorted(set(cuts)):
        raise Fault(f"{where} must be increasing")
    return tuple(cuts)


def states_from_json(value: Any, where: str) -> tuple[Any, ...]:
    """The labels of one column."""
    labels = items(value, f"the list with {where}")
    if not 1 <= len(labels) <= MAX_STATES:
        raise Fault(f"the list with {where} has {len(labels)} members; 1 to {MAX_STATES} may be")
    return tuple(label_from_json(label, where) for label in labels)
