"""``isinglass inspect``: what every column is, and one command that works."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from isinglass.cli import options as opt
from isinglass.cli.results import print_result, title_of
from isinglass.cli.terminal import new_console, table, working
from isinglass.files import check_file, write_files
from isinglass.inspection import Inspected, Inspection
from isinglass.inspection.inspect import inspect_file
from isinglass.inspection.settings import settings_toml
from isinglass.table.reading import LABELLED, ending
from isinglass.table.reading.codebooks import given_codebook
from isinglass.wording import counted, one_line

#: States of a column that are printed.
MOST_STATES = 5


@opt.command(
    opt.DATA,
    opt.option(
        "--out FILE",
        "Write the proposal as a settings file (survey.toml) that you can change, and that "
        "isinglass fit --settings uses.",
    ),
    *opt.READING,
    opt.JSON,
    examples="""
        isinglass inspect survey.sav
        isinglass inspect survey.csv --out survey.toml
        isinglass inspect answers.xlsx --sheet wave2 --json
    """,
)
def command(data: str, *, out: str | None, as_json: bool, **reading: Any) -> None:
    """Say what every column of DATA is, what is unusual about it, and how to learn from it.

    Encoding, separator and a missing header are guessed if the file cannot be read otherwise. The
    last line is a command that works, ready to paste; the lines above it say why each of its
    options is there. DATA is not changed.
    """
    if out:
        check_file(Path(out))
    with working("looking at every column"):
        found = inspect_file(data, **_given(reading))
    settings = [] if out is None else ["--settings", out]
    proposed = _command(found, data, settings)
    lines = []
    if out is not None:
        book = given_codebook(reading["codebook"])
        own = given_codebook(data) if ending(Path(data)) in LABELLED else {}
        text = settings_toml(found, data, out, given_codebook(own).updated(book))
        write_files({Path(out): text.encode()})
        lines.append(f"wrote {out}")
    document = found.to_dict() | {"command": proposed}
    print_result(as_json, document, lambda: _tell(new_console(), found, proposed), lines)


def _given(reading: dict[str, Any]) -> dict[str, Any]:
    """Options that were typed; others are left to be guessed."""
    context = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    return {k: v for k, v in reading.items() if context.get_parameter_source(k) == typed}


def _command(found: Inspection, data: str, settings: list[str]) -> str | None:
    if not found.works:
        return None
    out = title_of(data).replace(" ", "_").strip("-") or "result"
    if settings:
        return shlex.join(["isinglass", "fit", data, *settings, "--out", f"{out}/"])
    return found.command(data, f"{out}/")


def _tell(console: Console, found: Inspection, proposed: str | None) -> None:
    rows, columns = counted(found.rows, "row"), counted(len(found.columns), "column")
    console.print(f"{rows}, {columns}\n", style="bold")
    heads = ["column", "looks like", "states", "missing", "proposal"]
    console.print(table(heads, map(_cells, found.columns), left=set(heads) - {"missing"}))
    notes = [(each.name, sentence) for each in found.columns for sentence in each.related]
    if notes:
        console.print("\nBetween columns", style="bold")
    for name, sentence in dict.fromkeys(notes):
        console.print(f"  {one_line(name)!r} {one_line(sentence)}")
    if proposed is None:
        console.print("\nNo column is left to learn from.", style="bold")
        return
    if found.options.reasons:
        console.print("\nWhy", style="bold")
    for reason in found.options.reasons:
        console.print(f"  {one_line(reason.option)}", style="yellow")
        console.print(f"    {one_line(reason.why)}")
    console.print("\nThe command", style="bold")
    click.echo(proposed)


def _cells(each: Inspected) -> list[str]:
    name = one_line(each.name, 40)
    if each.label:
        name = f"{name}: {one_line(each.label, 60)}"
    missing = f"{each.missing:,}" if each.missing else ""
    if each.missing_codes:
        codes = ", ".join(one_line(str(code), 20) for code in each.missing_codes[:4])
        missing += f" ({codes})"
    return [name, each.kind, _states(each), missing, each.proposal]


def _states(each: Inspected) -> str:
    if each.distinct > 12:
        return f"{each.distinct:,} distinct"
    shown = [f"{one_line(str(value), 24)} {count:,}" for value, count in each.states[:MOST_STATES]]
    more = each.distinct - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
