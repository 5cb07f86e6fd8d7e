"""What is known about one column once its cells are codes, and what is odd about it.

Nothing odd stops the work: a note is what the user reads when a result surprises. Oddities of pairs
of columns are found elsewhere, where the pairs are counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import Setting, SettingError
from isinglass.wording import listing, quoted


@dataclass(frozen=True)
class Column:
    """Name and states of one column; a code is an index into the states.

    `states` are the labels seen, in order, as plain Python values; the missing state is None, and
    comes last. Their order means something for numbers, ordered categories, binned columns, and any
    two states, low and high; not where the missing state is one of three or more, unless it only
    says where the column is not available. `cuts` are the inner cut points of a binned column; a
    bin holds the values above one cut point and up to the next. `scores` say how far apart ordered
    states are; None stands for 0, 1, 2, ...
    """

    name: str
    states: tuple[Hashable, ...]
    ordered: bool
    cuts: tuple[float, ...] | None = None
    scores: tuple[float, ...] | None = None

    def keep(self, states: NDArray[np.intp]) -> Column:
        """Return the column with some of its states; the scores of ordered ones stay."""
        scores = self.scores
        if self.ordered:
            scores = tuple(float(self.scores[i] if self.scores else i) for i in states.tolist())
        return replace(self, states=tuple(self.states[i] for i in states.tolist()), scores=scores)

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


_MEANING = {
    "bins": "number of bins or list of cut points",
    "high": "its high state",
    "scores": "list of the scores of its states",
}


def by_column(setting: str, given: Any, names: Sequence[str], *, unnamed: bool) -> dict[str, Any]:
    """What a setting says of columns, by name; one without a name may be given by position."""
    if given is not None and not isinstance(given, Mapping):
        raise SettingError(
            Setting(setting),
            f" must be a dict of column name to {_MEANING[setting]}, got {quoted(given)}.",
        )
    found = {}
    for at, said in (given or {}).items():
        name = f"x{at}" if unnamed and isinstance(at, Integral) else str(at)
        if name not in names:
            known = listing([quoted(known) for known in names], 5)
            raise SettingError(
                Setting(setting),
                f" names {quoted(at)}, which is not a column; the columns are {known}.",
            )
        found[name] = said
    return found


#: A level seen in so few rows is noted.
RARE = 2


@dataclass(frozen=True)
class Note:
    """One odd thing in a column, or in the whole table, and what was done about it."""

    column: str | None
    what: str
    done: str


def about_rows(columns: Sequence[Column], n: float) -> Iterator[Note]:
    """What is odd about n rows as a whole."""
    if n <= 1:
        yield Note(None, "one row", "one row shows no dependence; the graph has no edges")
    elif all(len(column.states) == 1 for column in columns):
        yield Note(None, "all rows equal", "no column varies; the graph has no edges")
    if n < len(columns):
        done = f"{n:g} rows for {len(columns)} columns; only strong links can be found"
        yield Note(None, "fewer rows than columns", done)


def about_column(column: Column, seen: NDArray[Any]) -> Iterator[Note]:
    """What is odd about a column, given the rows of each of its states."""
    if len(column.states) == 1:
        done = f"only {quoted(column.states[0])} was seen; the column has no links"
        yield Note(column.name, "constant", done)
    elif seen.min() <= RARE:
        rare = [quoted(column.states[code]) for code in np.flatnonzero(seen <= RARE)]
        done = f"seen once or twice: {listing(rare)}; the threshold is approximate there"
        yield Note(column.name, "rare level", done)
