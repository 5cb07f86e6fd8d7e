"""The file of a model and of a fit: parts of plain data under one heading, with a schema number.

The fields are listed in ``docs/files.md``. An older file is brought up to date when it is read,
a newer one is refused with the version that wrote it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from isinglass.documents.document import Fault, as_bytes, items, member, read_document, shown
from isinglass.files import check_file, write_files

T = TypeVar("T")
Document = dict[str, Any]

FORMAT = "isinglass model"
SCHEMA = 3

#: The data-frame libraries of results.
LIBRARIES = (None, "pandas", "polars", "pyarrow")


def _with_answers(document: Document) -> Document:
    """Schema 2: columns say whether they are ordered and how many answers they have.

    Cut points and unbounded edges, which it also has, are optional.
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


def save_parts(path: str | os.PathLike[str], **parts: Document) -> None:
    """Write the parts of a model file (``model``, ``fit``), whole or not at all."""
    check_file(path)
    write_files({Path(path): as_file(parts)})


def as_file(parts: dict[str, Document]) -> bytes:
    """The content of a model file with these parts."""
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
