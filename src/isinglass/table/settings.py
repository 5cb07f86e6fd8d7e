"""A settings file: what the columns of a table mean, and how to learn from them, in TOML.

`isinglass inspect --out` writes one, a person edits it, and `fit --settings` obeys it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isinglass.errors import FileError
from isinglass.table.codebook.codebook import Codebook, as_code, missing_code
from isinglass.table.codebook.variable import Variable
from isinglass.wording import listing, quoted


@dataclass(frozen=True)
class Group:
    """Columns that belong together, such as the items of a scale, and the colour of their dots."""

    columns: tuple[str, ...]
    colour: str | None = None


@dataclass(frozen=True)
class Settings:
    """What a settings file says: of columns, and for the options of a command by their names."""

    codebook: Codebook
    options: dict[str, Any]
    groups: dict[str, Group] = field(default_factory=dict)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


#: How a colour is written.
COLOUR = re.compile("#[0-9a-fA-F]{6}")
_SECTIONS = ("reading", "fit", "groups", "columns")
#: By section: what a key may be, and the argument of a command that it sets.
_READING = {
    "na": (_is_list, "na"),
    "header": (_is_bool, "header"),
    "sep": (_is_text, "sep"),
    "encoding": (_is_text, "encoding"),
    "sheet": (_is_text, "sheet"),
}
_FIT = {
    "missing": (_is_text, "missing"),
    "weight": (_is_text, "sample_weight"),
    "clusters": (_is_text, "clusters"),
    "n_eff": (lambda value: _is_text(value) or _is_number(value), "n_eff"),
    "threshold": (lambda value: _is_text(value) or _is_number(value), "threshold"),
    "rule": (_is_text, "rule"),
    "edges": (_is_text, "edges"),
    "max_states": (_is_whole, "max_states"),
}
_COLUMN: dict[str, Callable[[Any], bool]] = {
    "label": _is_text,
    "values": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "order": lambda value: _is_list(value) or _is_bool(value),
    "missing": _is_list,
    "drop": _is_bool,
    "bins": lambda value: _is_whole(value) or (_is_list(value) and all(map(_is_number, value))),
    "high": lambda value: not isinstance(value, list | dict),
    "adjust": _is_bool,
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def read_settings(path: Path, content: bytes) -> Settings:
    """The settings in a file; FileError if it says something else."""
    try:
        document = tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FileError(f"{path} is not written in TOML: {error}.") from None
    _check_keys(path, "", document, _SECTIONS)
    parts = {key: document.get(key, {}) for key in _SECTIONS}
    for key, part in parts.items():
        if not isinstance(part, dict):
            raise FileError(f"{path}: {key} must be a section, [{key}], not {quoted(part)}.")
    options = {
        **_options(path, "reading", parts["reading"], _READING),
        **_options(path, "fit", parts["fit"], _FIT),
    }
    for name, said in parts["columns"].items():
        _check_column(path, name, said)
    return Settings(
        Codebook({name: _variable(said) for name, said in parts["columns"].items()}),
        options | _of_columns(parts["columns"]),
        _groups(path, parts["groups"]),
    )


def _check_keys(path: Path, where: str, said: Mapping[str, Any], known: Any) -> None:
    odd = [key for key in said if key not in known]
    if odd:
        raise FileError(
            f"{path}: {where}{quoted(odd[0])} is not known; known are {listing(list(known), 12)}."
        )


def _options(
    path: Path, section: str, said: Mapping[str, Any], known: Mapping[str, Any]
) -> dict[str, Any]:
    _check_keys(path, f"in [{section}], ", said, known)
    options = {}
    for key, value in said.items():
        fits, option = known[key]
        if not fits(value):
            raise FileError(f"{path}: in [{section}], {key} cannot be {quoted(value)}.")
        options[option] = value
    return options


def _check_column(path: Path, name: str, said: Any) -> None:
    if not isinstance(said, dict):
        raise FileError(f"{path}: [columns.{quoted(name)}] must be a section of its own.")
    _check_keys(path, f"of column {quoted(name)}, ", said, _COLUMN)
    for key, value in said.items():
        if not _COLUMN[key](value):
            raise FileError(f"{path}: of column {quoted(name)}, {key} cannot be {quoted(value)}.")


def _groups(path: Path, said: Mapping[str, Any]) -> dict[str, Group]:
    """Groups by name; a column is in one at most."""
    groups: dict[str, Group] = {}
    for name, one in said.items():
        where = f"{path}: [groups.{quoted(name)}]"
        if not isinstance(one, dict):
            raise FileError(f"{where} must be a section of its own.")
        _check_keys(path, f"of group {quoted(name)}, ", one, ("columns", "colour"))
        columns, colour = one.get("columns"), one.get("colour")
        if not (isinstance(columns, list) and all(map(_is_text, columns))):
            raise FileError(f"{where} needs columns, a list of names.")
        if colour is not None and not (isinstance(colour, str) and COLOUR.fullmatch(colour)):
            raise FileError(f'{where}: colour must be like "#0072b2", not {quoted(colour)}.')
        taken = [(column, other) for other in groups for column in groups[other].columns]
        twice = next((both for both in taken if both[0] in columns), None)
        if twice:
            raise FileError(
                f"{where} names column {quoted(twice[0])}, which is in {quoted(twice[1])} already."
            )
        groups[name] = Group(tuple(dict.fromkeys(columns)), colour)
    return groups


def _variable(said: Mapping[str, Any]) -> Variable:
    order = said.get("order")
    return Variable(
        said.get("label") or None,
        {as_code(code): label for code, label in said.get("values", {}).items()},
        tuple(map(str, order)) if isinstance(order, list) else order,
        tuple(missing_code(c) if isinstance(c, str) else c for c in said.get("missing", ())),
    )


def _of_columns(columns: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What is said of single columns, as arguments by name; a dropped one needs nothing else."""
    kept = {name: said for name, said in columns.items() if not said.get("drop")}
    return {
        "drop": [name for name in columns if name not in kept],
        "bins": {name: said["bins"] for name, said in kept.items() if "bins" in said},
        "high": {name: said["high"] for name, said in kept.items() if "high" in said},
        "adjust": [name for name, said in kept.items() if said.get("adjust")],
    }
