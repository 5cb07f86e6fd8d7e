"""``isinglass compare``: several methods on one table."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
from rich.table import Table

from isinglass.cli import options as opt
from isinglass.cli.fitting import take_table
from isinglass.cli.results import print_result, write_with_picture
from isinglass.cli.terminal import new_console, progress_bar, table
from isinglass.cluster import connected
from isinglass.errors import Stopped
from isinglass.experiments.compare import Comparison, compare
from isinglass.files import check_folder
from isinglass.report.experiment import comparison_csv, comparison_dict, edges_csv
from isinglass.wording import counted, one_line


@opt.command(
    opt.DATA,
    opt.option("--out DIR", "Write compare.csv, edges.csv and a picture there."),
    opt.whole("--folds", "Parts of the rows that are held out in turn.", 5, least=2),
    opt.seed("Seed of the split into folds."),
    opt.missing("error", "drop", "state"),
    *opt.TABLE,
    opt.SCHEDULER,
    opt.JSON,
    examples="""
        isinglass compare votes.csv --out votes/
        isinglass compare survey.csv --drop id --bin age=4 --folds 10
    """,
)
def command(data: str, out: str | None, as_json: bool, **options: Any) -> None:
    """Learn the graph of DATA by several methods, and show how they differ.

    Every method learns from all rows, for its edges and its time. Then each fold of the rows is
    held out in turn: the methods learn from the others, each graph is refitted in the same way,
    and is judged by how well it predicts the rows held out. Ctrl-C keeps the methods that are
    finished.
    """
    if out:
        check_folder(out)
    try:
        _tell(_compare(data, **options), out, as_json)
    except Stopped as stopped:
        if all(entry.failed for entry in stopped.result.entries):
            raise
        _tell(stopped.result, out, as_json)
        click.echo("isinglass: stopped; only the methods that were finished are compared", err=True)
        click.get_current_context().exit(130)


def _compare(data: str, scheduler: str | None, **options: Any) -> Comparison:
    table = take_table(data, options)
    with connected(scheduler) as client, progress_bar("comparing") as progress:
        return compare(table, progress=progress, tell=progress.tell, client=client, **options)


def _tell(comparison: Comparison, out: str | None, as_json: bool) -> None:
    lines = _write(out, comparison) if out else []
    print_result(as_json, comparison_dict(comparison), partial(print_comparison, comparison), lines)


def _write(out: str, comparison: Comparison) -> list[str]:
    def draw(_: Any) -> Any:
        from isinglass.plots.side_by_side import comparison_figure

        return comparison_figure(comparison)

    contents = {"compare.csv": comparison_csv(comparison), "edges.csv": edges_csv(comparison)}
    return write_with_picture(out, contents, "compare.png", draw)


def print_comparison(comparison: Comparison) -> None:
    """One row per method, then what they share."""
    console = new_console()
    console.print(
        f"{comparison.rows:,.0f} rows; {counted(len(comparison.entries), 'method')}; "
        f"scores from {comparison.folds} folds, held out in turn",
        style="bold",
    )
    console.print(_methods(comparison))
    console.print(
        f"score: mean log-likelihood per held-out row, of each column given its neighbours; "
        f"without edges it is {comparison.baseline:.4f}. Larger is better.",
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
    rows = []
    for entry in comparison.entries:
        versus = f"{entry.difference:+.4f} ± {entry.error:.4f}" if entry is not first else ""
        shared = len(entry.edges & first.edges)
        cells = [f"{len(entry.edges)}", f"{shared}", f"{entry.score:.4f}", versus]
        cells.append(f"{entry.seconds:.2f}")
        rows.append([entry.name, *(["-"] * len(cells) if entry.failed else cells)])
    return table(heads, rows, left=("method",))


def _common(comparison: Comparison) -> Table:
    done = [k for k, entry in enumerate(comparison.entries) if not entry.failed]
    names = [entry.name for entry in comparison.entries]
    common = comparison.common()
    rows = ([names[k], *(str(common[k, m]) for m in done)] for k in done)
    return table(["", *(names[k] for k in done)], rows, left=("",))
