"""What the commands that read a table share: the options, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from isinglass.cli.terminal import working
from isinglass.errors import SettingError
from isinglass.table import read_table

OPTIONS = (
    click.option("--na", multiple=True, metavar="TEXT", help="A cell that means missing, as '?'."),
    click.option("--drop", multiple=True, metavar="NAME", help="A column to leave out."),
    click.option(
        "--bin", "bins", multiple=True, metavar="NAME=K", help="Cut a number into K bins."
    ),
    click.option("--weight-column", metavar="NAME", help="A column of counts or weights."),
    click.option(
        "--n-eff",
        default="sum",
        show_default=True,
        help="How many rows the weights stand for: sum, kish, or a number.",
    ),
    click.option("--max-states", type=int, default=32, show_default=True, help="States a column."),
    click.option(
        "--no-header", is_flag=True, help="The first row is data; columns are x0, x1, ..."
    ),
)


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a table is read."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def read_without(data: str, drop: Sequence[str], *, na: Sequence[str], header: bool) -> Any:
    """Read a table from a file, and leave some columns out."""
    with working("reading the table"):
        table = read_table(data, na=na, header=header)
    unknown = [name for name in drop if name not in table.columns]
    if unknown:
        known = ", ".join(repr(name) for name in table.columns[:8])
        more = f" and {len(table.columns) - 8} more" if len(table.columns) > 8 else ""
        raise SettingError(
            f"--drop: there is no column {unknown[0]!r}; the columns are {known}{more}."
        )
    left: Any = table.drop(set(drop))
    if not left.columns:
        raise SettingError("--drop leaves no column; keep at least one.")
    return left


def read_bins(texts: Sequence[str]) -> dict[str, int] | None:
    """NAME=K, any number of times, as a dict."""
    return dict(map(_bin, texts)) or None


def _bin(text: str) -> tuple[str, int]:
    name, _, count = text.rpartition("=")
    if not name or not count.isdecimal():
        raise SettingError(f"--bin takes NAME=K, as age=4, not {text!r}.")
    return name, int(count)


def number_or_word(text: str) -> float | str:
    """A number if it can be read as one."""
    try:
        return float(text)
    except ValueError:
        return text
