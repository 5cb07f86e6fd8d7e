"""``isinglass fit``: a table in, a graph out."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from typing import Any

import click

from isinglass.cli.tables import number_or_word, read_bins, read_without, table_options
from isinglass.cli.terminal import new_console, print_summary, progress_bar
from isinglass.errors import MissingExtra, SettingError
from isinglass.estimators import GreedyGraph
from isinglass.exports import edges_csv, graphml
from isinglass.files import check_folder, write_all
from isinglass.graph import Graph
from isinglass.report import summarise
from isinglass.selection import look_below

EPILOG = """\b
Examples:
  isinglass fit votes.csv --out votes/
  isinglass fit mushroom.csv.gz --na '?' --missing state
  isinglass fit survey.csv --drop id --bin age=4 --weight-column weight --n-eff kish
  isinglass fit counts.tsv --weight-column count --json > graph.json
  isinglass fit survey.csv --require fever cough --forbid-group age,sex,region
"""


#: What a search is told, by whatever command.
OPTIONS = (
    click.option(
        "--threshold",
        default="auto",
        show_default=True,
        help="What an edge must gain per row: auto, paper, paper:0.9, a number such as 0.01, or "
        "chosen on the table: ebic:0.25, cv:5, stability:1, stars:0.05.",
    ),
    click.option(
        "--rule",
        type=click.Choice(["or", "and"]),
        default="or",
        show_default=True,
        help="Whether one end of an edge must choose it, or both.",
    ),
    click.option(
        "--require", type=(str, str), multiple=True, metavar="A B", help="A link that must be."
    ),
    click.option(
        "--forbid", type=(str, str), multiple=True, metavar="A B", help="A link that must not be."
    ),
    click.option(
        "--forbid-group",
        multiple=True,
        metavar="A,B,C",
        help="Columns of which no two may be linked; quote names with a comma.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["error", "drop", "state", "available"]),
        default="error",
        show_default=True,
        help="Gaps: refuse them, keep complete rows only, or take a gap as an answer.",
    ),
    table_options,
    click.option("--nu", type=float, default=0.5, show_default=True, help="Backward step factor."),
    click.option("--no-intercept", is_flag=True, help="No field of a column's own."),
    click.option("--max-degree", type=int, metavar="D", help="At most D neighbours a search."),
    click.option("--jobs", type=int, metavar="N", help="Threads; all cores by default."),
)


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a table is read and searched."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command(epilog=EPILOG)
@click.argument("data", type=click.Path(dir_okay=True))
@click.option("--out", metavar="DIR", help="Write edges.csv, graph.graphml and graph.png there.")
@search_options
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
    estimator = fit_file(data, **options)
    summary = summarise(estimator)
    written = _write(out, estimator.graph_) if out else []
    if as_json:
        click.echo(json.dumps(summary, indent=2, allow_nan=False))
    else:
        print_summary(new_console(), summary, top)
    for line in written:
        click.echo(line, err=as_json)


def fit_file(
    data: str,
    *,
    threshold: str,
    require: Sequence[tuple[str, str]],
    forbid: Sequence[tuple[str, str]],
    forbid_group: Sequence[str],
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
    """Read a table, and learn its graph with the settings of `search_options`."""
    estimator = GreedyGraph(
        look_below(threshold),
        intercept=not no_intercept,
        n_eff=number_or_word(n_eff),
        bins=read_bins(bins),
        n_jobs=jobs,
        require=list(require) or None,
        forbid=[*forbid, *map(_group, forbid_group)] or None,
        **settings,
    )
    table = read_without(data, drop, na=na, header=not no_header)
    with progress_bar("searching") as progress:
        return estimator.fit(table, sample_weight=weight_column, progress=progress)


def _group(text: str) -> tuple[str, ...]:
    """Names with commas between them; a name that has a comma stands in quotes."""
    names = tuple(name.strip() for name in next(csv.reader([text], skipinitialspace=True), []))
    if len(names) < 2:
        raise SettingError(f"--forbid-group takes two names or more, as a,b,c; not {text!r}.")
    return names


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
