"""Names, labels, lists and numbers as sentences show them: errors, notes, reports, the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

#: Longer texts of values, and of labels, are cut.
LONGEST, LONGEST_LABEL = 60, 40


def shown(value: Any, most: int = LONGEST) -> str:
    """A value as Python writes it, on one line and not too long.

    >>> shown([0.5, None]), shown("x" * 100)
    ('[0.5, None]', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...")
    """
    try:
        text = repr(value)
    except Exception:  # an object of any kind may have any repr
        text = f"an object of type {type(value).__name__}"
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= most else line[: most - 3] + "..."


def quoted(label: object) -> str:
    """A label as Python writes it, cut short so that a message stays one line."""
    return shown(label, LONGEST_LABEL)


def one_line(text: str, most: int | None = None) -> str:
    r"""Text as it can be shown in one line, cut to at most so many characters.

    >>> one_line("two\nlines"), one_line("\x1b[31mred"), one_line(" "), one_line("a" * 9, 5)
    ('two lines', '�[31mred', '(blank)', 'aaaa…')
    """
    line = " ".join(text.split()) or "(blank)"
    line = "".join(ch if ch.isprintable() else "\N{REPLACEMENT CHARACTER}" for ch in line)
    return line if most is None or len(line) <= most else line[: most - 1] + "…"


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "edge"), counted(2000, "row")
    ('1 edge', '2,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(words: Sequence[str], most: int | None = None) -> str:
    """All words, or the first few and how many more, joined as in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d"], 2)
    ('a', 'a, b and c', 'a, b and 2 more')
    """
    items = list(words[:most])
    if len(words) > len(items):
        items.append(f"{len(words) - len(items):,} more")
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def listing(words: Sequence[str], most: int = 3) -> str:
    """The first few words after a colon or in brackets, and how many more there are.

    >>> listing(["a", "b"]), listing(["a", "b", "c", "d"])
    ('a, b', 'a, b, c and 1 more')
    """
    return listed(words, most) if len(words) > most else ", ".join(words)


def json_value(value: Any) -> Any:
    """A scalar that JSON knows; NaN, as pandas writes missing values, becomes None."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


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
    unit = 10.0 ** max(math.floor(math.log10(n)) - 1, 0)
    return int(math.ceil(n / unit - 1e-9) * unit)


def whole(number: float) -> int | float:
    """A number without a point where it needs none.

    >>> whole(3.0), whole(2.5)
    (3, 2.5)
    """
    return int(number) if float(number).is_integer() else float(number)
