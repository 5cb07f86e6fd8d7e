"""What a parameter may be: numbers, words, paths, and what is made of these."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

#: No number of rows, columns or draws is larger.
MANY = 10**12


class Kind:
    """What a parameter may be; its text goes on after "must be"."""

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        raise NotImplementedError

    @property
    def typed(self) -> str:
        """Its text where values are typed, as on the command line: no None, no objects."""
        return str(self)


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number in a range; numpy's are as good as Python's."""

    least: int = 0
    most: int = MANY
    even: bool = False

    def admits(self, value: Any) -> bool:
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        return whole and self.least <= value <= self.most and not (self.even and value % 2)

    def __str__(self) -> str:
        what = "an even number" if self.even else "a whole number"
        return f"{what} from {self.least:,} to {_large(self.most)}"


@dataclass(frozen=True)
class Number(Kind):
    """A finite number in a range, whose ends may be left out."""

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    below: float = math.inf

    def admits(self, value: Any) -> bool:
        number = as_float(value)
        return self.least <= number <= self.most and self.above < number < self.below

    def __str__(self) -> str:
        if self.least > -math.inf and self.most < math.inf:
            return f"a number from {self.least:g} to {self.most:g}"
        if self.above > -math.inf and self.below < math.inf:
            return f"a number strictly between {self.above:g} and {self.below:g}"
        if self.least > -math.inf:
            return f"a number, {self.least:g} or more"
        if self.above == -math.inf:
            return "a finite number"
        lowest = "a positive number" if self.above == 0 else f"a number above {self.above:g}"
        return lowest if self.most == math.inf else f"{lowest}, at most {self.most:g}"


class Word(Kind):
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def admits(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words

    def __str__(self) -> str:
        *first, last = map(repr, self.words)
        return f"{', '.join(first)} or {last}" if first else last


@dataclass(frozen=True)
class Such(Kind):
    """Any other value that passes a test."""

    words: str
    test: Callable[[Any], bool]

    def admits(self, value: Any) -> bool:
        return self.test(value)

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Several(Kind):
    """Some values of one kind, at least one of them."""

    each: Kind

    def admits(self, value: Any) -> bool:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return False
        values = list(value)
        return bool(values) and all(self.each.admits(one) for one in values)

    def __str__(self) -> str:
        return f"a list of at least one value, each {self.each}"


class Either(Kind):
    """A value of any of some kinds; None is one of them if it is named."""

    def __init__(self, *kinds: Kind | None) -> None:
        self.kinds = [kind for kind in kinds if kind is not None]
        self.optional = None in kinds

    def admits(self, value: Any) -> bool:
        if value is None:
            return self.optional
        return any(kind.admits(value) for kind in self.kinds)

    def __str__(self) -> str:
        return ", or ".join([*map(str, self.kinds), *(["None"] if self.optional else [])])

    @property
    def typed(self) -> str:
        return ", or ".join(str(kind) for kind in self.kinds if kind is not GENERATOR)


@dataclass(frozen=True)
class Range(Kind):
    """A number, or two of them, the lower first."""

    each: Number

    def admits(self, value: Any) -> bool:
        ends = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(ends, list | tuple):
            return self.each.admits(value)
        two = len(ends) == 2 and all(self.each.admits(end) for end in ends)
        return two and bool(ends[0] <= ends[1])

    def __str__(self) -> str:
        return f"{self.each}, or a range (low, high) of such"


def as_float(value: Any) -> float:
    """A finite number as a float; NaN if it is none."""
    if type(value) is bool or not isinstance(value, int | float | np.integer | np.floating):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _is_flag(value: Any) -> bool:
    return isinstance(value, np.bool_) or (isinstance(value, Integral) and value in (0, 1))


def _is_size(value: Any) -> bool:
    return isinstance(value, Real) and value is not True and value >= 1  # type: ignore[operator]


def _is_separator(value: Any) -> bool:
    one = isinstance(value, str) and len(value) == 1
    return one and value.isascii() and value not in '"\n\r'


def _is_path(value: Any) -> bool:
    try:
        text = os.fspath(value) if isinstance(value, str | os.PathLike) else ""
        return isinstance(text, str) and text != "" and b"\0" not in os.fsencode(text)
    except UnicodeError:
        return False


TEXT = Such("text", lambda value: isinstance(value, str))
FLAG = Such("True or False", _is_flag)
SIZE = Such("a number of bytes, 1 or more", _is_size)
SEPARATOR = Such("one character such as ';' or '|'", _is_separator)
WORDS = Such(
    "a dict of name to text",
    lambda value: (
        isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values())
    ),
)
BYTES = Such(
    "a positive number of bytes",
    lambda value: as_float(value) > 0 or (isinstance(value, float) and value == math.inf),
)
PATH = Such("the path of a file or folder", _is_path)
FUNCTION = Such("a function", callable)
GENERATOR = Such(
    "a Generator or SeedSequence",
    lambda value: isinstance(value, np.random.Generator | np.random.SeedSequence),
)
CLIENT = Such(
    "a client of Dask (distributed.Client)",
    lambda value: all(hasattr(value, name) for name in ("submit", "cancel", "scheduler_info")),
)
#: Read, and judged, elsewhere: a threshold has many forms.
ANYTHING = Such("anything", lambda value: True)


def _large(number: int) -> str:
    """A bound as people read it.

    >>> _large(4096), _large(10**12), _large(2**128 - 1)
    ('4,096', '10^12', '2^128 - 1')
    """
    if number < 10**10:
        return f"{number:,}"
    return "2^128 - 1" if number == 2**128 - 1 else f"10^{round(math.log10(number))}"
