"""``isinglass compare``: several methods on one table."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from isinglass.cli.results import print_result, write_with_picture
from isinglass.cli.tables import missing_option, table_options, take_settings, take_table
from isinglass.cli.terminal import new_console, progress_bar
from isinglass.errors import Stopped
from isinglass.experiments.compare import Comparison, compare
from isinglass.files import check_folder
from isinglass.report.comparison import (
    comparison_csv,
    comparison_dict,
    edges_csv,
)
from isinglass.wording import counted, one_line

EPILOG = """\b
Examples:
  isinglass compare votes.csv --out votes/
  isinglass compare survey.csv --drop id --bin age=4 --folds 10
"""


@click.command(epilog=EPILOG)
@click.argument("data", type=click.Path(dir_okay=True))
@click.option("--out", metavar="DIR", help="Write compare.csv, edges.csv and a picture there.")
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    help="Parts of the rows that are held out in turn.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which row goes where.")
@missing_option("error", "drop", "state")
@table_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, nothing else.")
def command(data: str, out: str | None, as_json: bool, **options: Any) -> None:
    """Learn the graph of DATA by several methods, and say how they differ.

    Every method learns from all rows, for its edges and its time. Then each fold of the rows is
    held out in turn: the methods learn from the others, each graph is refitted in the same way,
    and is judged by how well it predicts the rows held out. Ctrl-C keeps the methods that are
    done.
    """
    if out:
        check_folder(out)
    try:
        _tell(_compare(data, **options), out, as_json)
    except Stopped as stopped:
        if all(entry.failed for entry in stopped.result.entries):
            raise
        _tell(stopped.result, out, as_json)
        click.echo("isinglass: stopped; the methods above that were done are compared", err=True)
        click.get_current_context().exit(130)


def _tell(comparison: Comparison, out: str | None, as_json: bool) -> None:
    written = _write(out, comparison) if out else []
    tell = partial(print_comparison, new_console(), comparison)
    print_result(as_json, comparison_dict(comparison), tell, written)


def _compare(data: str, *, weight_column: str | None, **options: Any) -> Comparison:
    settings = take_settings(options)
    table = take_table(data, options)
    with progress_bar("comparing") as progress:
        return compare(
            table,
            sample_weight=weight_column,
            progress=progress,
            tell=progress.tell,
            **settings,
            **options,
        )


def print_comparison(console: Console, comparison: Comparison) -> None:
    """One row a method, then what they share."""
    console.print(
        f"{comparison.rows:,.0f} rows; {counted(len(comparison.entries), 'method')}; "
        f"scores from {comparison.folds} folds, held out in turn",
        style="bold",
    )
    console.print(_methods(comparison))
    console.print(
        f"score: mean log-likelihood of a held-out row, columns given their neighbours; without "
        f"any edge it is {comparison.baseline:.4f}. Larger is better.",
        style="dim",
    )
    if comparison.left_out:
        console.print(
            f"{comparison.left_out:g} rows were not scored: they have a state that no other "
            "fold has.",
            style="dim",
        )
    for entry in comparison.entries:
        if entry.failed:
            console.print(f"{entry.name}: {one_line(entry.failed)}", style="yellow")
    if len(comparison.entries) > 2:
        console.print("\nEdges in common", style="bold")
        console.print(_common(comparison))


def _methods(comparison: Comparison) -> Table:
    first = comparison.entries[0]
    heads = ("method", "edges", f"also {first.name}", "score", f"less {first.name}", "seconds")
    table = Table(box=None, pad_edge=False, header_style="dim")
    for k, head in enumerate(heads):
        table.add_column(head, justify="left" if k == 0 else "right", no_wrap=True)
    for entry in comparison.entries:
        if entry.failed:
            table.add_row(Text(entry.name), *(Text("-") for _ in heads[1:]))
            continue
        versus = f"{entry.difference:+.4f} ± {entry.error:.4f}" if entry is not first else ""
        shared = len(entry.edges & first.edges)
        cells = (f"{len(entry.edges)}", f"{shared}", f"{entry.score:.4f}", versus)
        table.add_row(Text(entry.name), *map(Text, cells), Text(f"{entry.seconds:.2f}"))
    return table


def _common(comparison: Comparison) -> Table:
    entries = [k for k, entry in enumerate(comparison.entries) if not entry.failed]
    names = [comparison.entries[k].name for k in entries]
    common = comparison.common()
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in ("", *names):
        table.add_column(head, justify="right" if head else "left", no_wrap=True)
    for name, k in zip(names, entries, strict=True):
        table.add_row(Text(name), *(Text(str(common[k, m])) for m in entries))
    return table


def _write(out: str, comparison: Comparison) -> list[str]:
    """Write the files of a comparison; one line says so, another if there is no picture."""
    contents = {"compare.csv": comparison_csv(comparison), "edges.csv": edges_csv(comparison)}
    return write_with_picture(out, contents, "compare.png", partial(_picture, comparison))


def _picture(comparison: Comparison) -> bytes:
    from isinglass.plots import png
    from isinglass.plots.comparison import comparison_figure

    return png(comparison_figure(comparison))
