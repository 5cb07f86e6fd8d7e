"""Files of SPSS, Stata and SAS: their cells as codes, and their labels as a codebook."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isinglass.errors import FileError, MissingExtra
from isinglass.table.cells import check_names
from isinglass.table.codebook import Codebook, Variable
from isinglass.table.limits import check_size

if TYPE_CHECKING:
    import polars as pl

#: The function of pyreadstat for each ending.
READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
#: Bytes of a cell in memory.
_CELL = 8
_LEVELS = {"nominal": False, "ordinal": True, "scale": True}


def read_statistical(
    path: Path, data: bytes, suffix: str, max_bytes: int
) -> tuple[pl.DataFrame, Codebook]:
    """The codes in a file, and what they mean; FileError if it is damaged or too large."""
    about = _read(path, data, suffix, metadataonly=True)[1]
    check_size(path, _CELL * (about.number_rows or 0) * about.number_columns, max_bytes)
    frame, meta = _read(path, data, suffix)
    check_names(frame.columns)
    return frame.with_columns(_tidy(cells) for cells in frame), _codebook(meta)


def codebook_in(path: Path, data: bytes, suffix: str) -> Codebook:
    """What a file says of its columns."""
    return _codebook(_read(path, data, suffix, metadataonly=True)[1])


def _read(path: Path, data: bytes, suffix: str, **settings: Any) -> tuple[pl.DataFrame, Any]:
    try:
        import pyreadstat
    except ImportError as error:
        raise MissingExtra(
            f"{path}: files of SPSS, Stata and SAS need pyreadstat: pip install 'isinglass[files]'"
        ) from error
    read = getattr(pyreadstat, READERS[suffix])
    if READERS[suffix] == "read_sav":
        # Codes for "refused" and the like stay until the codebook is applied, which lists them.
        settings["user_missing"] = True
    try:
        found: tuple[Any, Any] = read(io.BytesIO(data), output_format="polars", **settings)
    except Exception as error:  # a damaged file can make it fail in many ways
        raise FileError(
            f"{path} is damaged, or not in the format that {suffix} stands for ({error}); save it "
            "again."
        ) from error
    return found


def _tidy(cells: pl.Series) -> pl.Series:
    """Whole numbers as such; empty text, and what is not a number, as missing."""
    import polars as pl

    if cells.dtype == pl.String:
        return cells.set(cells == "", None)
    if not cells.dtype.is_float():
        return cells
    cells = cells.fill_nan(None)
    whole = bool((cells.is_infinite() | (cells != cells.round())).any())
    small = (cells.abs().max() or 0) < 2**53  # type: ignore[operator]
    return cells if whole or not small else cells.cast(pl.Int64)


def _codebook(meta: Any) -> Codebook:
    labels, values = meta.column_names_to_labels, meta.variable_value_labels
    return Codebook(
        {
            name: Variable(
                (labels.get(name) or "").strip() or None,
                {_code(code): str(text) for code, text in values.get(name, {}).items()},
                _LEVELS.get(meta.variable_measure.get(name, "")),
                tuple(_missing(one) for one in meta.missing_ranges.get(name, ())),
            )
            for name in meta.column_names
        }
    )


def _code(code: Any) -> Any:
    return int(code) if isinstance(code, float) and code.is_integer() else code


def _missing(declared: Any) -> Any:
    """A code, or a range with an open end as infinity."""
    low, high = declared["lo"], declared["hi"]
    if low == high:
        return _code(low)
    return tuple(
        -math.inf if end < -1e300 else math.inf if end > 1e300 else float(end)
        for end in (low, high)
    )
