"""``isinglass sample``: a table drawn from a model in a file."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click
import numpy as np

from isinglass.cli.terminal import progress_bar
from isinglass.cli.wording import in_options
from isinglass.errors import PoorMixing
from isinglass.exports.tables import as_csv
from isinglass.files import check_file, write_files
from isinglass.model import MarkovField
from isinglass.report.words import counted

EPILOG = """\b
Example:
  isinglass sample model.json --rows 1000 --out table.csv --seed 1
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=click.Path())
@click.option("--rows", type=click.IntRange(1), required=True, metavar="N", help="Rows to draw.")
@click.option("--out", required=True, metavar="FILE", help="The table, as CSV.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="To get the same table again.")
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "gibbs"]),
    default="auto",
    show_default=True,
    help="Exact: independent rows. Gibbs: where exact needs too much memory.",
)
@click.option(
    "--memory",
    type=float,
    default=1e9,
    show_default="1e9",
    metavar="BYTES",
    help="What exact sampling may take.",
)
@click.option("--burn-in", type=int, default=1000, show_default=True, help="Gibbs: first sweeps.")
@click.option("--thin", type=int, default=10, show_default=True, help="Gibbs: sweeps a draw.")
@click.option("--jobs", "n_jobs", type=int, metavar="N", help="Threads; all cores by default.")
def command(model: str, rows: int, out: str, seed: int | None, **sampling: Any) -> None:
    """Draw a table from a MODEL (model.json)."""
    check_file(out)
    field = MarkovField.load(model)
    seed = int(np.random.default_rng().integers(1, 10**9)) if seed is None else seed
    with progress_bar("sampling") as progress, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PoorMixing)
        codes = field.sample_codes(rows, seed=seed, progress=progress, **sampling)
    write_files({Path(out): _csv(field, codes)})
    click.echo(
        f"wrote {counted(rows, 'row')}, {counted(len(field.names), 'column')} to {out}; "
        f"the same again with --seed {seed}"
    )
    for warning in caught:
        click.echo(f"isinglass: {in_options(str(warning.message))}", err=True)


def _csv(field: MarkovField, codes: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """Labels as text; the label of a gap is an empty cell."""
    columns = (
        [labels[code] for code in column]
        for labels, column in zip(field.states, codes.T.tolist(), strict=True)
    )
    return as_csv(field.names, zip(*columns, strict=True))
