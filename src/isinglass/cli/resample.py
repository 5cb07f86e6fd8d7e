"""``isinglass resample``: the same search, or the same fit, on other rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import click
from rich.console import Console

from isinglass.cli import options as opt
from isinglass.cli.figures import FIGURE, check_figures, draw_figures
from isinglass.cli.fitting import fit_file
from isinglass.cli.results import print_result
from isinglass.cli.terminal import new_console, progress_bar, table
from isinglass.cluster import connected
from isinglass.errors import SettingError
from isinglass.uncertainty.resampling.bootstrap import Bootstrap, bootstrap
from isinglass.uncertainty.resampling.columns import ColumnIntervals, column_intervals
from isinglass.uncertainty.resampling.dropping import CaseDropping, case_dropping
from isinglass.uncertainty.resampling.resample import Resamples, resample
from isinglass.wording import counted, one_line


@opt.command(
    opt.DATA,
    opt.whole(
        "--samples",
        "Half-samples, an even number; resamples with --bootstrap; with --case-dropping, draws "
        "per share.",
        100,
    ),
    opt.seed("Seed of the rows drawn."),
    opt.option(
        "--records FILE",
        "Keep results in this file; what it already holds is not computed again.",
        type=click.Path(dir_okay=False),
    ),
    opt.flag(
        "--case-dropping",
        "Drop 5 to 75 % of the rows, and show how similar the graph remains.",
    ),
    opt.flag("--centrality", "Show intervals of each column's strength and expected influence."),
    opt.flag(
        "--bootstrap",
        "Keep the graph, draw rows with replacement, and show intervals of its couplings; the "
        "figure shows which links differ in size.",
    ),
    FIGURE,
    *opt.SEARCH,
    opt.THREADS,
    opt.SCHEDULER,
    opt.JSON,
    examples="""
        isinglass resample votes.csv
        isinglass resample votes.csv --samples 1000 --records votes/halves.jsonl
        isinglass resample votes.csv --case-dropping --figure dropping.pdf
        isinglass resample votes.csv --centrality --figure centrality.svg
        isinglass resample votes.csv --bootstrap --figure differences.pdf
    """,
)
def command(
    data: str,
    *,
    samples: int,
    seed: int,
    records: str | None,
    figures: tuple[str, ...],
    as_json: bool,
    scheduler: str | None,
    **options: Any,
) -> None:
    """Learn the graph of DATA again from parts of its rows.

    Half-samples are drawn without replacement, in pairs that make up the whole table. The share
    of half-samples that find an edge shows how reliably half as many rows would find it.
    """
    way = _way({name: options.pop(name) for name in WAYS if name})
    if figures and way.draw is None:
        raise SettingError(
            "--figure draws dropped cases, centrality or the bootstrap: add --case-dropping, "
            "--centrality or --bootstrap."
        )
    check_figures(figures)
    with connected(scheduler) as client:
        estimator = fit_file(data, **options, client=client)
        with progress_bar("resampling", steady=True) as progress:
            result = way.work(
                estimator,
                n=samples,
                seed=seed,
                path=records,
                n_jobs=options["n_jobs"],
                progress=progress,
                client=client,
            )
    lines = draw_figures(figures, partial(way.draw, result)) if way.draw else []
    print_result(as_json, way.document(result), partial(way.tell, result), lines)


class Way(NamedTuple):
    """One way to draw other rows: what is done, and how its result is shown."""

    work: Callable[..., Any]
    document: Callable[[Any], dict[str, Any]]
    tell: Callable[[Any], None]
    draw: Callable[[Any, Any], Any] | None = None


def _way(asked: dict[str, bool]) -> Way:
    chosen = [name for name, wanted in asked.items() if wanted]
    if len(chosen) > 1:
        words = " and ".join(f"--{name.replace('_', '-')}" for name in chosen)
        raise SettingError(f"{words} are different work; ask for one at a time.")
    return WAYS[chosen[0] if chosen else ""]


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


def _of_columns(found: ColumnIntervals) -> dict[str, Any]:
    return {
        "half_samples": len(found.draws["strength"]),
        "rows": found.rows,
        "drawn": found.what,
        "failures": found.failures,
        "columns": found.to_frame(library="polars").to_dicts(),
    }


def _print_columns(found: ColumnIntervals) -> None:
    console = new_console()
    drawn = counted(len(found.draws["strength"]), "half-sample")
    console.print(f"95 % intervals from {drawn}", style="bold")
    _print_failures(console, found.failures)
    rows = (
        (one["measure"].replace("_", " "), *_numbers(one, "value"), one_line(one["name"], 48))
        for one in found.to_frame(library="polars").iter_rows(named=True)
    )
    heads = ("measure", "value", "low", "high", "column")
    console.print(table(heads, rows, left=("measure", "column")))


def _of_bootstrap(found: Bootstrap) -> dict[str, Any]:
    edges = found.to_frame(library="polars").to_dicts()
    return {"failures": found.failures, "given_this_graph": True, "edges": edges}


def _print_bootstrap(found: Bootstrap) -> None:
    console = new_console()
    console.print("95 % intervals of couplings, given this graph", style="bold")
    _print_failures(console, found.failures)
    rows = (
        (
            *_numbers(edge, "coupling"),
            f"{one_line(edge['source'], 48)} -- {one_line(edge['target'], 48)}",
        )
        for edge in found.to_frame(library="polars").iter_rows(named=True)
    )
    console.print(table(("coupling", "low", "high", "link"), rows, left=("link",)))


def _numbers(row: dict[str, Any], value: str) -> list[str]:
    return ["" if row[key] is None else f"{row[key]:.2f}" for key in (value, "low", "high")]


def _print_failures(console: Console, failures: dict[Any, str]) -> None:
    for name, reason in failures.items():
        console.print(f"failed: {name}: {one_line(reason)}", style="yellow")


#: What the flags ask for; half-samples if there is none.
WAYS = {
    "": Way(resample, _of_halves, _print_halves),
    "case_dropping": Way(
        case_dropping,
        _of_dropping,
        _print_dropping,
        lambda found, plots: plots.case_dropping(found),
    ),
    "centrality": Way(
        column_intervals,
        _of_columns,
        _print_columns,
        lambda found, plots: plots.centrality(found),
    ),
    "bootstrap": Way(
        bootstrap,
        _of_bootstrap,
        _print_bootstrap,
        lambda found, plots: plots.edge_differences(found),
    ),
}
