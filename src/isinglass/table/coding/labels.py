"""What a label is: plain or boxed, missing, a number, and where it stands among others.

All of it works on a handful of distinct labels, never on rows, so it may be plain Python.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Hashable, Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

#: Units of NumPy's durations whose length is always the same.
_UNITS = ("W", "D", "h", "m", "s", "ms", "us", "ns")
_COMPARABLE = (str, bytes, dt.date, dt.time, dt.timedelta)


def plain(label: Any) -> Any:
    """The label as Python's own type, where there is one that holds it exactly.

    Times that Python cannot hold (nanoseconds, years beyond 9999) become text. Times with a zone
    are given in UTC, where no hour comes twice.
    """
    if isinstance(label, np.datetime64):
        return _plain_time(label)
    if isinstance(label, np.timedelta64):
        return _plain_duration(label)
    if isinstance(label, np.longdouble):
        return float(label) if float(label) == label else str(label)
    if isinstance(label, np.generic):
        return label.item()
    if hasattr(label, "to_timedelta64"):  # of pandas
        return _plain_duration(label.to_timedelta64())
    if hasattr(label, "to_datetime64"):
        time = _plain_time(label.to_datetime64())
        return time if label.tzinfo is None else in_utc(time)
    if isinstance(label, dt.datetime) and label.tzinfo is not None:
        return label.astimezone(dt.UTC) if 1 < label.year < dt.MAXYEAR else label
    return label


def in_utc(time: dt.datetime | str) -> dt.datetime | str:
    """A time of UTC that does not say so yet, or its text."""
    return f"{time}+00:00" if isinstance(time, str) else time.replace(tzinfo=dt.UTC)


def _plain_time(label: Any) -> Any:
    time = label.item()
    if isinstance(time, dt.date):
        return time
    micro = _in_microseconds(label, "M8[us]")
    return str(np.datetime_as_string(label, unit="auto")) if micro is None else micro


def _plain_duration(label: Any) -> Any:
    unit, _ = np.datetime_data(label.dtype)
    micro = _in_microseconds(label, "m8[us]") if unit in _UNITS else None
    return str(label) if micro is None else micro


def _in_microseconds(label: Any, dtype: str) -> dt.datetime | dt.timedelta | None:
    """A time or duration as Python's own, None if that is not exact or too large for it."""
    micro = label.astype(dtype)
    plain = micro.item()
    exact = isinstance(plain, dt.datetime | dt.timedelta) and micro.astype(label.dtype) == label
    return plain if exact else None


def is_missing(label: Any) -> bool:
    """Whether the label stands for a missing value: None, NaN, NaT, NA, an empty string."""
    if label is None or (isinstance(label, str) and label == ""):
        return True
    try:
        return bool(label != label)  # noqa: PLR0124 (NaN and NaT alone differ from themselves)
    except (TypeError, ValueError):
        # pandas.NA refuses to be true or false; its library need not be imported here.
        return type(label).__name__ == "NAType"


def key(label: Any) -> tuple[bool, Hashable]:
    """What tells labels apart in a dict: there True equals 1, here it does not."""
    return isinstance(label, bool), label


def are_numbers(labels: Iterable[Any]) -> bool:
    """Whether all labels are numbers; booleans are not."""
    return all(_family(label) == "number" for label in labels)


def are_texts_of_numbers(labels: Iterable[Any]) -> bool:
    """Whether all labels are texts that read as finite numbers, such as 01 or 1.10."""
    return all(isinstance(label, str) and math.isfinite(number_in(label)) for label in labels)


def match_label(states: Sequence[Hashable], wanted: Any) -> int | None:
    """The place of a label among states: the same, else by its text, whatever its case, by number.

    >>> match_label(("no", "Yes"), "yes"), match_label((1.0, 2.0), "2"), match_label((1, 2), "3")
    (1, 1, None)
    """
    if not isinstance(wanted, Hashable):
        return None
    same = [code for code, state in enumerate(states) if key(state) == key(plain(wanted))]
    if same or not isinstance(wanted, str):
        return same[0] if same else None
    texts = ["" if state is None else str(state) for state in states]
    for look in (str, str.casefold, number_in):
        found = [code for code, text in enumerate(texts) if look(text) == look(wanted)]
        if len(found) == 1:
            return found[0]
    return None


def number_in(text: str) -> float:
    """The number that a text says; not a number, which equals nothing, if it says none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def has_infinity(labels: Iterable[Any]) -> bool:
    """Whether one of the labels is an infinite number."""
    return any(_family(label) == "number" and label in (math.inf, -math.inf) for label in labels)


def sort_labels(
    labels: Sequence[Any], categories: Sequence[Any] | None, nominal: bool
) -> tuple[list[Any], bool]:
    """Put labels in their order, however they come, and say whether that order means something."""
    if categories is not None:
        rank = {key(plain(label)): position for position, label in enumerate(categories)}
        return sorted(labels, key=lambda label: rank[key(label)]), True
    families = {_family(label) for label in labels}
    ordered = families == {"bool"} or (families == {"number"} and not nominal)
    return [label for family in sorted(families) for label in _sorted(family, labels)], ordered


def _sorted(family: str, labels: Sequence[Any]) -> list[Any]:
    members = [label for label in labels if _family(label) == family]
    comparable = family in ("bool", "number") or isinstance(members[0], _COMPARABLE)
    try:
        return sorted(members) if comparable else sorted(members, key=repr)
    except TypeError:
        return sorted(members, key=repr)


def _family(label: Any) -> str:
    """Labels of one family can be compared with each other."""
    if isinstance(label, bool):
        return "bool"
    # Strings first: asking whether something is a Real is slow, and ids come by the million.
    if not isinstance(label, str) and isinstance(label, Real | Decimal):
        return "number"
    return type(label).__name__
