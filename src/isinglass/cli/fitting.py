"""From the options of a command to a table, and to a fitted estimator."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from isinglass.cli.options import READING, Values, take
from isinglass.cli.terminal import progress_bar, working
from isinglass.errors import MissingValues, SettingError, SeveralProblems, TooManyStates, Wording
from isinglass.estimators import GreedyGraph
from isinglass.selection import look_below
from isinglass.table import read_table
from isinglass.table.codebook import read_codebook
from isinglass.table.reading import LABELLED, ending
from isinglass.table.reading.codebooks import settings_of
from isinglass.table.settings import Group
from isinglass.wording import listing


def take_table(data: str, values: Values) -> Any:
    """Read a table by the options of a command, which are taken out; leave out what to --drop."""
    drop = values.pop("drop")
    groups = column_groups(values.get("codebook"))
    with working("reading the table"):
        table = read_table(data, **take(values, READING))
    _check_groups(groups, table.columns)
    unknown = [name for name in drop if name not in table.columns]
    if unknown:
        known = listing([repr(name) for name in table.columns], 8)
        raise SettingError(f"--drop: there is no column {unknown[0]!r}; the columns are {known}.")
    left: Any = table.drop(set(drop))
    if not left.columns:
        raise SettingError("--drop leaves no column; keep at least one.")
    return left


def column_labels(data: str, codebook: str | None) -> dict[str, str]:
    """What columns are about, by the file itself and by a codebook."""
    own = read_codebook(data).labels if ending(Path(data)) in LABELLED else {}
    return own | (read_codebook(codebook).labels if codebook else {})


def column_groups(codebook: str | None) -> dict[str, Group]:
    """Groups of columns, if the codebook is a settings file."""
    toml = codebook is not None and ending(Path(codebook)) == ".toml"
    return settings_of(codebook).groups if codebook is not None and toml else {}


def _check_groups(groups: Mapping[str, Group], columns: Sequence[str]) -> None:
    known = set(columns)
    for name, group in groups.items():
        unknown = [column for column in group.columns if column not in known]
        if unknown:
            there = listing([repr(column) for column in columns], 8)
            raise SettingError(
                f"group {name!r} names the column {unknown[0]!r}, which is not in the table; "
                f"the columns are {there}."
            )


def read_and_configure(
    data: str,
    *,
    threshold: str,
    require: Sequence[tuple[str, str]],
    forbid: Sequence[tuple[str, str]],
    forbid_group: Sequence[tuple[str, ...]],
    **values: Any,
) -> tuple[GreedyGraph, Any]:
    """An estimator that is still to be fitted, and the table to fit it to."""
    table = take_table(data, values)
    estimator = GreedyGraph(
        look_below(threshold),
        require=list(require) or None,
        forbid=[*forbid, *forbid_group] or None,
        **values,
    )
    return estimator, table


def fit_file(
    data: str,
    *,
    sample_weight: str | None,
    clusters: str | None,
    client: Any = None,
    **values: Any,
) -> GreedyGraph:
    """A graph learned from a file, with the settings of `SEARCH`."""
    estimator, table = read_and_configure(data, **values)
    with progress_bar("searching") as progress, pointing_to_inspect(data):
        about_rows = {"sample_weight": sample_weight, "clusters": clusters}
        return estimator.fit(table, **about_rows, progress=progress, client=client)


@contextmanager
def pointing_to_inspect(data: str) -> Iterator[None]:
    """Where a table is refused, say which command shows what is the matter."""
    try:
        yield
    except (MissingValues, TooManyStates, SeveralProblems) as error:
        look = shlex.join(["isinglass", "inspect", data])
        words = f" `{look}` shows every column, and a command that works."
        error.message = (*error.message, Wording(words, words, page=""))
        raise
