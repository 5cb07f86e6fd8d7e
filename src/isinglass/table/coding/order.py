"""Which columns are ordered, and how far apart their states are, where the user says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from isinglass.errors import Setting, SettingError
from isinglass.table.column import Column, by_column
from isinglass.wording import counted, quoted


def with_order(
    columns: Sequence[Column],
    ordered: Sequence[Any] | None,
    scores: Mapping[Any, Sequence[float]] | None,
    *,
    answers: Sequence[int],
    unnamed: bool,
) -> tuple[Column, ...]:
    """Columns that are ordered because the user says so, with the scores that the user gives.

    `answers` are the states of each column that are not missing values.

    >>> sizes = Column("size", ("l", "m", "s"), ordered=False)
    >>> with_order([sizes], ["size"], {"size": [1, 2, 4]}, answers=[3], unnamed=False)
    (Column(name='size', ..., ordered=True, cuts=None, scores=(1.0, 2.0, 4.0)),)
    """
    names = [column.name for column in columns]
    said = by_column("ordered", dict.fromkeys(ordered or ()), names, unnamed=unnamed)
    given = by_column("scores", scores, names, unnamed=unnamed)
    if not said and not given:
        return tuple(columns)
    return tuple(
        _with_order(column, count, given.get(column.name))
        if column.name in said or column.name in given
        else column
        for column, count in zip(columns, answers, strict=True)
    )


def _with_order(column: Column, answers: int, scores: Any) -> Column:
    if column.has_missing_state and answers == len(column.states) > 2:
        raise SettingError(
            f"column {quoted(column.name)} cannot be ordered while missing is one of its states (",
            Setting("missing", "state"),
            "); treat missing values differently, or leave this column unordered.",
        )
    if scores is None:
        return replace(column, ordered=True)
    numbers = _numbers(column.name, scores)
    if len(numbers) != answers:
        raise SettingError(
            Setting("scores"),
            f" must have one number per state: column {quoted(column.name)} has "
            f"{counted(answers, 'state')}, got {counted(len(numbers), 'number')}.",
        )
    missing = (float("nan"),) * (len(column.states) - answers)
    return replace(column, ordered=True, scores=(*numbers, *missing))


def _numbers(name: str, scores: Any) -> tuple[float, ...]:
    some = scores.tolist() if isinstance(scores, np.ndarray) else scores
    numbers = some if isinstance(some, list | tuple) else ()
    plain = all(isinstance(x, float | Integral) and not isinstance(x, bool) for x in numbers)
    rising = bool(numbers) and plain and all(np.isfinite(numbers)) and all(np.diff(numbers) > 0)
    if not rising:
        raise SettingError(
            Setting("scores"),
            f" of column {quoted(name)} must be a list of numbers that rise from state to state, "
            f"not {quoted(scores)}.",
        )
    return tuple(map(float, numbers))
