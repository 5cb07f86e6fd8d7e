"""What commands do with a result: draw it, write its files, print it, show its page."""

from __future__ import annotations

import json
import math
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import click

from isinglass.cli.terminal import working
from isinglass.errors import MissingExtra
from isinglass.files import write_all

#: Draws a picture with the room `plots`, and returns its axes or its figure.
Draw = Callable[[Any], Any]


def png_of(draw: Draw) -> bytes:
    """A picture as the content of a PNG file."""
    from isinglass import plots

    return plots.png(plots.figure_of(draw(plots)))


def write_with_picture(
    out: str, contents: Mapping[str, bytes], picture: str, draw: Draw
) -> list[str]:
    """Write the files of a result, and its picture; lines say so, or why there is none."""
    lines = []
    try:
        with working("drawing"):
            contents = {**contents, picture: png_of(draw)}
    except MissingExtra as error:
        lines.append(f"no picture: {error}")
    write_all(out, contents)
    return [f"wrote {', '.join(contents)} to {out}", *lines]


def print_result(
    as_json: bool, document: Mapping[str, Any], tell: Callable[[], None], lines: Sequence[str] = ()
) -> None:
    """Print a result, as JSON or in words; lines about files go to standard error beside JSON."""
    if as_json:
        click.echo(json.dumps(plain(document), indent=2, allow_nan=False))
    else:
        tell()
    for line in lines:
        click.echo(line, err=as_json)


def plain(value: Any) -> Any:
    """A value as JSON knows it: dataclasses as dicts, null for a number that is not finite."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
