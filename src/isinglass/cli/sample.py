"""``isinglass sample``: a table drawn from a model in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from isinglass.cli import options as opt
from isinglass.cli.terminal import progress_bar, working
from isinglass.exports.tables import as_csv
from isinglass.files import check_file, write_files
from isinglass.model import MarkovField
from isinglass.parameters.kinds import MANY
from isinglass.wording import counted


@opt.command(
    opt.MODEL,
    opt.needed("--rows N", "Rows to draw.", type=click.IntRange(1, MANY)),
    opt.needed("--out FILE", "The table, as CSV."),
    opt.NEW_SEED,
    *opt.METHOD,
    *opt.SWEEPS,
    opt.THREADS,
    examples="isinglass sample model.json --rows 1000 --out table.csv --seed 1",
)
def command(model: str, rows: int, out: str, seed: int, **sampling: Any) -> None:
    """Draw a table from a MODEL (model.json)."""
    check_file(out)
    method = opt.take_method(sampling, "burn_in", "thin")
    with working("reading the model"):
        field = MarkovField.load(model)
    with progress_bar("sampling") as progress:
        codes = field.sample_codes(rows, seed=seed, method=method, progress=progress, **sampling)
    with working("writing"):
        write_files({Path(out): _csv(field, codes)})
    click.echo(
        f"wrote {counted(rows, 'row')}, {counted(len(field.names), 'column')} to {out}"
        f"{'' if field.adjusted is None else f', given {field.adjusted.words}'}; "
        f"--seed {seed} draws the same table again"
    )


def _csv(field: MarkovField, codes: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """Labels as text; the label of a missing value is an empty cell."""
    columns = (
        [labels[code] for code in column]
        for labels, column in zip(field.states, codes.T.tolist(), strict=True)
    )
    return as_csv(field.names, zip(*columns, strict=True))
