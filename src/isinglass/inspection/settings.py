"""What is proposed as a settings file that a person reads and edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from isinglass.documents.toml import key_text, section, value_text
from isinglass.inspection.options import Options
from isinglass.inspection.result import Inspected, Inspection
from isinglass.table.codebook import Variable
from isinglass.table.codebook.variable import as_text, is_range
from isinglass.wording import counted, one_line


def settings_toml(
    found: Inspection, data: str, path: str, codebook: Mapping[str, Variable] | None = None
) -> str:
    """The proposal for a file of data, as the text of the settings file at a path.

    >>> import isinglass as ig
    >>> found = ig.inspect([["yes", 1], ["no", 1], ["yes", 1]])
    >>> print(settings_toml(found, "t.csv", "t.toml"))
    # isinglass fit t.csv --settings t.toml
    # 3 rows, 2 columns. Change what you like; lines that begin with # are comments.
    <BLANKLINE>
    [columns.x0]
    # yes/no: no (1), yes (2)
    <BLANKLINE>
    [columns.x1]
    # constant: 1 (3)
    drop = true
    <BLANKLINE>
    """
    head = f"{counted(found.rows, 'row')}, {counted(len(found.columns), 'column')}"
    lines = [
        f"# isinglass fit {one_line(data)} --settings {one_line(Path(path).name)}",
        f"# {head}. Change what you like; lines that begin with # are comments.",
        "",
        *section("reading", _reading(found.options)),
        *section("fit", _fit(found.options)),
    ]
    known = codebook or {}
    for column in found.columns:
        lines += _column(column, found.options, known.get(column.name, Variable()))
    return "\n".join(lines)


def _reading(options: Options) -> dict[str, Any]:
    known = ("na", "header", "sep", "encoding", "sheet")
    return {key: _listed(options.reading[key]) for key in known if key in options.reading}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _fit(options: Options) -> dict[str, Any]:
    given = {
        "missing": options.missing,
        "weight": options.sample_weight,
        "n_eff": options.n_eff,
        "clusters": options.clusters,
    }
    return {key: value for key, value in given.items() if value is not None}


def _column(column: Inspected, options: Options, said: Variable) -> Iterator[str]:
    yield f"[columns.{key_text(column.name)}]"
    yield f"# {column.kind}: {_states(column)}"
    yield from (f"# {one_line(sentence)}" for sentence in column.related)
    for key, value in _settings(column, options, said).items():
        yield f"{key} = {value_text(value)}"
    yield ""


def _states(column: Inspected) -> str:
    if column.distinct > len(column.states):
        said = f"{column.distinct:,} distinct values"
    else:
        said = ", ".join(f"{one_line(str(v), 40)} ({n:,})" for v, n in column.states) or "no value"
    return said + (f"; {column.missing:,} missing" if column.missing else "")


def _settings(column: Inspected, options: Options, said: Variable) -> dict[str, Any]:
    order = said.order
    codes = [*options.missing_codes.get("*", ()), *options.missing_codes.get(column.name, ())]
    own = [code for code in codes if code in column.missing_codes]
    settings = {
        "label": said.label or column.label,
        "values": {as_text(code): label for code, label in said.values.items()},
        "order": options.order.get(column.name, list(order) if isinstance(order, tuple) else order),
        "missing": list(dict.fromkeys([*map(_missing, said.missing), *own])),
        "bins": options.bins.get(column.name),
        "drop": True if column.proposal == "drop" else None,
    }
    return {key: value for key, value in settings.items() if value not in (None, [], {})}


def _missing(one: Any) -> Any:
    return f"{as_text(one[0])} to {as_text(one[1])}" if is_range(one) else one
