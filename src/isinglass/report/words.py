"""Names, labels and numbers made fit to show: one line, no control characters, not too long."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def one_line(text: str, most: int | None = None) -> str:
    r"""Text as it can be shown in one line, cut to at most so many characters.

    >>> one_line("two\nlines"), one_line("\x1b[31mred"), one_line(" "), one_line("a" * 9, 5)
    ('two lines', '�[31mred', '(blank)', 'aaaa…')
    """
    line = " ".join(text.split()) or "(blank)"
    line = "".join(ch if ch.isprintable() else REPLACEMENT for ch in line)
    return line if most is None or len(line) <= most else line[: most - 1] + "…"


def counted(number: int, noun: str) -> str:
    """'1 row', '2,000 rows'.

    >>> counted(1, "edge"), counted(2000, "row")
    ('1 edge', '2,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def states_per_column(summary: Mapping[str, Any]) -> str:
    """How many states the columns of a summary have; a missing value is no state if left out.

    >>> states_per_column({"nodes": [{"states": [0, 1]}, {"states": ["a", "b", "c"]}]})
    '2 to 3 states'
    """
    sizes = [len(node["states"]) for node in summary["nodes"]]
    least, most = min(sizes), max(sizes)
    return counted(most, "state") if least == most else f"{least} to {most} states"


def json_value(value: Any) -> Any:
    """A scalar that JSON knows; NaN, as pandas writes missing values, becomes None."""
    if isinstance(value, float) and isnan(value):
        return None
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def whole(number: float) -> int | float:
    """A number without a point where it needs none.

    >>> whole(3.0), whole(2.5)
    (3, 2.5)
    """
    return int(number) if float(number).is_integer() else float(number)
