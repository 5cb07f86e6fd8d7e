"""``isinglass fit``: a table in, a graph out."""

from __future__ import annotations

import json
from typing import Any

import click

from isinglass.cli.terminal import new_console, print_summary, progress_bar
from isinglass.errors import MissingExtra, SettingError
from isinglass.estimators import GreedyGraph
from isinglass.graph import Graph
from isinglass.report import summarise
from isinglass.report.exports import edges_csv, graphml
from isinglass.report.files import check_folder, write_all
from isinglass.selection import LookBelow, selector
from isinglass.table import read_table

EPILOG = """\b
Examples:
  isinglass fit votes.csv --out votes/
  isinglass fit mushroom.csv.gz --na '?' --missing state
  isinglass fit survey.csv --drop id --bin age=4 --weight-column weight --n-eff kish
  isinglass fit counts.tsv --weight-column count --json > graph.json
"""


@click.command(epilog=EPILOG)
@click.argument("data", type=click.Path(dir_okay=True))
@click.option("--out", metavar="DIR", help="Write edges.csv, graph.graphml and graph.png there.")
@click.option(
    "--threshold",
    default="auto",
    show_default=True,
    help="What an edge must gain per row: auto, paper, paper:0.9, or a number such as 0.01.",
)
@click.option(
    "--rule",
    type=click.Choice(["or", "and"]),
    default="or",
    show_default=True,
    help="Whether one end of an edge must choose it, or both.",
)
@click.option(
    "--missing",
    type=click.Choice(["error", "drop", "state", "available"]),
    default="error",
    show_default=True,
    help="Gaps: refuse them, keep complete rows only, or take a gap as an answer.",
)
@click.option("--na", multiple=True, metavar="TEXT", help="A cell that means missing, as '?'.")
@click.option("--drop", multiple=True, metavar="NAME", help="A column to leave out.")
@click.option("--bin", "bins", multiple=True, metavar="NAME=K", help="Cut a number into K bins.")
@click.option("--weight-column", metavar="NAME", help="A column of counts or weights.")
@click.option(
    "--n-eff",
    default="sum",
    show_default=True,
    help="How many rows the weights stand for: sum, kish, or a number.",
)
@click.option("--nu", type=float, default=0.5, show_default=True, help="Backward step factor.")
@click.option("--no-intercept", is_flag=True, help="No field of a column's own.")
@click.option("--max-degree", type=int, metavar="D", help="At most D neighbours a search.")
@click.option("--max-states", type=int, default=32, show_default=True, help="States a column.")
@click.option("--no-header", is_flag=True, help="The first row is data; columns are x0, x1, ...")
@click.option("--jobs", type=int, metavar="N", help="Threads; all cores by default.")
@click.option(
    "--top", type=click.IntRange(0), default=20, show_default=True, help="Edges to print."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, nothing else.")
def command(data: str, out: str | None, top: int, as_json: bool, **options: Any) -> None:
    """Learn which columns of DATA are directly linked.

    DATA is CSV, TSV, Parquet or Arrow, plain or gzipped: one row a case, one column a
    discrete variable (yes/no, a few numbers, a few words).
    """
    if out:
        check_folder(out)
    estimator = _fit(data, **options)
    summary = summarise(estimator)
    written = _write(out, estimator.graph_) if out else []
    if as_json:
        click.echo(json.dumps(summary, indent=2, allow_nan=False))
    else:
        print_summary(new_console(), summary, top)
    for line in written:
        click.echo(line, err=as_json)


def _fit(
    data: str,
    *,
    threshold: str,
    na: tuple[str, ...],
    drop: tuple[str, ...],
    bins: tuple[str, ...],
    weight_column: str | None,
    n_eff: str,
    no_header: bool,
    no_intercept: bool,
    jobs: int | None,
    **settings: Any,
) -> GreedyGraph:
    estimator = GreedyGraph(
        LookBelow(selector(threshold)),
        intercept=not no_intercept,
        n_eff=_number_or_word(n_eff),
        bins=dict(map(_bin, bins)) or None,
        n_jobs=jobs,
        **settings,
    )
    table = _without(read_table(data, na=na, header=not no_header), drop)
    with progress_bar("searching") as progress:
        return estimator.fit(table, sample_weight=weight_column, progress=progress)


def _without(table: Any, drop: tuple[str, ...]) -> Any:
    unknown = [name for name in drop if name not in table.columns]
    if unknown:
        known = ", ".join(repr(name) for name in table.columns[:8])
        more = f" and {len(table.columns) - 8} more" if len(table.columns) > 8 else ""
        raise SettingError(
            f"--drop: there is no column {unknown[0]!r}; the columns are {known}{more}."
        )
    left = table.drop(set(drop))
    if not left.columns:
        raise SettingError("--drop leaves no column; keep at least one.")
    return left


def _write(out: str, graph: Graph) -> list[str]:
    """Write the files of a result; one line says so, and another if there is no picture."""
    contents = {"edges.csv": edges_csv(graph), "graph.graphml": graphml(graph)}
    lines = []
    try:
        contents["graph.png"] = _picture(graph)
    except MissingExtra as error:
        lines.append(f"no picture: {error}")
    write_all(out, contents)
    return [f"wrote {', '.join(contents)} to {out}", *lines]


def _picture(graph: Graph) -> bytes:
    from isinglass.report import plots

    return plots.png(plots.figure_of(plots.network(graph)))


def _bin(text: str) -> tuple[str, int]:
    name, _, count = text.rpartition("=")
    if not name or not count.isdecimal():
        raise SettingError(f"--bin takes NAME=K, as age=4, not {text!r}.")
    return name, int(count)


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
