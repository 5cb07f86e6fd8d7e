"""Which of many cases run in `make test`; `make test-long` runs all of them."""

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_long(cases: Iterable[Any], short: int) -> list[Any]:
    """The first cases as they are, the others marked `long`."""
    return [
        case if at < short else pytest.param(*_values(case), marks=pytest.mark.long)
        for at, case in enumerate(cases)
    ]


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
