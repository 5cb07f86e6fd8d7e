"""Settings that name columns: what `bins` and `high` share."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from isinglass.errors import SettingError
from isinglass.wording import listing, quoted

__all__ = ["column_named"]


def column_named(setting: str, at: Any, names: Sequence[str], *, unnamed: bool) -> str:
    """The column that a setting names; a column without a name may be given by position."""
    positional = unnamed and isinstance(at, Integral)
    name = f"x{at}" if positional else str(at)
    if name not in names:
        known = listing([quoted(known) for known in names], 5)
        raise SettingError(f"{setting} names {quoted(at)}, which is no column; there are {known}.")
    return name
