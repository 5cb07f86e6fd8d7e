"""Results as small tables of HTML, for notebooks: plain text in it stays text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from isinglass.wording import one_line

#: Rows that a small table shows.
MOST_ROWS = 20
#: Characters of a name or a label.
MOST_LETTERS = 60


def small_table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], more: str
) -> str:
    """A table of the first rows; below it, how many more there are.

    Every cell is text: no label can bring in elements, scripts or formulas, turn the line around
    it from right to left, or fill the page.

    >>> html = small_table("a < b", ["name"], [["<b>"]] * 21, "rows")
    >>> "a &lt; b" in html, "<bdi>&lt;b&gt;</bdi>" in html, "and 1 more rows" in html
    (True, True, True)
    """
    head = "".join(f"<th>{text(name)}</th>" for name in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in rows[:MOST_ROWS]
    )
    hidden = len(rows) - MOST_ROWS
    rest = f"<p>and {hidden:,} more {escape(more)}</p>" if hidden > 0 else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    # The classes keep a notebook from reading dollar signs as formulas.
    return (
        '<div class="tex2jax_ignore mathjax_ignore">'
        f"<p>{escape(one_line(caption))}</p>{table}{rest}</div>"
    )


def text(cell: str) -> str:
    """A cell as HTML that shows its text, cut short, whatever its direction."""
    return f"<bdi>{escape(one_line(cell, MOST_LETTERS))}</bdi>" if cell.split() else ""
