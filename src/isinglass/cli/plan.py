"""``isinglass plan``: how many rows do I need?"""

from __future__ import annotations

from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

import click

from isinglass.cli import options as opt
from isinglass.cli.fitting import take_table
from isinglass.cli.results import print_result, write_with_picture
from isinglass.cli.terminal import new_console, progress_bar, table_of
from isinglass.cluster import connected
from isinglass.errors import SettingError
from isinglass.exports.tables import as_csv
from isinglass.files import check_folder
from isinglass.repeating import RECORDS
from isinglass.uncertainty.power.plan import MOST_ROWS, plan
from isinglass.uncertainty.power.planned import Planned, Point

#: Options that are about a pilot table.
PILOT = (*opt.TABLE, opt.missing("error", "drop", "state"))
POINTS = {
    "couplings": "x {0.factor:g}",
    "rows": "{0.rows:,}",
    "whole graph": "{0.recovered:.2f}",
    "95 % interval": "{0.low:.2f} to {0.high:.2f}",
    "edges found": "{0.found:.3f}",
    "false edges": "{0.false:.2f}",
}


@opt.command(
    opt.option("--columns P", "Number of columns.", type=int),
    opt.option("--degree D", "Neighbours per column.", type=float),
    opt.option("--coupling C", "Size of every coupling.", type=float),
    opt.option("--odds-ratio X", "The same, as an odds ratio.", type=float),
    opt.option("--states", "States per column.", 2),
    opt.option(
        "--intercept", "Intercepts are drawn between minus this number and this number.", 0.0
    ),
    opt.option(
        "--pilot FILE",
        "A pilot table, from which graph and couplings are estimated.",
        type=click.Path(),
    ),
    *PILOT,
    *opt.THRESHOLD,
    opt.option(
        "--edges table|auto|scores",
        "Which forms links may have; with auto and scores, columns are ordered and links are "
        "products of scores.",
    ),
    opt.several("--factor X factors", "Multiply the couplings by this factor.", (0.7, 1.0)),
    opt.option("--target", "The probability, or the share of the edges, to reach.", 0.9),
    opt.option(
        "--aim graph|edges",
        "The whole graph (default), or a share of its edges (default with --pilot).",
    ),
    opt.several("--rows N", "Rows to try.", type=click.IntRange(1)),
    opt.whole("--most-rows", "The largest number of rows to try.", MOST_ROWS),
    opt.whole("--graphs", "Tables to draw per number of rows.", 100, least=2),
    opt.seed("Seed of the tables drawn."),
    opt.PROCESSES,
    opt.SCHEDULER,
    opt.option(
        "--out DIR",
        "Write plan.csv and a picture there, and keep finished work there.",
        "isinglass-plan",
    ),
    opt.JSON,
    examples="""
        isinglass plan --columns 50 --degree 4 --coupling 0.3
        isinglass plan --columns 20 --degree 3 --odds-ratio 2 --states 3
        isinglass plan --columns 20 --degree 3 --odds-ratio 2 --states 5 --edges auto
        isinglass plan --pilot pilot.csv --drop id
        isinglass plan --columns 50 --degree 4 --odds-ratio 3 --rows 500 --rows 1000
    """,
)
def command(
    out: str,
    as_json: bool,
    pilot: str | None,
    rows: tuple[int, ...],
    scheduler: str | None,
    **options: Any,
) -> None:
    """How many rows does it take to recover a graph?

    Draws tables of the kind you expect, learns each, and counts how often the graph is recovered.
    Finished work is kept in DIR: after Ctrl-C, the same command continues where it stopped.
    """
    check_folder(out)
    options |= _of_pilot(pilot, opt.take(options, PILOT))
    options |= {"rows": rows or None, "path": Path(out) / RECORDS}
    with connected(scheduler) as client, progress_bar("drawing and learning") as progress:
        planned = plan(progress=progress, client=client, **options)
    contents = {"plan.csv": as_csv(list(Point.__dataclass_fields__), map(astuple, planned.points))}
    lines = write_with_picture(out, contents, "plan.png", lambda to: to.plan(planned))
    document = {key: getattr(planned, key) for key in ("sentence", "target", "aim")} | {
        "answers": {f"{factor:g}": at.rows for factor, at in planned.answers.items()},
        "points": planned.points,
    }
    print_result(as_json, document, partial(_tell, planned), lines)


def _of_pilot(pilot: str | None, reading: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `plan` that are about a pilot table, read if there is one."""
    if pilot is not None:
        table = take_table(pilot, reading)
        return {"pilot": table, "intercept": 0.0, **reading}
    source = click.get_current_context().get_parameter_source
    if any(source(name) is click.core.ParameterSource.COMMANDLINE for name in reading):
        raise SettingError("options that say how a table is read need --pilot FILE.")
    return {}


def _tell(planned: Planned) -> None:
    console = new_console()
    console.print(table_of(POINTS, planned.points))
    console.print(f"\n{planned.sentence}", style="bold")
