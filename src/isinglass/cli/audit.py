"""``isinglass audit``: what does this analysis do on such a table?"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from isinglass.cli.fitting import read_and_configure, search_options
from isinglass.cli.results import print_result, write_with_picture
from isinglass.cli.terminal import new_console, progress_bar
from isinglass.exports.tables import as_csv
from isinglass.files import check_folder
from isinglass.repeating import RECORDS
from isinglass.uncertainty.simulation.audit import Audit, Tier, audit
from isinglass.wording import counted

EPILOG = """\b
Examples:
  isinglass audit survey.csv --drop id
  isinglass audit survey.csv --threshold paper --tables 400 --out audit/
"""


@click.command(epilog=EPILOG)
@click.argument("data", type=click.Path(dir_okay=True))
@search_options
@click.option(
    "--tables", type=click.IntRange(1, 10**6), default=100, show_default=True, metavar="N"
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--jobs", "n_jobs", type=click.IntRange(1), metavar="N", help="Processes (default: all cores)."
)
@click.option("--out", default="isinglass-audit", show_default=True, metavar="DIR")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, nothing else.")
def command(
    data: str,
    *,
    tables: int,
    seed: int,
    n_jobs: int | None,
    out: str,
    as_json: bool,
    weight_column: str | None,
    **options: Any,
) -> None:
    """How many false edges does this analysis make on tables like DATA, and what does it find?

    Draws tables of the same size, weights and missing values from a model that is deliberately
    denser than the graph of DATA, repeats the whole analysis on each, and counts. What is done is
    kept in DIR: after Ctrl-C the same command goes on where it stopped.
    """
    check_folder(out)
    estimator, table = read_and_configure(data, **options)
    with progress_bar("drawing and learning") as progress:
        result = audit(
            estimator,
            table,
            tables,
            sample_weight=weight_column,
            seed=seed,
            path=Path(out) / RECORDS,
            n_jobs=n_jobs,
            progress=progress,
        )
    contents = {"tiers.csv": _tiers_csv(result), "detection.csv": _detection_csv(result)}
    lines = write_with_picture(out, contents, "audit.png", partial(_picture, result))
    print_result(as_json, _as_dict(result), partial(_tell, new_console(), result), lines)


def _tell(console: Console, result: Audit) -> None:
    console.print(f"{counted(result.tables, 'table')} like this one", style="bold")
    heads = ["graph", "edges here", "false edges", "error", "links found"]
    console.print(
        _table(
            heads,
            [
                [
                    tier.name,
                    f"{tier.edges:,}",
                    f"{tier.false:.2f}",
                    f"{tier.error:.2f}",
                    f"{tier.found:.0%}",
                ]
                for tier in result.tiers
            ],
        )
    )
    console.print("\nProbability of finding a link, by its odds ratio", style="bold")
    names = [tier.name for tier in result.tiers]
    rows = [
        [size.words, f"{size.links:,}", *(f"{size.found[name]:.2f}" for name in names)]
        for size in result.detection
    ]
    console.print(_table(["odds ratio", "links", *names], rows))
    if result.failed:
        console.print(f"{counted(result.failed, 'table')} could not be learned from.")
    console.print(f"\n{result.sentence}", style="bold")


def _table(heads: list[str], rows: list[list[str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for at, head in enumerate(heads):
        table.add_column(head, justify="right" if at else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _tiers_csv(result: Audit) -> bytes:
    keys = tuple(Tier.__dataclass_fields__)
    return as_csv(keys, [[getattr(tier, key) for key in keys] for tier in result.tiers])


def _detection_csv(result: Audit) -> bytes:
    names = [tier.name for tier in result.tiers]
    rows = [
        [size.low, size.high, size.links, *(size.found[name] for name in names)]
        for size in result.detection
    ]
    return as_csv(["low", "high", "links", *names], rows)


def _as_dict(result: Audit) -> dict[str, Any]:
    """Plain values; what is not a finite number is null."""
    return {
        "sentence": result.sentence,
        "tables": result.tables,
        "failed": result.failed,
        "tiers": [_finite(asdict(tier)) for tier in result.tiers],
        "detection": [_finite(asdict(size)) for size in result.detection],
    }


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and not np.isfinite(value) else value
        for key, value in values.items()
    }


def _picture(result: Audit) -> bytes:
    from isinglass import plots

    return plots.png(plots.figure_of(plots.audit(result)))
