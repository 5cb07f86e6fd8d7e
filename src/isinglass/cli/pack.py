"""``isinglass pack``: a large file in, a folder of bits out."""

from __future__ import annotations

from typing import Any

import click

from isinglass.cli import options as opt
from isinglass.cli.terminal import progress_bar
from isinglass.errors import SettingError
from isinglass.table.packed.api import is_packed, pack
from isinglass.wording import counted

#: Options of tables that cannot be settled while a file is read in chunks.
LATER = ("max_bytes", "sheet", "clusters", "n_eff")


@opt.command(
    opt.DATA,
    click.Argument(["out"], type=click.Path()),
    *(option for option in opt.TABLE if option.name not in LATER),
    opt.missing("error", "drop", "state"),
    examples="""
        isinglass pack survey.csv survey.bits
        isinglass pack parts/ survey.bits --missing drop --weight-column count
        isinglass fit survey.bits --out result/
    """,
)
def command(data: str, out: str, **options: Any) -> None:
    """Pack DATA into the folder OUT, whose name ends with .bits.

    DATA is CSV, TSV, Parquet or Arrow, text also gzipped, or a folder of such files with the same
    columns. It is read once, some rows at a time: neither the table nor its bits have to fit into
    memory. Missing values, bins and weights are fixed here, for all later fits.
    """
    if is_packed(data):
        raise SettingError(f"{data} is packed already.")
    drop = list(options.pop("drop")) or None
    with progress_bar("reading rows", steady=True) as progress:
        table = pack(data, out, drop=drop, **options, progress=progress)
    size = f"{counted(round(table.n), 'row')} of {counted(len(table.columns), 'column')}"
    click.echo(f"wrote {size} to {out}")
