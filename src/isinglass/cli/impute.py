"""``isinglass impute``: a table completed by a model in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from isinglass.cli import options as opt
from isinglass.cli.terminal import progress_bar, working
from isinglass.errors import FileError
from isinglass.files import check_file, check_side_files, write_files
from isinglass.model import MarkovField
from isinglass.parameters import check
from isinglass.table.reading import READ_ONLY, FileTable, ending, read_file, written_back
from isinglass.wording import counted


@opt.command(
    opt.MODEL,
    opt.DATA,
    opt.needed(
        "--out FILE",
        "The table, as CSV or in the format of the ending; FILE-1, FILE-2, ... if several.",
    ),
    opt.whole("--draws", "How many completed tables to draw.", 1),
    opt.seed("Seed of the draws."),
    *opt.READING,
    opt.choice(
        "--use display|inference",
        "inference draws new parameters for each table, and needs a model with standard errors.",
    ),
    opt.flag("--most-likely", "Fill in the most likely values instead of drawn ones."),
    *opt.METHOD,
    opt.OVERWRITE,
    examples="""
        isinglass impute model.json survey.csv --out complete.csv
        isinglass impute model.json survey.csv --na '?' --draws 5 --seed 1 --out complete.csv
    """,
)
def command(model: str, data: str, *, out: str, overwrite: bool, **drawing: Any) -> None:
    """Fill in the missing values of DATA with draws from a MODEL (model.json).

    They are drawn given the observed values. Observed values of a text file are written unchanged.
    A missing value of a binned column becomes the label of a bin.
    """
    reading = opt.take(drawing, opt.READING)
    check("draws", drawing["draws"], "impute")
    drawing["method"] = opt.take_method(drawing)
    paths = _paths(out, drawing["draws"])
    for path in paths:
        check_file(path)
        if ending(path) in READ_ONLY:
            raise FileError(
                f"{path}: tables are written as CSV, TSV, Parquet or Arrow; name such a file."
            )
    check_side_files(paths, Path(out), overwrite=overwrite)
    with working("reading"):
        field = MarkovField.load(model)
        file = _in_the_model_s_types(read_file(data, **reading), field)
    with progress_bar("drawing") as progress:
        completed = field.impute(file.frame, progress=progress, **drawing)
    tables = zip(paths, completed, strict=True)
    with working("writing"):
        write_files({path: written_back(file, each, path) for path, each in tables})
    click.echo(
        f"wrote {', '.join(map(str, paths))}: {counted(completed.filled, 'value')} filled in, "
        f"{counted(len(file.frame), 'row')} in all"
    )
    click.echo(completed.note)


def _in_the_model_s_types(file: FileTable, field: MarkovField) -> FileTable:
    """Columns whose states are texts in the model as texts, also if all are numbers here."""
    if file.texts is None:
        return file
    texts = {
        name: file.texts[name].set(file.frame[name].is_null(), None)
        for v, name in enumerate(field.names)
        if name in file.frame.columns
        and v not in field.cuts
        and all(isinstance(state, str) for state in field.states[v] if state is not None)
    }
    return replace(file, frame=file.frame.with_columns(**texts))


def _paths(out: str, draws: int) -> list[Path]:
    """The file, or one for each draw: table.csv, or table-1.csv, table-2.csv."""
    path = Path(out)
    if draws == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{at}{path.suffix}") for at in range(1, draws + 1)]
