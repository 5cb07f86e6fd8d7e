"""Results as data frames, in the library the user's table came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import narwhals as nw

from isinglass.errors import MissingExtra
from isinglass.parameters import check

Library = Literal["pandas", "polars", "pyarrow"]


def frame(columns: Mapping[str, Sequence[Any]], library: str | None = None) -> Any:
    """Build a data frame of the given library (polars when None) from lists."""
    check("library", library)
    library = library or "polars"
    try:
        return nw.from_dict(dict(columns), backend=cast(Library, library)).to_native()
    except ModuleNotFoundError as error:
        raise MissingExtra(f"a {library} frame needs {library}: pip install {library}") from error
