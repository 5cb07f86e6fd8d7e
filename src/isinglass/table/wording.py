"""How names, labels and counts are put into the sentences of errors and notes."""

from __future__ import annotations

from collections.abc import Sequence

from isinglass.parameters import shown

LONGEST_LABEL = 40


def quoted(label: object) -> str:
    """A label as Python writes it, cut short so that a message stays one line."""
    return shown(label, LONGEST_LABEL)


def listing(words: Sequence[str], limit: int = 3) -> str:
    """The first few words, and how many more there are."""
    if len(words) <= limit:
        return ", ".join(words)
    return f"{', '.join(words[:limit])} and {len(words) - limit:,} more"


def plural(count: int, thing: str) -> str:
    """'1 row', '2,000 rows'."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
