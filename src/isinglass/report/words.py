"""Names and labels made fit to show: one line, no control characters, not too long."""

from __future__ import annotations

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
