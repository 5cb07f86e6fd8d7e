"""``isinglass resample``: how often each edge comes back in half of the rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
from rich.console import Console

from isinglass.cli import options as opt
from isinglass.cli.fitting import fit_file
from isinglass.cli.results import print_result
from isinglass.cli.terminal import new_console, progress_bar, table
from isinglass.uncertainty.resampling.dropping import CaseDropping, case_dropping
from isinglass.uncertainty.resampling.resample import Resamples, resample
from isinglass.wording import counted, one_line


@opt.command(
    opt.DATA,
    opt.whole(
        "--samples",
        "Half-samples, an even number; with --case-dropping, draws per share.",
        100,
    ),
    opt.seed("Seed of the rows drawn."),
    opt.option(
        "--records FILE",
        "Keep results in this file; what it already holds is not computed again.",
        type=click.Path(dir_okay=False),
    ),
    opt.flag(
        "--case-dropping dropping",
        "Drop 5 to 75 % of the rows, and show how similar the graph remains.",
    ),
    *opt.SEARCH,
    opt.THREADS,
    opt.JSON,
    examples="""
        isinglass resample votes.csv
        isinglass resample votes.csv --samples 1000 --records votes/halves.jsonl
        isinglass resample votes.csv --case-dropping --json > dropping.json
    """,
)
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

    Half-samples are drawn without replacement, in pairs that make up the whole table. The share
    of half-samples that find an edge shows how reliably half as many rows would find it.
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
    if isinstance(result, CaseDropping):
        print_result(as_json, _of_dropping(result), partial(_print_dropping, result))
    else:
        print_result(as_json, _of_halves(result), partial(_print_halves, result))


def _of_halves(found: Resamples) -> dict[str, Any]:
    return {
        "half_samples": len(found.halves),
        "rows": found.rows,
        "drawn": found.what,
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


def _print_halves(found: Resamples) -> None:
    console = new_console()
    console.print(
        f"{counted(len(found.halves), 'half-sample')} of {counted(found.rows, found.what)}, "
        f"{found.mean_edges:.1f} edges on average",
        style="bold",
    )
    _print_failures(console, found.failures)
    edges = sorted(found.to_frame("polars").to_dicts(), key=lambda edge: -edge["frequency"])
    rows = (
        (
            f"{edge['frequency']:.0%}",
            f"{edge['simultaneous']:.0%}",
            edge["tier"] or ("" if edge["in_graph"] else "not in the graph"),
            f"{one_line(edge['source'], 48)} -- {one_line(edge['target'], 48)}",
        )
        for edge in edges
    )
    heads = ("chosen in", "by both halves", "tier", "link")
    console.print(table(heads, rows, left=("tier", "link")))


def _print_dropping(found: CaseDropping) -> None:
    console = new_console()
    for name, words in (("edge", "edges"), ("strength", "strengths of columns")):
        console.print(f"CS coefficient of {words}: {found.cs(name):.2f}", style="bold")
    _print_failures(console, found.failures)
    curves = (found.edge, found.strength, found.overlap)
    rows = (
        (f"{share:.0%}", *(f"{of[at].mean():.2f}" if len(of[at]) else "" for of in curves))
        for at, share in enumerate(found.dropped)
    )
    console.print(table(("rows dropped", "edges", "strengths", "overlap"), rows))


def _print_failures(console: Console, failures: dict[Any, str]) -> None:
    for name, reason in failures.items():
        console.print(f"failed: {name}: {one_line(reason)}", style="yellow")
