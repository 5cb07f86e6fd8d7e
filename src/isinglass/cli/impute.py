"""``isinglass impute``: a table completed by a model in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from isinglass.cli.drawing import method_options, mixing_told
from isinglass.cli.terminal import progress_bar, working
from isinglass.exports.tables import as_csv
from isinglass.files import check_file, write_files
from isinglass.model import MarkovField
from isinglass.report.words import counted
from isinglass.table import read_table

EPILOG = """\b
Examples:
  isinglass impute model.json survey.csv --out complete.csv
  isinglass impute model.json survey.csv --na '?' --draws 5 --seed 1 --out complete.csv
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path())
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    help="The table, as CSV; FILE-1, FILE-2, ... if several.",
)
@click.option("--draws", type=click.IntRange(1), default=1, show_default=True, help="Tables.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For the draws.")
@click.option("--na", multiple=True, metavar="TEXT", help="A cell that means missing, as '?'.")
@click.option("--no-header", is_flag=True, help="The first row is data; columns are x0, x1, ...")
@click.option(
    "--use",
    type=click.Choice(["display", "inference"]),
    default="display",
    show_default=True,
    help="Inference: parameters redrawn for each table; the model must have errors.",
)
@click.option("--most-likely", is_flag=True, help="The likeliest cells instead of drawn ones.")
@method_options
def command(
    model: str, data: str, out: str, na: tuple[str, ...], no_header: bool, **drawing: Any
) -> None:
    """Fill the missing cells of DATA by a MODEL (model.json), drawn given those seen."""
    paths = _paths(out, drawing["draws"])
    for path in paths:
        check_file(path)
    with working("reading"):
        field = MarkovField.load(model)
        table = read_table(data, na=na, header=not no_header)
    with mixing_told(), progress_bar("drawing") as progress:
        completed = field.impute(table, progress=progress, **drawing)
    tables = zip(paths, completed, strict=True)
    with working("writing"):
        write_files({path: as_csv(each.columns, each.rows()) for path, each in tables})
    click.echo(
        f"wrote {', '.join(map(str, paths))}: {counted(completed.filled, 'cell')} filled in "
        f"{counted(len(table), 'row')}"
    )
    click.echo(completed.note)


def _paths(out: str, draws: int) -> list[Path]:
    """The file, or one for each draw: table.csv, or table-1.csv, table-2.csv."""
    path = Path(out)
    if draws == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{at}{path.suffix}") for at in range(1, draws + 1)]
