"""What is known of one column before its cells are looked at."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from isinglass.table.coding.labels import number_in

#: Lowest and highest value of a range; both belong to it.
Range = tuple[float, float]


@dataclass(frozen=True)
class Variable:
    """What a codebook says of one column.

    Attributes
    ----------
    label : str or None
        A description of the column, such as the question that was asked.
    values : dict of code to text
        What the codes stand for.
    order : tuple of str, bool or None
        The states from low to high; or whether the codes are ordered. None if it is not known: then
        numbers are ordered, and words are not.
    missing : tuple
        Codes, or texts of codes, that stand for a missing value; a pair of numbers is a range.

    Examples
    --------
    >>> Variable(label="How often?", values={1: "never", 2: "often"}, missing=(9,)).values[2]
    'often'
    """

    label: str | None = None
    values: Mapping[Hashable, str] = field(default_factory=dict)
    order: tuple[str, ...] | bool | None = None
    missing: tuple[Any, ...] = ()

    def updated(self, other: Variable) -> Variable:
        """The same, replaced by what another one says; codes for missing values are added."""
        said = {
            each.name: getattr(other, each.name)
            for each in fields(self)
            if getattr(other, each.name) not in (None, (), {})
        }
        if "missing" in said:
            said["missing"] = tuple(dict.fromkeys((*self.missing, *other.missing)))
        return replace(self, **said)

    @property
    def missing_codes(self) -> list[Hashable]:
        """Single codes for missing values; one that is given by its label, as its code."""
        codes: dict[Any, Hashable] = {label: code for code, label in self.values.items()}
        return [codes.get(one, one) for one in self.missing if not is_range(one)]

    @property
    def missing_ranges(self) -> list[Range]:
        """Ranges of numbers that stand for a missing value."""
        return [one for one in self.missing if is_range(one)]


def is_range(one: Any) -> bool:
    """Whether something is a pair of numbers."""
    return isinstance(one, tuple) and len(one) == 2


def as_number(code: Any) -> float:
    """The number that a code is, or says; NaN if it is none."""
    if isinstance(code, int | float):
        return float(code)
    return number_in(code) if isinstance(code, str) else math.nan


def is_number(code: Any) -> bool:
    """Whether a code is a number, or the text of one."""
    return not math.isnan(as_number(code))


def is_missing(variable: Variable, code: Any) -> bool:
    """Whether a code stands for a missing value.

    >>> [is_missing(Variable(missing=("refused", (97, 99))), code) for code in (98.0, 5, "refused")]
    [True, False, True]
    """
    number, text = as_number(code), as_text(code)
    if any(low <= number <= high for low, high in variable.missing_ranges):
        return True
    return any(as_number(one) == number or as_text(one) == text for one in variable.missing_codes)


def as_text(code: Any) -> str:
    """A code as text; whole numbers without a point.

    >>> as_text(3.0), as_text("3"), as_text(2.5)
    ('3', '3', '2.5')
    """
    whole = isinstance(code, float) and code.is_integer()
    return str(int(code)) if whole else str(code)
