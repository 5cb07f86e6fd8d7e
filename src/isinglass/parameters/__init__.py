"""Parameters are checked by one table, and what is wrong is said in one form.

A function says ``@checked``, an estimator calls `check_settings`, a frozen class is one of
`CheckedFields`; what they allow stands in `allowed`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from isinglass.errors import Setting, SettingError, Wording
from isinglass.parameters.allowed import PARAMETERS as PARAMETERS
from isinglass.parameters.kinds import Kind, Number, Whole
from isinglass.wording import shown

Seed = int | np.random.SeedSequence | np.random.Generator | None

P = ParamSpec("P")
R = TypeVar("R")


def kind_of(name: str, *owners: str) -> Kind | None:
    """What a parameter may be, of the first of some owners that says so; None if nobody does."""
    for key in (*(f"{owner}.{name}" for owner in owners), name):
        if key in PARAMETERS:
            return PARAMETERS[key]
    return None


def check(name: str, value: Any, *owners: str, most: int | None = None) -> None:
    """Raise SettingError unless a parameter may have this value.

    `most` is a bound that depends on other arguments.

    >>> check("nu", 1.5)
    Traceback (most recent call last):
        ...
    isinglass.errors.SettingError: nu must be a number strictly between 0 and 1, not 1.5.
    """
    kind = kind_of(name, *owners)
    if most is not None and isinstance(kind, Whole | Number):
        kind = replace(kind, most=most)
    if kind is not None:
        check_value(name, value, kind)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a function by the table before it runs."""
    signature = inspect.signature(function)
    owners = function.__qualname__, function.__name__
    found = {name: kind_of(name, *owners) for name in signature.parameters}
    kinds = {name: kind for name, kind in found.items() if kind is not None}

    @wraps(function)
    def with_checks(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if name in kinds:
                check_value(name, value, kinds[name])
        return function(*args, **kwargs)

    return with_checks


def check_settings(estimator: Any) -> None:
    """Check all settings of an estimator by the table."""
    owners = [cls.__name__ for cls in type(estimator).__mro__]
    for name, value in estimator.get_params(deep=False).items():
        check(name, value, *owners)


class CheckedFields:
    """A dataclass whose fields are checked by the table when it is made."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            check(field.name, getattr(self, field.name), type(self).__name__)


def check_value(name: str, value: Any, kind: Kind) -> None:
    """Raise SettingError unless a value is of a kind, in the table or not."""
    if not kind.admits(value):
        raise SettingError(
            Setting(name),
            " must be ",
            Wording(str(kind), kind.typed),
            f", not {shown(value)}.",
            parameter=name,
            allowed=kind,
            got=value,
        )
