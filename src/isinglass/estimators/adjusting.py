"""What an estimator does about columns that it adjusts for."""

from __future__ import annotations

import warnings
from typing import Any

from isinglass.errors import CoarseBins, Setting, SettingError, level_of_the_caller
from isinglass.table import Table
from isinglass.table.coding.adjusted import FEW_BINS, is_coarse
from isinglass.wording import listed


def warn_if_coarse(table: Table) -> None:
    """Warn where a column of numbers is adjusted for by so few bins that links will be false."""
    coarse = [] if table.adjusted is None else [*filter(is_coarse, table.adjusted.columns)]
    if coarse:
        warnings.warn(
            CoarseBins(
                f"{listed([repr(column.name) for column in coarse])} is adjusted for by fewer than "
                f"{FEW_BINS} bins: its effect within bins creates false links. Remove it from ",
                *(Setting("bins"), ", or use eight bins or more."),
            ),
            stacklevel=level_of_the_caller(),
        )


def adjusted_for(estimator: Any) -> str:
    """What a fit was adjusted for, to go on a sentence with; empty if for nothing."""
    names = estimator.table_.adjusted_names
    return f", adjusted for {listed(names)}" if names else ""


def refuse_adjusted(estimator: Any, what: str) -> None:
    """Raise SettingError if an estimator adjusts for columns, for work that does not know them."""
    if getattr(estimator, "adjust", None):
        raise SettingError(
            f"{what} does not support columns that are adjusted for; fit without ",
            *(Setting("adjust"), "."),
        )
