"""What the commands that read a table share: the options, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from isinglass.cli.terminal import working
from isinglass.errors import SettingError
from isinglass.table import DEFAULT_NA, read_table
from isinglass.wording import listing

Command = Callable[..., Any]
Option = Callable[[Command], Command]


def with_options(*options: Option) -> Option:
    """Several options as one, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


#: How a file becomes a table.
FILE_OPTIONS = (
    click.option(
        "--na",
        multiple=True,
        metavar="TEXT",
        help="Text that stands for a missing value, such as '?', instead of NA, NaN, null and the "
        "like. An empty cell is always missing; --na '' means empty cells only.",
    ),
    click.option(
        "--no-header", is_flag=True, help="The first row is data; columns are x0, x1, ..."
    ),
    click.option(
        "--sep",
        metavar="CHAR",
        help="What separates the cells of a text file, such as ';' or '|' (tab for a tab); by "
        "default the first line decides.",
    ),
    click.option(
        "--encoding",
        default="utf-8",
        show_default=True,
        help="How a text file is encoded, such as latin-1, cp1252 or utf-16.",
    ),
    click.option(
        "--max-size",
        type=float,
        metavar="BYTES",
        help="The largest file to read, unpacked; by default a sixteenth of the memory.",
    ),
)
#: Which columns of it are used, and as what.
COLUMN_OPTIONS = (
    click.option("--drop", multiple=True, metavar="NAME", help="A column to leave out."),
    click.option(
        "--bin",
        "bins",
        multiple=True,
        metavar="NAME=K",
        help="Cut a column of numbers into K bins at its quantiles, or at your own cut points: "
        "age=25,45 has the bins up to 25, above 25 to 45, and above 45; age=25, has two.",
    ),
    click.option(
        "--high",
        multiple=True,
        metavar="NAME=STATE",
        help="Which state of a two-state column is the high one, such as Vote=yea: signs and "
        "log-odds are about high states. By default the one that means yes (yes, true, present, "
        "ja, agree, ...), else the second label; nodes.csv shows it.",
    ),
    click.option("--weight-column", metavar="NAME", help="A column of counts or weights."),
    click.option(
        "--n-eff",
        default="sum",
        show_default=True,
        help="How many rows the weights stand for: sum, kish, or a number.",
    ),
    click.option(
        "--max-states",
        type=int,
        default=32,
        show_default=True,
        help="States per column; 256 at most.",
    ),
)


#: What becomes of missing values.
WAYS = {
    "error": "refuses them",
    "drop": "uses complete rows only",
    "state": "makes missing a state of its own",
    "available": "leaves out, for each column, the rows where it is missing",
}


def missing_option(*ways: str) -> Option:
    """An option that says what to do with missing values."""
    return click.option(
        "--missing",
        type=click.Choice(ways),
        default="error",
        show_default=True,
        help=f"Missing values: {'; '.join(f'{way} {WAYS[way]}' for way in ways)}.",
    )


#: The options that say how a file is read; and those that say what its columns are as well.
file_options = with_options(*FILE_OPTIONS)
table_options = with_options(*FILE_OPTIONS, *COLUMN_OPTIONS)


def take_reading(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `file_options` out of a command's, as arguments of `read_table`."""
    sep = options.pop("sep")
    return {
        "na": options.pop("na") or DEFAULT_NA,
        "header": not options.pop("no_header"),
        "sep": "\t" if sep in ("tab", "\\t") else sep,
        "encoding": options.pop("encoding"),
        "max_bytes": options.pop("max_size"),
    }


def take_table(data: str, options: dict[str, Any]) -> Any:
    """Read a table by the options of a command, which are taken out; leave out what to --drop."""
    drop = options.pop("drop")
    with working("reading the table"):
        table = read_table(data, **take_reading(options))
    unknown = [name for name in drop if name not in table.columns]
    if unknown:
        known = listing([repr(name) for name in table.columns], 8)
        raise SettingError(f"--drop: there is no column {unknown[0]!r}; the columns are {known}.")
    left: Any = table.drop(set(drop))
    if not left.columns:
        raise SettingError("--drop leaves no column; keep at least one.")
    return left


def take_settings(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options about columns out of a command's, as arguments of `GreedyGraph`."""
    return {
        "n_eff": number_or_word(options.pop("n_eff")),
        "bins": read_bins(options.pop("bins")),
        "high": read_high(options.pop("high")),
        "max_states": options.pop("max_states"),
    }


def read_bins(texts: Sequence[str]) -> dict[str, int | list[float]] | None:
    """NAME=K or NAME=CUT,CUT, any number of times, as a dict.

    >>> read_bins(["age=4", "income=1e4,5e4"])
    {'age': 4, 'income': [10000.0, 50000.0]}
    """
    return dict(map(_bin, texts)) or None


def _bin(text: str) -> tuple[str, int | list[float]]:
    name, _, cuts = text.rpartition("=")
    try:
        if name and cuts.isdecimal():
            return name, int(cuts)
        if name and "," in cuts:
            return name, [float(cut) for cut in cuts.split(",") if cut.strip()]
    except ValueError:
        pass
    raise SettingError(f"--bin takes NAME=K or cut points, as age=4 or age=25,45; not {text!r}.")


def read_high(texts: Sequence[str]) -> dict[str, str] | None:
    """NAME=STATE, any number of times, as a dict."""
    return dict(map(_high, texts)) or None


def _high(text: str) -> tuple[str, str]:
    name, equals, state = text.rpartition("=")
    if not name or not equals:
        raise SettingError(f"--high takes NAME=STATE, as Vote=yea; not {text!r}.")
    return name, state


def number_or_word(text: str) -> float | str:
    """A number if it can be read as one."""
    try:
        return float(text)
    except ValueError:
        return text
