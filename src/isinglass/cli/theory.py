"""``isinglass theory``: what does the paper's theorem ask of this table?"""

from __future__ import annotations

from dataclasses import astuple
from functools import partial
from typing import Any

import click

from isinglass.cli import options as opt
from isinglass.cli.fitting import fit_file
from isinglass.cli.results import print_result
from isinglass.cli.terminal import new_console, progress_bar, table_of
from isinglass.exports.tables import as_csv
from isinglass.files import check_folder, write_all
from isinglass.theorem import ColumnTheory, LinkTheory, Theory, theory

#: Columns and links that are printed, those that need most rows first.
MOST = 12
#: Two lines per head, so that names have room on a narrow terminal.
COLUMNS = {
    "column": "{0.name}",
    "links": "{0.neighbours}",
    "condition\nnumber": "{0.condition:.3g}",
    "noise": "{0.noise:.2g}",
    "least\nthreshold": "{0.threshold:.2g}",
    "least\nlink": "{0.coefficient:.2g}",
    "smallest\nlink": "{0.smallest:.2g}",
    "rows\nasked": "{0.rows:.2g}",
    "l1": "{0.irrepresentability:.2f}",
}
LINKS = {
    "link": "{0.source} - {0.target}",
    "size": "{0.size:.3g}",
    "gain per row": "{0.gain:.3g}",
    "rows": "{0.rows:,.0f}",
}


@opt.command(
    opt.DATA,
    *opt.SEARCH,
    opt.option("--draws N", "Tables drawn for the noise.", 100, type=click.IntRange(1, 10**6)),
    opt.option(
        "--population N",
        "Rows drawn from the model for the working numbers.",
        50_000,
        type=click.IntRange(100, 10**8),
    ),
    opt.seed("Seed of all draws."),
    opt.THREADS,
    opt.option("--out DIR", "Write columns.csv and links.csv there."),
    opt.JSON,
    examples="""
        isinglass theory survey.csv --drop id
        isinglass theory survey.csv --draws 400 --out theory/
    """,
)
def command(
    data: str,
    *,
    draws: int,
    population: int,
    seed: int,
    out: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """What does the theorem of the paper ask of DATA, and how many rows does the search need?

    Fits the graph and its model, and computes the numbers of Theorem 1 for it: curvatures, noise,
    the smallest threshold and the smallest link, and the rows that it needs. Also shows the working
    numbers, from a search on a very large table drawn from the model.
    """
    if out is not None:
        check_folder(out)
    estimator = fit_file(data, **options)
    with progress_bar("drawing and searching") as progress:
        result = theory(estimator, draws=draws, population=population, seed=seed, progress=progress)
    lines = []
    if out is not None:
        contents = _files(result)
        write_all(out, contents)
        lines = [f"wrote {', '.join(contents)} to {out}"]
    keys = ("sentences", "rows", "rows_asked", "rows_sufficient", "recovered", "columns", "links")
    document = {key: getattr(result, key) for key in keys}
    print_result(as_json, document, partial(_tell, result), lines)


def _files(result: Theory) -> dict[str, bytes]:
    columns, links = map(astuple, result.columns), map(astuple, result.links)
    return {
        "columns.csv": as_csv(list(ColumnTheory.__dataclass_fields__), columns),
        "links.csv": as_csv(list(LinkTheory.__dataclass_fields__), links),
    }


def _tell(result: Theory) -> None:
    console = new_console()
    console.print("What Theorem 1 asks for", style="bold")
    columns = sorted(result.columns, key=lambda column: -column.rows)
    console.print(table_of(COLUMNS, columns[:MOST], left=("column",)))
    console.print(
        "Links must exceed the least link; l1: irrepresentability, which must be below 1 for l1 "
        "regression.",
        style="dim",
    )
    links = sorted(result.links, key=lambda link: -link.rows)
    if links:
        console.print("\nRows needed to find each link", style="bold")
        console.print(table_of(LINKS, links[:MOST], left=("link",)))
    if max(len(columns), len(links)) > MOST:
        console.print(f"Only the {MOST} that need the most rows are shown.", style="dim")
    console.print()
    for sentence in result.sentences:
        console.print(sentence)
