"""``isinglass resample``: how often each edge comes back in half of the rows."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from isinglass.cli.fitting import fit_file, fit_options
from isinglass.cli.terminal import new_console, progress_bar
from isinglass.uncertainty.resampling.dropping import CaseDropping, case_dropping
from isinglass.uncertainty.resampling.resample import Resamples, resample
from isinglass.wording import counted, one_line

EPILOG = """\b
Examples:
  isinglass resample votes.csv
  isinglass resample votes.csv --samples 1000 --records votes/halves.jsonl
  isinglass resample votes.csv --case-dropping --json > dropping.json
"""


@click.command(epilog=EPILOG)
@click.argument("data", type=click.Path(dir_okay=True))
@click.option(
    "--samples",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    help="Half-samples, an even number; with --case-dropping, draws for each share.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which rows are drawn.")
@click.option(
    "--records",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Keep results there; what is in it is not done again.",
)
@click.option(
    "--case-dropping",
    "dropping",
    is_flag=True,
    help="Drop 5 to 75 % of the rows, and say how far the graph stays the same.",
)
@fit_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, nothing else.")
def command(
    data: str,
    *,
    samples: int,
    seed: int,
    records: str | None,
    dropping: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn the graph of DATA again from parts of its rows.

    Half-samples are drawn without replacement, in pairs that make up the whole table. How often
    an edge comes back says how far it would have been found with half of the rows.
    """
    estimator = fit_file(data, **options)
    work = case_dropping if dropping else resample
    with progress_bar("resampling", steady=True) as progress:
        result = work(
            estimator,
            n=samples,
            seed=seed,
            path=records,
            n_jobs=options["n_jobs"],
            progress=progress,
        )
    show = _of_dropping(result) if isinstance(result, CaseDropping) else _of_halves(result)
    if as_json:
        click.echo(json.dumps(show, indent=2, allow_nan=False))
    elif isinstance(result, CaseDropping):
        _print_dropping(result, show)
    else:
        _print_halves(result, show)


def _of_halves(found: Resamples) -> dict[str, Any]:
    return {
        "half_samples": len(found.halves),
        "rows": found.rows,
        "mean_edges": found.mean_edges,
        "failures": found.failures,
        "edges": found.to_frame("polars").to_dicts(),
    }


def _of_dropping(found: CaseDropping) -> dict[str, Any]:
    return {
        "cs": {name: found.cs(name) for name in ("edge", "strength")},
        "failures": found.failures,
        "curve": found.to_frame().to_dicts(),
    }


def _print_halves(found: Resamples, show: dict[str, Any]) -> None:
    console = new_console()
    console.print(
        f"{counted(len(found.halves), 'half-sample')} of {counted(found.rows, 'row')}, "
        f"{found.mean_edges:.1f} edges on average",
        style="bold",
    )
    _print_failures(console, found.failures)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in ("chosen in", "by both halves", "tier", "link"):
        table.add_column(head, justify="left" if head in ("tier", "link") else "right")
    for edge in sorted(show["edges"], key=lambda edge: -edge["frequency"]):
        table.add_row(
            f"{edge['frequency']:.0%}",
            f"{edge['simultaneous']:.0%}",
            edge["tier"] or ("" if edge["in_graph"] else "not in the graph"),
            Text(f"{one_line(edge['source'], 48)} -- {one_line(edge['target'], 48)}"),
        )
    console.print(table)


def _print_dropping(found: CaseDropping, show: dict[str, Any]) -> None:
    console = new_console()
    for name, words in (("edge", "edges"), ("strength", "strengths of columns")):
        console.print(f"CS coefficient of {words}: {show['cs'][name]:.2f}", style="bold")
    _print_failures(console, found.failures)
    table = Table(box=None, pad_edge=False, header_style="dim")
    heads = ("rows dropped", "edges", "strengths", "overlap")
    for head in heads:
        table.add_column(head, justify="right")
    for at, share in enumerate(found.dropped):
        values = (found.edge[at], found.strength[at], found.overlap[at])
        means = (f"{some.mean():.2f}" if len(some) else "" for some in values)
        table.add_row(f"{share:.0%}", *means)
    console.print(table)


def _print_failures(console: Any, failures: dict[Any, str]) -> None:
    for name, reason in failures.items():
        console.print(f"failed: {name}: {one_line(reason)}", style="yellow")
