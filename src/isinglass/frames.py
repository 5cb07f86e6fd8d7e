"""Results as data frames, in the library the user's table came in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from numbers import Real
from typing import Any, Literal, cast

import narwhals as nw

from isinglass.errors import MissingExtra, SettingError
from isinglass.parameters import check

Library = Literal["pandas", "polars", "pyarrow"]


def frame(
    columns: Mapping[str, Sequence[Any]],
    library: str | None = None,
    types: Mapping[str, Any] | None = None,
) -> Any:
    """Build a data frame of the given library (polars when None) from lists.

    `types` are narwhals' data types of columns, which then have them even if all is missing.
    """
    check("library", library)
    library = library or "polars"
    if library != "pandas":
        for name, values in columns.items():
            _check_one_kind(name, values, library)
    try:
        made = nw.from_dict(dict(columns), backend=cast(Library, library))
        empty = [
            nw.col(name).cast(kind)
            for name, kind in (types or {}).items()
            if all(value is None for value in columns[name])
        ]
        return made.with_columns(*empty).to_native() if empty else made.to_native()
    except ModuleNotFoundError as error:
        raise MissingExtra(f"a {library} frame needs {library}: pip install {library}") from error


def _check_one_kind(name: str, values: Sequence[Any], library: str) -> None:
    """A column of polars or pyarrow holds one kind of values, or would take some for others."""
    kinds = set(map(type, values)) - {type(None)} if isinstance(values, list) else set()
    if len(kinds) < 2 or (bool not in kinds and all(issubclass(kind, Real) for kind in kinds)):
        return
    several = " and ".join(sorted(kind.__name__ for kind in kinds))
    raise SettingError(
        f"column {name!r} holds values of several types ({several}); a {library} column holds "
        "one. Take pandas, or codes instead of labels (as sample_codes draws)."
    )


def by_column(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Rows as columns, for `frame`.

    >>> by_column(("a", "b"), [(1, 2), (3, 4)])
    {'a': [1, 3], 'b': [2, 4]}
    """
    kept = list(rows)
    return {name: [row[at] for row in kept] for at, name in enumerate(names)}


def by_field(kind: Any, rows: Iterable[Any]) -> dict[str, list[Any]]:
    """Instances of a dataclass as columns, one per field."""
    names = [field.name for field in fields(kind)]
    return by_column(names, ([getattr(row, name) for name in names] for row in rows))
