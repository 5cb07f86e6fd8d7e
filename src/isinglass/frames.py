"""Results as data frames, in the library the user's table came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import narwhals as nw

from isinglass.errors import MissingExtra

Library = Literal["pandas", "polars", "pyarrow"]


def frame(
    columns: Mapping[str, Sequence[Any]],
    library: str | None = None,
    types: Mapping[str, Any] | None = None,
) -> Any:
    """Build a data frame of the given library (polars when None) from lists.

    `types` are narwhals' data types of columns, which then have them even if all is missing.
    """
    library = library or "polars"
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
