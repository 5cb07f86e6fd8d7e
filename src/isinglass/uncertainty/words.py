"""Numbers and names as sentences have them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def number(value: float) -> str:
    """Three digits, and no more.

    >>> number(0.01234), number(12.34), number(12345.6)
    ('0.0123', '12.3', '12,346')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def rounded_up(n: float) -> int:
    """Up to two digits, as nobody plans for 1,437 rows.

    >>> rounded_up(1437), rounded_up(20.0), rounded_up(99.5)
    (1500, 20, 100)
    """
    unit = 10.0 ** max(int(np.floor(np.log10(n))) - 1, 0)
    return int(np.ceil(n / unit - 1e-9) * unit)


def listed(names: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
