"""What was found out about a fit once it was done, and took more time than the fit itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, TypeVar

import narwhals as nw

from isinglass.errors import SettingError

T = TypeVar("T")
Pair = tuple[int, int]
Numbers = tuple[float | None, ...]

#: Measures of columns that cannot be read off the links.
MEASURES = ("community", "accuracy", "base_rate", "predictability")
VERDICTS = ("linked", "not linked", "cannot tell")


@dataclass(frozen=True)
class Verdicts:
    """What the rows say of each pair of columns, in column order."""

    verdict: tuple[str, ...]  # of VERDICTS
    odds_ratio: Numbers  # an edge with a larger one would have been found
    rows_needed: Numbers
    state_odds_ratio: Numbers | None = None  # the same for one in one state of each column only


@dataclass(frozen=True)
class ColumnGroup:
    """A group of columns that the user defined, and the colour of its dots, such as "#0072b2"."""

    name: str
    columns: tuple[int, ...]
    colour: str | None = None


@dataclass(frozen=True)
class Findings:
    """What was found out; None where it was not computed."""

    title: str | None = None  # of the table
    measures: Mapping[str, Numbers] | None = None  # of MEASURES, each with a number per column
    frequencies: Mapping[Pair, float] | None = None  # the share of half-samples that choose a pair
    explanations: Mapping[Pair, str] | None = None  # why there is an edge, or none
    verdicts: Verdicts | None = None
    labels: tuple[str | None, ...] | None = None  # what each column is about
    groups: tuple[ColumnGroup, ...] | None = None

    def updated(self, other: Findings) -> Findings:
        """These findings, replaced by those of another where it has any."""
        found = {key: value for key, value in vars(other).items() if value is not None}
        return replace(self, **found)


def findings_of(
    names: Sequence[str],
    *,
    title: str | None = None,
    measures: Any = None,
    frequencies: Mapping[tuple[str, str], float] | None = None,
    explanations: Mapping[tuple[str, str], str] | None = None,
    verdicts: Any = None,
    column_labels: Mapping[str, str] | None = None,
    groups: Iterable[tuple[str, Sequence[str], str | None]] = (),
) -> Findings:
    """Findings about named columns, from data frames and from dicts by pairs of names.

    >>> findings_of(("a", "b"), frequencies={("b", "a"): 0.75}).frequencies
    {(0, 1): 0.75}
    """
    return Findings(
        title,
        None if measures is None else _measures(names, measures),
        None if frequencies is None else _by_number(names, frequencies),
        None if explanations is None else _by_number(names, explanations),
        None if verdicts is None else _verdicts(len(names), verdicts),
        None if not column_labels else tuple(map(column_labels.get, names)),
        _groups(names, groups) or None,
    )


def _groups(
    names: Sequence[str], groups: Iterable[tuple[str, Sequence[str], str | None]]
) -> tuple[ColumnGroup, ...]:
    """Groups of the columns that were learned from, without those that are left out."""
    number_of = {name: i for i, name in enumerate(names)}
    kept = (
        ColumnGroup(group, tuple(number_of[one] for one in columns if one in number_of), colour)
        for group, columns, colour in groups
    )
    return tuple(each for each in kept if each.columns)


def _measures(names: Sequence[str], measures: Any) -> dict[str, Numbers]:
    frame = nw.from_native(measures, eager_only=True)
    rows = {row["name"]: row for row in frame.rows(named=True)}
    return {
        key: tuple(_finite(rows.get(name, {}).get(key)) for name in names)
        for key in MEASURES
        if key in frame.columns
    }


def _by_number(names: Sequence[str], of_pairs: Mapping[tuple[str, str], T]) -> dict[Pair, T]:
    number_of = {name: i for i, name in enumerate(names)}
    numbered = {
        (min(number_of[a], number_of[b]), max(number_of[a], number_of[b])): value
        for (a, b), value in of_pairs.items()
    }
    return dict(sorted(numbered.items()))


def _verdicts(p: int, verdicts: Any) -> Verdicts:
    found = nw.from_native(verdicts, eager_only=True)
    if len(found) != p * (p - 1) // 2:
        raise SettingError(
            f"verdicts must have one row for each of {p * (p - 1) // 2} pairs, not {len(found)}."
        )
    return Verdicts(
        tuple(found["verdict"].to_list()),
        tuple(map(_finite, found["odds_ratio"])),
        tuple(map(_finite, found["rows_needed"])),
        tuple(map(_finite, found["state_odds_ratio"]))
        if "state_odds_ratio" in found.columns
        else None,
    )


def _finite(value: Any) -> Any:
    """A number; None where a data frame has none, or one that is not finite."""
    return value if value is not None and isfinite(value) else None
