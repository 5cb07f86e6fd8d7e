"""``isinglass plan``: how many rows do I need?"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from isinglass.cli.fitting import threshold_options
from isinglass.cli.results import print_result, write_with_picture
from isinglass.cli.tables import (
    missing_option,
    table_options,
    take_reading,
    take_settings,
    take_table,
)
from isinglass.cli.terminal import new_console, progress_bar
from isinglass.errors import SettingError
from isinglass.exports.tables import as_csv
from isinglass.files import check_folder
from isinglass.repeating import RECORDS
from isinglass.uncertainty.power.plan import MOST_ROWS, plan
from isinglass.uncertainty.power.planned import Planned, Point

EPILOG = """\b
Examples:
  isinglass plan --columns 50 --degree 4 --coupling 0.3
  isinglass plan --columns 20 --degree 3 --odds-ratio 2 --states 3
  isinglass plan --pilot pilot.csv --drop id
  isinglass plan --columns 50 --degree 4 --odds-ratio 3 --rows 500 --rows 1000
"""


@click.command(epilog=EPILOG)
@click.option("--columns", type=int, metavar="P", help="Number of columns.")
@click.option("--degree", type=float, metavar="D", help="Neighbours per column.")
@click.option("--coupling", type=float, metavar="C", help="Size of every link.")
@click.option("--odds-ratio", type=float, metavar="X", help="The same, as an odds ratio.")
@click.option("--states", type=int, default=2, show_default=True, help="States per column.")
@click.option(
    "--intercept",
    type=float,
    default=0.0,
    show_default=True,
    help="Fields are drawn from minus this to this.",
)
@click.option("--pilot", type=click.Path(), metavar="FILE", help="A table, instead of a guess.")
@table_options
@missing_option("error", "drop", "state")
@threshold_options
@click.option(
    "--factor",
    "factors",
    type=float,
    multiple=True,
    default=(0.7, 1.0),
    show_default=True,
    help="What the couplings are multiplied by.",
)
@click.option("--target", type=float, default=0.9, show_default=True, help="To be reached.")
@click.option(
    "--aim",
    type=click.Choice(["graph", "edges"]),
    help="The whole graph (default), or a share of its edges (default with --pilot).",
)
@click.option("--rows", type=click.IntRange(1), multiple=True, metavar="N", help="Rows to try.")
@click.option("--most-rows", type=click.IntRange(1), default=MOST_ROWS, show_default=True)
@click.option("--graphs", type=click.IntRange(2), default=100, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--jobs", "n_jobs", type=click.IntRange(1), metavar="N", help="Processes (default: all cores)."
)
@click.option("--out", default="isinglass-plan", show_default=True, metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, nothing else.")
def command(
    out: str, as_json: bool, pilot: str | None, rows: tuple[int, ...], **options: Any
) -> None:
    """How many rows does it take to recover a graph?

    Draws tables of the kind you expect, learns each, and counts. What is done is kept in DIR:
    after Ctrl-C the same command goes on where it stopped.
    """
    check_folder(out)
    options = _with_pilot(pilot, **options)
    with progress_bar("drawing and learning") as progress:
        planned = plan(rows=rows or None, path=Path(out) / RECORDS, progress=progress, **options)
    contents = {"plan.csv": _csv(planned)}
    lines = write_with_picture(out, contents, "plan.png", partial(_picture, planned))
    print_result(as_json, _as_dict(planned), partial(_tell, planned), lines)


def _with_pilot(
    pilot: str | None, *, weight_column: str | None, missing: str, **options: Any
) -> dict[str, Any]:
    """The options of `plan`, with the pilot table read if there is one."""
    given = [options[key] for key in ("na", "drop", "bins", "high", "sep", "max_size")]
    settings = take_settings(options)
    if pilot is None:
        if any(given) or weight_column or missing != "error":
            raise SettingError("options that say how a table is read need --pilot FILE.")
        take_reading(options)
        del options["drop"]
        return options
    table = take_table(pilot, options)
    reading = {"sample_weight": weight_column, "missing": missing, "intercept": 0.0, **settings}
    return options | {"pilot": table, **reading}


def _tell(planned: Planned) -> None:
    console = new_console()
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in ("couplings", "rows", "whole graph", "95 % interval", "edges found", "false edges"):
        table.add_column(head, justify="right", no_wrap=True)
    for at in planned.points:
        table.add_row(*(Text(cell) for cell in _cells(at)))
    console.print(table)
    console.print(f"\n{planned.sentence}", style="bold")


def _cells(at: Point) -> list[str]:
    return [
        f"x {at.factor:g}",
        f"{at.rows:,}",
        f"{at.recovered:.2f}",
        f"{at.low:.2f} to {at.high:.2f}",
        f"{at.found:.3f}",
        f"{at.false:.2f}",
    ]


def _csv(planned: Planned) -> bytes:
    rows = [list(asdict(at).values()) for at in planned.points]
    return as_csv(tuple(Point.__dataclass_fields__), rows)


def _as_dict(planned: Planned) -> dict[str, Any]:
    return {
        "sentence": planned.sentence,
        "target": planned.target,
        "aim": planned.aim,
        "answers": {f"{factor:g}": at.rows for factor, at in planned.answers.items()},
        "points": [asdict(at) for at in planned.points],
    }


def _picture(planned: Planned) -> bytes:
    from isinglass import plots

    return plots.png(plots.figure_of(plots.plan(planned)))
