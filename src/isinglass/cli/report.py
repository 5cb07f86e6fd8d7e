"""``isinglass report``: the report of a fit that was saved."""

from __future__ import annotations

from pathlib import Path

import click

from isinglass.cli import options as opt
from isinglass.cli.results import show, title_of
from isinglass.cli.terminal import working
from isinglass.errors import SettingError
from isinglass.files import check_file, write_files
from isinglass.model import FitRecord
from isinglass.report import summarise, to_html, to_json, to_markdown

FACES = {".html": to_html, ".md": to_markdown, ".json": to_json}


@opt.command(
    opt.MODEL,
    opt.option(
        "--out FILE",
        "Where to write it, as .html, .md or .json; report.html beside MODEL by default.",
    ),
    opt.option("--title TEXT", "What to call the table."),
    opt.SUPPRESS,
    opt.OPEN,
    examples="""
        isinglass report votes/model.json --open
        isinglass report votes/model.json --out votes.html --suppress 5
        isinglass report votes/model.json --out votes.md
    """,
)
def command(model: str, out: str | None, title: str | None, suppress: float, open_it: bool) -> None:
    """Make the report of a fit again from MODEL (model.json), without the table."""
    path = Path(out) if out else Path(model).parent / "report.html"
    if path.suffix not in FACES:
        known = ", ".join(FACES)
        raise SettingError(f"--out must end in one of {known}; {path.suffix!r} is not known.")
    check_file(path)
    with working("reading the record") as tell:
        record = FitRecord.load(model)
        if title is None and (record.findings is None or record.findings.title is None):
            title = title_of(str(Path(model).absolute().parent))
        tell("summing up")
        summary = summarise(record, title=title, suppress=suppress)
        tell("writing")
        write_files({path: FACES[path.suffix](summary).encode()})
    click.echo(f"wrote {path}")
    if open_it:
        show(path)
