"""What a command tells a program that runs it: progress and sentences as lines of JSON.

The desk runs `isinglass inspect` and `isinglass fit` as processes of their own, and reads their
standard error. Its readers use a page, so settings are called what the page calls them.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import click

from isinglass.errors import Part, Setting, Wording

#: Set, to anything, by a program that reads the lines.
LINES = "ISINGLASS_LINES"
#: Seconds between two lines about the same work.
PAUSE = 0.1
#: What the page calls settings.
FIELDS = {
    "adjust": "Use: hold it fixed",
    "bins": "Bins",
    "clusters": "Clusters of rows",
    "edges": "Links of ordered columns",
    "encoding": "Encoding",
    "max_bytes": "the limit (isinglass desk --max-size)",
    "max_states": "States per column",
    "missing": "Missing values",
    "missing_codes": "Missing codes",
    "n_eff": "The weights are",
    "order": "Order",
    "rule": "A link is kept if",
    "sample_weight": "Weights of the rows",
    "sheet": "Sheet",
    "threshold": "Threshold",
}


def wanted() -> bool:
    """Whether a program reads the lines."""
    return LINES in os.environ


def write(**line: Any) -> None:
    """Write one line to standard error."""
    with suppress(OSError):  # nobody is there to read it
        click.echo(json.dumps(line), err=True)


def in_fields(part: Part) -> str:
    """A part of a message in the words of the page.

    >>> in_fields(Setting("missing", "drop")), in_fields(Setting("bins", {"age": 4}))
    ('“Missing values: drop”', '“Bins: 4” of age')
    """
    if isinstance(part, Wording):
        return part.command_line if part.page is None else part.page
    if not isinstance(part, Setting):
        return part
    field = FIELDS.get(part.name, part.name.replace("_", " "))
    if part.value is None or part.value is True:
        return f"“{field}”" if part.name in FIELDS and field[0].isupper() else field
    if isinstance(part.value, Mapping):
        return ", ".join(f"“{field}: {_said(one)}” of {name}" for name, one in part.value.items())
    return f"“{field}: {_said(part.value)}”"


def _said(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


class Work:
    """Called with what is done and how much there is; `tell` adds words."""

    def __init__(self, what: str) -> None:
        self._what, self._words, self._next = what, "", 0.0
        write(doing=what)

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next or done == total:
            self._next = now + PAUSE
            write(doing=self._what, words=self._words, done=done, total=total)

    def tell(self, words: str) -> None:
        """Say in a few words what is being done."""
        self._words = words
        write(doing=self._what, words=words)
