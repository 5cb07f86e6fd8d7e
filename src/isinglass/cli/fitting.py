"""From the options of a command to a table, and to a fitted estimator."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from isinglass.cli.options import READING, Values, take
from isinglass.cli.terminal import progress_bar, working
from isinglass.errors import (
    MissingValues,
    Setting,
    SettingError,
    SeveralProblems,
    TooManyStates,
    Wording,
)
from isinglass.estimators import GreedyGraph
from isinglass.selection import look_below
from isinglass.table import DEFAULT_NA, Table, read_table
from isinglass.table.codebook import read_codebook
from isinglass.table.limits import most_bytes
from isinglass.table.packed.api import (
    in_memory,
    is_large,
    is_packed,
    open_packed,
    stream_table,
    text_size,
)
from isinglass.table.packed.stream import Encoding, Reading
from isinglass.table.reading import LABELLED, ending
from isinglass.table.reading.codebooks import settings_of
from isinglass.table.settings import Group
from isinglass.wording import listing


def take_table(
    data: str, values: Values, sample_weight: str | None = None, clusters: str | None = None
) -> Any:
    """Read a table by the options of a command, which are taken out; leave out what to --drop.

    A packed table is opened, and a file that is too large to be read at once is packed in memory,
    with weights from a column; both are encoded then.
    """
    drop = values.pop("drop")
    groups = column_groups(values.get("codebook"))
    if is_large(data, values["max_bytes"]):
        _read_at_once_if_asked(data, values, clusters)
    if is_packed(data) or is_large(data, values["max_bytes"]):
        reading = take(values, READING)
        encoded = (
            _open_packed(data, drop, reading)
            if is_packed(data)
            else _stream(data, drop, reading, values, sample_weight)
        )
        _check_groups(groups, encoded.names)
        return encoded
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


def _open_packed(data: str, drop: Sequence[str], reading: Values) -> Table:
    said = [option.name for option in READING if reading[option.name] != _usual(option)]
    if drop or said:
        raise SettingError(
            f"{data} is packed already: options for reading it and for its columns were fixed "
            "then; pack the file again with these options."
        )
    with working("opening the packed table"):
        return open_packed(data)


def _usual(option: Any) -> Any:
    """What an option is if it is not given."""
    return {"na": DEFAULT_NA, "header": True, "encoding": "utf-8"}.get(option.name)


def _stream(
    data: str, drop: Sequence[str], reading: Values, values: Values, sample_weight: str | None
) -> Table:
    """Read a large file in chunks; how it is encoded is among the options, and stays there."""
    how = {name: reading[name] for name in Reading.__dataclass_fields__ if name in reading}
    encode = {name: values[name] for name in Encoding.__dataclass_fields__ if name in values}
    encoding = Encoding(**encode | {"sample_weight": sample_weight})
    with progress_bar("reading rows", steady=True) as progress:
        table = stream_table(data, Reading(**how, drop=drop), encoding, progress=progress)
    return in_memory(table)


def _read_at_once_if_asked(data: str, values: Values, clusters: str | None) -> None:
    """Let a text of twice the usual size in, if an option needs its rows before they are encoded.

    Anything larger is refused.
    """
    missing = values.get("missing")
    asked = {
        Setting("adjust"): values.get("adjust"),
        Setting("n_eff"): values.get("n_eff", "sum") != "sum",
        Setting("clusters"): clusters is not None,
        Setting("missing", missing): missing in ("model", "available"),
    }
    needing = next((setting for setting, is_so in asked.items() if is_so), None)
    if needing is None:
        return
    if text_size(data) > 2 * most_bytes(None):
        raise SettingError(
            *(needing, f" needs the rows in memory, and {data} is so large that it is read in "),
            *("chunks; raise ", Setting("max_bytes"), " to read it at once."),
        )
    values["max_bytes"] = 2 * most_bytes(None)


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
    sample_weight: str | None = None,
    clusters: str | None = None,
    **values: Any,
) -> tuple[GreedyGraph, Any]:
    """An estimator that is still to be fitted, and the table to fit it to."""
    table = take_table(data, values, sample_weight, clusters)
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
    about: dict[str, Any] = {"sample_weight": sample_weight, "clusters": clusters}
    estimator, table = read_and_configure(data, **about, **values)
    with progress_bar("searching") as progress, pointing_to_inspect(data):
        return estimator.fit(table, **about, progress=progress, client=client)


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
