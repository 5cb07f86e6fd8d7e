"""What commands do with a result: write its files, print it, say what was written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from isinglass.cli.terminal import working
from isinglass.errors import MissingExtra
from isinglass.files import write_all

overwrite_option = click.option(
    "--overwrite",
    is_flag=True,
    help="Replace files beside FILE even if isinglass did not write them.",
)


def write_with_picture(
    out: str, contents: Mapping[str, bytes], picture: str, draw: Callable[[], bytes]
) -> list[str]:
    """Write the files of a result, and its picture; lines say so, or why there is none."""
    lines = []
    try:
        with working("drawing"):
            contents = {**contents, picture: draw()}
    except MissingExtra as error:
        lines.append(f"no picture: {error}")
    write_all(out, contents)
    return [f"wrote {', '.join(contents)} to {out}", *lines]


def print_result(
    as_json: bool, document: dict[str, Any], tell: Callable[[], None], lines: Sequence[str]
) -> None:
    """Print a result, as JSON or in words; lines about files go to standard error beside JSON."""
    if as_json:
        click.echo(json.dumps(document, indent=2, allow_nan=False))
    else:
        tell()
    for line in lines:
        click.echo(line, err=as_json)
