"""What the commands that write a report share."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

suppress_option = click.option(
    "--suppress",
    type=click.FloatRange(0),
    default=0,
    metavar="ROWS",
    help="Hide groups of fewer rows, so that the report can be shared; write no other file.",
)
open_option = click.option("--open", "open_it", is_flag=True, help="Show the report in a browser.")


def title_of(data: str) -> str:
    """What to call a table: the name of its file, without endings.

    >>> title_of("answers/votes_2006.csv.gz")
    'votes 2006'
    """
    name = Path(data).name
    return (name.partition(".")[0] or name).replace("_", " ")


def show(path: Path) -> None:
    """Open a page in a browser; one line says so where there is none."""
    if not webbrowser.open(path.absolute().as_uri()):
        click.echo(f"no browser was found; open {path} yourself.", err=True)
