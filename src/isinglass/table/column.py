"""What is known about one column once its cells are codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from isinglass.errors import Setting, SettingError
from isinglass.wording import listing, quoted


@dataclass(frozen=True)
class Column:
    """Name and states of one column; a code is an index into the states.

    `states` are the labels seen, in order, as plain Python values; the missing state
    (``missing="state"``) is None, and comes last. `ordered` says whether the order means something:
    it does for numbers, ordered categories, binned columns, and any two states, which come in the
    order low, high. A column with the missing state and more than one other is not ordered, since
    None has no place among the others, unless that state only says where the column is not
    available; nor is an unordered category of three numbers or more.

    `cuts` are the inner cut points of a binned column, whose states are the bins that rows fall
    into. A bin holds the values above one cut point and up to the next.
    """

    name: str
    states: tuple[Hashable, ...]
    ordered: bool
    cuts: tuple[float, ...] | None = None

    @property
    def has_missing_state(self) -> bool:
        """Whether missing is one of the states."""
        return self.states[-1] is None


def high_states(
    states: Iterable[Sequence[Hashable]], answers: Iterable[int]
) -> tuple[str | None, ...]:
    """The high state of each column as text, the second of two answers; None if not two.

    >>> high_states([("no", "yes", None), (1, 2, 3)], [2, 3])
    ('yes', None)
    """
    return tuple(
        as_text(of_column[1]) if count == 2 else None
        for of_column, count in zip(states, answers, strict=True)
    )


def as_text(state: Hashable) -> str:
    """A state as tables of columns and edges name it."""
    return "(missing)" if state is None else str(state)


def column_named(setting: str, at: Any, names: Sequence[str], *, unnamed: bool) -> str:
    """The column that a setting names; a column without a name may be given by position."""
    positional = unnamed and isinstance(at, Integral)
    name = f"x{at}" if positional else str(at)
    if name not in names:
        known = listing([quoted(known) for known in names], 5)
        raise SettingError(
            Setting(setting), f" names {quoted(at)}, which is no column; there are {known}."
        )
    return name
