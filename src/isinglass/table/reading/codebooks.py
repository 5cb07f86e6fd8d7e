"""From the name of a file to the codebook in it, whatever kind of file it is."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from isinglass.errors import FileError, Setting, SettingError
from isinglass.table.codebook.codebook import Codebook, codebook_in_csv
from isinglass.table.codebook.variable import Variable
from isinglass.table.limits import most_bytes
from isinglass.table.reading.opening import contents, ending
from isinglass.table.reading.r_files import R_FILES, codebook_in_r
from isinglass.table.reading.statistical import READERS, codebook_in
from isinglass.table.settings import Settings, read_settings
from isinglass.wording import quoted


def codebook_of(path: Path) -> Codebook:
    """The codebook in a file: a CSV, a settings file, or a table of SPSS, Stata, SAS or R."""
    suffix = ending(path)
    data = contents(path, most_bytes(None))
    if suffix in READERS:
        return codebook_in(path, data, suffix)
    if suffix in R_FILES:
        return codebook_in_r(path, data, most_bytes(None))
    if suffix == ".toml":
        return read_settings(path, data).codebook
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(f"{path} is not written in UTF-8; save the codebook again.") from None
    return codebook_in_csv(path, text)


def settings_of(path: str | PathLike[str]) -> Settings:
    """The settings in a file."""
    return read_settings(Path(path), contents(Path(path), most_bytes(None)))


def given_codebook(given: Any) -> Codebook:
    """A codebook from what a user gave: a path, a codebook, or a dict; None is an empty one."""
    if given is None or isinstance(given, Mapping):
        codebook = given or {}
        if all(isinstance(each, Variable) for each in codebook.values()):
            return Codebook(codebook)
    elif isinstance(given, str | PathLike):
        return codebook_of(Path(given))
    raise SettingError(
        *(Setting("codebook"), " must be the path of a codebook, or a dict of column name to "),
        f"Variable, got {quoted(given)}.",
    )


def with_more(codebook: Codebook, *, missing_codes: Any = None, order: Any = None) -> Codebook:
    """A codebook with more codes for missing values, and orders of states, by column."""
    codes = _lists("missing_codes", missing_codes)
    orders = _lists("order", order)
    codebook = codebook.updated({name: Variable(missing=some) for name, some in codes.items()})
    return codebook.updated(
        {name: Variable(order=tuple(map(str, states))) for name, states in orders.items()}
    )


def _lists(setting: str, given: Any) -> dict[str, tuple[Any, ...]]:
    lists = isinstance(given, Mapping) and all(isinstance(c, list | tuple) for c in given.values())
    if given is not None and not lists:
        raise SettingError(
            Setting(setting),
            f" must be a dict of column name to a list of codes or states, got {quoted(given)}.",
        )
    return {str(name): tuple(some) for name, some in (given or {}).items()}
