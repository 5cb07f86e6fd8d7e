"""What was found out about a fit once it was done, and took more time than the fit itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, TypeVar

import narwhals as nw

from isinglass.documents.document import (
    Fault,
    by_pair,
    choice,
    items,
    member,
    number,
    or_none,
    text,
)
from isinglass.errors import SettingError

T = TypeVar("T")
Pair = tuple[int, int]
Document = dict[str, Any]
Numbers = tuple[float | None, ...]

#: Measures of columns that cannot be read off the links.
MEASURES = ("community", "accuracy", "base_rate", "predictability")
VERDICTS = ("linked", "not linked", "cannot tell")


@dataclass(frozen=True)
class Verdicts:
    """What the rows say of each pair of columns, in column order.

    Attributes
    ----------
    verdict : tuple of str
        "linked", "not linked" or "cannot tell".
    odds_ratio : tuple of float or None
        A link with a larger one would have been found.
    rows_needed : tuple of float or None
    """

    verdict: tuple[str, ...]
    odds_ratio: Numbers
    rows_needed: Numbers


@dataclass(frozen=True)
class Findings:
    """Title, measures, half-samples, explanations and verdicts; None where nobody asked.

    Attributes
    ----------
    title : str or None
        What the table is called.
    measures : dict of str to tuple, or None
        One number per column of the table, or None; by the name of the measure.
    frequencies : dict of (int, int) to float, or None
        The share of half-samples that choose a pair.
    explanations : dict of (int, int) to str, or None
        A sentence per pair: why there is a link, or none.
    verdicts : Verdicts or None
    """

    title: str | None = None
    measures: Mapping[str, Numbers] | None = None
    frequencies: Mapping[Pair, float] | None = None
    explanations: Mapping[Pair, str] | None = None
    verdicts: Verdicts | None = None

    def updated(self, other: Findings) -> Findings:
        """These findings, replaced by those of another where it has any."""
        return Findings(
            *(
                getattr(self if getattr(other, field.name) is None else other, field.name)
                for field in fields(self)
            )
        )

    def to_json(self) -> Document:
        """Plain values."""
        measures, verdicts = self.measures, self.verdicts
        return {
            "title": self.title,
            "measures": None
            if measures is None
            else {name: list(values) for name, values in measures.items()},
            "frequencies": _pairs_to_json(self.frequencies),
            "explanations": _pairs_to_json(self.explanations),
            "verdicts": None
            if verdicts is None
            else {field.name: list(getattr(verdicts, field.name)) for field in fields(verdicts)},
        }


def findings_of(
    names: Sequence[str],
    *,
    title: str | None = None,
    measures: Any = None,
    frequencies: Mapping[tuple[str, str], float] | None = None,
    explanations: Mapping[tuple[str, str], str] | None = None,
    verdicts: Any = None,
) -> Findings:
    """Findings about named columns, from data frames and from dicts by pairs of names.

    Examples
    --------
    >>> findings_of(("a", "b"), frequencies={("b", "a"): 0.75}).frequencies
    {(0, 1): 0.75}
    """
    return Findings(
        title,
        None if measures is None else _measures(names, measures),
        None if frequencies is None else _by_number(names, frequencies),
        None if explanations is None else _by_number(names, explanations),
        None if verdicts is None else _verdicts(len(names), verdicts),
    )


def findings_from_json(value: Any, p: int) -> Findings:
    """The findings that `Findings.to_json` wrote, about p columns; Fault if anything is odd."""

    def part(key: str, read: Callable[[Any, str], T]) -> T | None:
        return or_none(read, member(value, key, "the findings"), f"the {key}")

    return Findings(
        part("title", text),
        part("measures", lambda some, where: _measures_from_json(some, where, p)),
        part("frequencies", lambda some, where: by_pair(some, where, p, _triple(_share, where))),
        part("explanations", lambda some, where: by_pair(some, where, p, _triple(text, where))),
        part("verdicts", lambda some, where: _verdicts_from_json(some, where, p * (p - 1) // 2)),
    )


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
    )


def _finite(value: Any) -> Any:
    """A number; None where a data frame has none, or one that is not finite."""
    return value if value is not None and isfinite(value) else None


def _pairs_to_json(of_pairs: Mapping[Pair, Any] | None) -> list[list[Any]] | None:
    return None if of_pairs is None else [[i, j, value] for (i, j), value in of_pairs.items()]


def _measures_from_json(value: Any, where: str, p: int) -> dict[str, Numbers]:
    if not isinstance(value, dict):
        raise Fault(f"{where} must be an object")
    return {
        choice(key, "a measure", MEASURES): _numbers(some, where, p) for key, some in value.items()
    }


def _numbers(value: Any, where: str, length: int) -> Numbers:
    for some in items(value, where, length):
        or_none(number, some, where)
    return tuple(value)


def _triple(read: Callable[[Any, str], T], where: str) -> Callable[[Any], tuple[Any, T]]:
    def of(entry: Any) -> tuple[Any, T]:
        *pair, said = items(entry, f"one of {where}", 3)
        return pair, read(said, where)

    return of


def _share(value: Any, where: str) -> float:
    if not 0 <= number(value, where) <= 1:
        raise Fault(f"{where} must be from 0 to 1")
    return float(value)


def _verdicts_from_json(value: Any, where: str, pairs: int) -> Verdicts:
    words, ratios, rows = (
        items(member(value, field.name, where), where, pairs) for field in fields(Verdicts)
    )
    return Verdicts(
        tuple(choice(word, where, VERDICTS) for word in words),
        _numbers(ratios, where, pairs),
        _numbers(rows, where, pairs),
    )
