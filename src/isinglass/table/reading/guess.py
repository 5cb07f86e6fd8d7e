"""How to read a text file that does not open as it is: encoding, separator, no header.

Each guess is made only where the usual way fails, or makes no table.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Mapping
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from isinglass.table.coding.labels import number_in
from isinglass.table.limits import most_bytes
from isinglass.table.reading.delimited import DELIMITERS, first_row
from isinglass.table.reading.opening import beginning, contents, ending
from isinglass.table.reading.read import read_file
from isinglass.table.reading.spreadsheets import SHEETS

#: Encodings to try, the first that can read the file is taken; the last one always can.
ENCODINGS = ("cp1252", "latin-1")


def guess_reading(path: str | PathLike[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `read_table` that a file needs beside those given."""
    path = Path(path)
    suffix = ending(path)
    if suffix in DELIMITERS:
        return _of_text(path, suffix, given)
    if suffix in SHEETS and "header" not in given:
        cells = read_file(path, sheet=given.get("sheet"), header=False).texts
        names = [] if cells is None else [cell or "" for cell in cells.row(0)]
        return {"header": False} if _are_data(names) else {}
    return {}


def _of_text(path: Path, suffix: str, given: Mapping[str, Any]) -> dict[str, Any]:
    start = beginning(path)
    guessed: dict[str, Any] = {}
    if "encoding" not in given and start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        guessed["encoding"] = "utf-16"
    encoding = {**given, **guessed}.get("encoding", "utf-8")
    names = first_row(start, suffix, given.get("sep"), encoding)
    if "sep" not in given and len(names) == 1 and "|" in names[0]:
        guessed["sep"] = "|"
        names = names[0].split("|")
    if "header" not in given and _are_data(names):
        guessed["header"] = False
    return guessed


def guess_encoding(path: str | PathLike[str], given: Mapping[str, Any]) -> str | None:
    """The encoding of a text file that is not in UTF-8; None if it is, or is no text."""
    if ending(Path(path)) not in DELIMITERS or "encoding" in given:
        return None
    data = contents(Path(path), most_bytes(given.get("max_bytes")))
    if _reads(data, "utf-8"):
        return None
    return next(each for each in ENCODINGS if _reads(data, each))


def _reads(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _are_data(names: list[str]) -> bool:
    """Whether the first row holds numbers, but no numbering of the columns.

    >>> _are_data(["0", "0", "1"]), _are_data(["1", "2", "3"]), _are_data(["age", "1"])
    (True, False, False)
    """
    numbers = [number_in(name) for name in names]
    if len(names) < 2 or any(map(math.isnan, numbers)):
        return False
    return {later - earlier for earlier, later in pairwise(numbers)} != {1.0}
