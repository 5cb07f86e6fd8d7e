"""``isinglass audit``: what does this analysis do on such a table?"""

from __future__ import annotations

from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

import click

from isinglass.cli import options as opt
from isinglass.cli.fitting import read_and_configure
from isinglass.cli.results import print_result, write_with_picture
from isinglass.cli.terminal import new_console, progress_bar, table, table_of
from isinglass.cluster import connected
from isinglass.exports.tables import as_csv
from isinglass.files import check_folder
from isinglass.repeating import RECORDS
from isinglass.uncertainty.simulation.audit import Audit, Tier, audit
from isinglass.wording import counted

TIERS = {
    "graph": "{0.name}",
    "edges here": "{0.edges:,}",
    "false edges": "{0.false:.2f}",
    "error": "{0.error:.2f}",
    "found again": "{0.found_again:.0%}",
}


@opt.command(
    opt.DATA,
    *opt.SEARCH,
    opt.option("--tables N", "Tables to draw.", 100, type=click.IntRange(1, 10**6)),
    opt.seed("Seed of the tables drawn."),
    opt.PROCESSES,
    opt.SCHEDULER,
    opt.option(
        "--out DIR",
        "Write tables and a picture there, and keep finished work there.",
        "isinglass-audit",
    ),
    opt.JSON,
    examples="""
        isinglass audit survey.csv --drop id
        isinglass audit survey.csv --threshold paper --tables 400 --out audit/
    """,
)
def command(
    data: str,
    *,
    tables: int,
    seed: int,
    n_jobs: int | None,
    out: str,
    as_json: bool,
    scheduler: str | None,
    sample_weight: str | None,
    clusters: str | None,
    **options: Any,
) -> None:
    """How many false edges does this analysis make on tables like DATA, and what does it find?

    Draws tables of the same size, weights and missing values from a model that is deliberately
    denser than the graph of DATA, repeats the whole analysis on each, and counts. Finished work
    is kept in DIR: after Ctrl-C, the same command continues where it stopped.
    """
    check_folder(out)
    about_rows: dict[str, Any] = {"sample_weight": sample_weight, "clusters": clusters}
    estimator, table = read_and_configure(data, **about_rows, **options)
    with connected(scheduler) as client, progress_bar("drawing and learning") as progress:
        result = audit(
            estimator,
            table,
            tables,
            **about_rows,
            seed=seed,
            path=Path(out) / RECORDS,
            n_jobs=n_jobs,
            progress=progress,
            client=client,
        )
    lines = write_with_picture(out, _files(result), "audit.png", lambda to: to.audit(result))
    keys = ("sentence", "tables", "failed", "detection", "tiers")
    document = {key: getattr(result, key) for key in keys}
    print_result(as_json, document, partial(_tell, result), lines)


def _files(result: Audit) -> dict[str, bytes]:
    names = [tier.name for tier in result.tiers]
    sizes = (
        [size.low, size.high, size.links, *(size.found[name] for name in names)]
        for size in result.detection
    )
    return {
        "tiers.csv": as_csv(list(Tier.__dataclass_fields__), map(astuple, result.tiers)),
        "detection.csv": as_csv(["low", "high", "links", *names], sizes),
    }


def _tell(result: Audit) -> None:
    console = new_console()
    console.print(f"{counted(result.tables, 'table')} like this one", style="bold")
    console.print("\nProbability of finding a link, by its odds ratio", style="bold")
    names = [tier.name for tier in result.tiers]
    rows = (
        [size.words, f"{size.links:,}", *(f"{size.found[name]:.2f}" for name in names)]
        for size in result.detection
    )
    console.print(table(["odds ratio", "links", *names], rows, left=("odds ratio",)))
    console.print("\nFalse edges, and links of the learned model found again", style="bold")
    console.print(table_of(TIERS, result.tiers, left=("graph",)))
    console.print(
        "Links that were missed in DATA are not in the learned model, so of all links fewer are "
        "found.",
        style="dim",
    )
    if result.failed:
        console.print(f"{counted(result.failed, 'table')} could not be learned from.")
    console.print(f"\n{result.sentence}", style="bold")
