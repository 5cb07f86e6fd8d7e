"""Checks of arguments, shared by models and what simulates them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from isinglass.errors import SettingError

Seed = int | np.random.SeedSequence | np.random.Generator | None


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Raise SettingError unless the value is a whole number in its range.

    >>> check_whole("p", 1.5, 1)
    Traceback (most recent call last):
        ...
    isinglass.errors.SettingError: p must be a whole number, 1 or more, got 1.5.
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not least <= int(value) <= (math.inf if most is None else most):
        allowed = f"{least} or more" if most is None else f"from {least} to {most}"
        raise SettingError(f"{name} must be a whole number, {allowed}, got {value!r}.")


def check_between(name: str, value: Any, least: float, most: float) -> None:
    """Raise SettingError unless the value is a number in its range.

    >>> check_between("rewire", 2, 0, 1)
    Traceback (most recent call last):
        ...
    isinglass.errors.SettingError: rewire must be a number from 0 to 1, got 2.
    """
    if not isinstance(value, Real) or not least <= float(value) <= most:
        raise SettingError(f"{name} must be a number from {least:g} to {most:g}, got {value!r}.")


def check_method(method: Any, methods: Sequence[str]) -> None:
    """Raise SettingError unless a method is one of those there are.

    >>> check_method("fast", ("auto", "exact", "gibbs"))
    Traceback (most recent call last):
        ...
    isinglass.errors.SettingError: method must be 'auto', 'exact' or 'gibbs', not 'fast'.
    """
    if method not in methods:
        *first, last = map(repr, methods)
        raise SettingError(f"method must be {', '.join(first)} or {last}, not {method!r}.")
