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

    Parameters
    ----------
    name : str
        Columns without names are x0, x1, ...
    states : tuple
        The labels seen, in order, as plain Python values. The missing state
        (``missing="state"``) is the label None, and comes last.
    ordered : bool
        Whether the order of the states means something: numbers, ordered categories, binned
        columns, and any two states, which come in the order low, high. A column with the missing
        state and more than one other is not ordered, since None has no place among the others,
        unless that state only says where the column is not available; nor is an unordered
        category that holds three numbers or more, which is taken at its word.
    cuts : tuple of float, optional
        The inner cut points of a binned column: its states are the bins between them that rows
        fall into. A bin holds the values above one cut point and up to the next.

    Examples
    --------
    >>> Column("smokes", ("no", "yes"), ordered=True).states
    ('no', 'yes')
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
