"""Links that must be in a graph, and links that must not.

In the search of a column its required others are in the support from the start and are never
dropped; forbidden ones are never looked at. All else is Algorithm 1: the path of a column begins
with the fit on what is required, and its steps are the steps from there. Columns that a table is
adjusted for are required of every other column in the same way; but no graph has them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations, product
from numbers import Integral
from typing import Any

from isinglass.errors import Setting, SettingError
from isinglass.graph import Link, position_of
from isinglass.table import Table

Pair = tuple[int, int]
Others = Mapping[int, Set[int]]
Links = Iterable[Sequence[Any]]
"""Links as a user writes them."""


@dataclass(frozen=True)
class Constraints:
    """For each column that is concerned, its required and its forbidden others.

    >>> Constraints.of_pairs(required=[(0, 2)], forbidden=[(1, 2)]).required
    {0: {2}, 2: {0}}
    """

    required: Others = field(default_factory=dict)
    forbidden: Others = field(default_factory=dict)

    @classmethod
    def of_pairs(cls, required: Iterable[Pair] = (), forbidden: Iterable[Pair] = ()) -> Constraints:
        """Pairs of columns, each seen from both its ends."""
        return cls(_from_both_ends(required), _from_both_ends(forbidden))

    @property
    def pairs(self) -> frozenset[Pair]:
        """Required pairs, each once, the lower column first."""
        return frozenset((r, t) for r, others in self.required.items() for t in others if r < t)

    def candidates(self, r: int, possible: Iterable[int]) -> tuple[int, ...]:
        """Of the columns that could be neighbours of r, those that may be."""
        return tuple(t for t in possible if t not in self.forbidden.get(r, ()))

    def start(self, r: int, possible: Iterable[int]) -> tuple[int, ...]:
        """Of the columns that could be neighbours of r, those that must be."""
        return tuple(t for t in possible if t in self.required.get(r, ()))

    def adjusting(self, table: Table) -> Constraints:
        """The same, and what a table is adjusted for is required of all its other columns.

        Columns are those of its wide form. What is adjusted for is no target, so that nothing is
        said of it.
        """
        p = len(table.columns)
        beside = range(p, len(table.wide.columns))
        if not beside:
            return self
        required = {r: {*self.required.get(r, ()), *beside} for r in range(p)}
        return Constraints(required, self.forbidden)


def _from_both_ends(pairs: Iterable[Pair]) -> dict[int, set[int]]:
    others: defaultdict[int, set[int]] = defaultdict(set)
    for a, b in pairs:
        others[a].add(b)
        others[b].add(a)
    return dict(others)


#: Nothing is required, nothing forbidden.
FREE = Constraints()


def read_constraints(
    require: Links | None, forbid: Links | None, names: Sequence[str], *, unnamed: bool = False
) -> Constraints:
    """Read links given by the names of their columns.

    A link is a pair of names. Three names or more are a group: every two of them. Two lists of
    names are two groups: every one of the first with every one of the second. Columns without
    names may be given by position.

    >>> names = ("age", "sex", "fever", "cough")
    >>> links = read_constraints([("fever", "cough")], [(["age", "sex"], ["cough"])], names)
    >>> links.required, links.forbidden
    ({2: {3}, 3: {2}}, {0: {3}, 3: {0, 1}, 1: {3}})
    """
    required = frozenset(_pairs("require", require, names, unnamed))
    forbidden = frozenset(_pairs("forbid", forbid, names, unnamed))
    for a, b in sorted(required & forbidden):
        raise SettingError(f"{names[a]!r} -- {names[b]!r} is both required and forbidden.")
    return Constraints.of_pairs(sorted(required), sorted(forbidden))


def _pairs(what: str, links: Any, names: Sequence[str], unnamed: bool) -> Iterator[Pair]:
    if links is None:
        return
    if isinstance(links, str) or not isinstance(links, Iterable):
        raise _odd_form(what, links)
    for link in links:
        for a, b in _ends(what, link):
            one, other = (_position(what, end, names, unnamed) for end in (a, b))
            if one == other:
                raise SettingError(Setting(what), f" links {names[one]!r} to itself.")
            yield min(one, other), max(one, other)


def _ends(what: str, link: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(link, str | Link) or not isinstance(link, Sequence | set | frozenset):
        raise _odd_form(what, link)
    members = list(link)
    if len(members) < 2:
        raise _odd_form(what, link)
    groups = [isinstance(member, list | tuple | set | frozenset) for member in members]
    if not any(groups):
        return combinations(members, 2)
    if len(members) > 2:
        raise _odd_form(what, link)
    first, second = (list(m) if g else [m] for m, g in zip(members, groups, strict=True))
    return product(first, second)


def _position(what: str, name: Any, names: Sequence[str], unnamed: bool) -> int:
    if unnamed and isinstance(name, Integral):
        name = f"x{name}"
    try:
        return position_of(str(name), names)
    except SettingError as error:
        raise SettingError(Setting(what), ": ", *error.message) from None


def _odd_form(what: str, got: Any) -> SettingError:
    return SettingError(
        Setting(what),
        " takes a list of links: pairs of names, groups of three names or more, or two lists of "
        f"names; not {got!r}.",
        parameter=what,
        got=got,
    )
