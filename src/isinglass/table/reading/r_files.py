"""Data frames of R: their cells as codes, and factors and labels as a codebook.

rdata reads the files: it is maintained, written in Python, and under the MIT licence. pyreadr would
be faster, but is under the AGPL, which we cannot ask of everybody who reads a file with isinglass.
Nothing in a file is run: functions and promises stay data.
"""

from __future__ import annotations

import bz2
import lzma
import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass.errors import FileError, MissingExtra, Setting, SettingError
from isinglass.table.cells import check_names
from isinglass.table.codebook import Codebook, Variable
from isinglass.table.limits import check_size
from isinglass.wording import listing

if TYPE_CHECKING:
    import polars as pl

R_FILES = (".rds", ".rda", ".rdata")
#: How a packed file begins, and what unpacks it; gzip is unpacked for all formats alike.
_PACKED: dict[bytes, Callable[[], Any]] = {
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
}


def read_r(
    path: Path, data: bytes, name: str | None, max_bytes: int
) -> tuple[pl.DataFrame, Codebook]:
    """A data frame of a file, by default the first, and what its codes mean."""
    import polars as pl

    columns = _columns(_frame(path, data, name, max_bytes))
    check_names(list(columns))
    try:
        frame = pl.DataFrame({column: _cells(values) for column, (values, _) in columns.items()})
    except Exception as error:  # lists and matrices as columns
        raise FileError(
            f"{path}: a column of the data frame is itself a list or a matrix; keep one value per "
            "cell."
        ) from error
    dates = [
        _dated(pl.col(column), said["class"])
        for column, (_, said) in columns.items()
        if {"Date", "POSIXct"} & set(said.get("class", ()))
    ]
    return frame.with_columns(dates), _codebook(columns)


def codebook_in_r(path: Path, data: bytes, max_bytes: int) -> Codebook:
    """What a file says of its columns."""
    return _codebook(_columns(_frame(path, data, None, max_bytes)))


def _frame(path: Path, data: bytes, name: str | None, max_bytes: int) -> Any:
    """The object of rdata that is the data frame."""
    try:
        from rdata.conversion import convert_list
        from rdata.parser import RObjectType, parse_data
    except ImportError as error:
        raise MissingExtra(f"{path}: R files need rdata: pip install 'isinglass[r]'") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about endings that do not fit
            whole = parse_data(_unpacked(path, data, max_bytes)).object
        named: Mapping[str, Any] = {"": whole}
        if whole.info.type == RObjectType.LIST:
            named = dict(convert_list(whole, _symbol_or_object))
        frames = {key: each for key, each in named.items() if "data.frame" in _classes(each)}
    except FileError:
        raise
    except Exception as error:  # a damaged file can make it fail in many ways
        raise FileError(
            f"{path} is damaged, or not an R file ({type(error).__name__}); save it again with "
            "saveRDS."
        ) from error
    if not frames:
        raise FileError(
            f"{path} holds no data frame; save one with saveRDS(as.data.frame(x), ...)."
        )
    if name is not None and name not in frames:
        raise SettingError(
            *(Setting("sheet"), f" names {name!r}, but {path} has the data frames "),
            f"{listing([repr(key) for key in frames], 8)}.",
        )
    return frames[name] if name is not None else next(iter(frames.values()))


def _unpacked(path: Path, data: bytes, max_bytes: int) -> bytes:
    for start, unpacker in _PACKED.items():
        if data.startswith(start):
            content: bytes = unpacker().decompress(data, max_bytes + 1)
            check_size(path, len(content), max_bytes)
            return content
    return data


def _symbol_or_object(each: Any) -> Any:
    """Names as text, the rest of a list as such, objects as they are."""
    from rdata.conversion import convert_list
    from rdata.parser import RObjectType

    if each.info.type in (RObjectType.SYM, RObjectType.CHAR, RObjectType.REF):
        return _plain(each)
    if each.info.type == RObjectType.NILVALUE:
        return None
    if each.info.type == RObjectType.LIST:
        return convert_list(each, _symbol_or_object)
    return each


def _plain(each: Any) -> Any:
    """An object in Python, whatever its class."""
    from rdata.conversion import convert

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about classes, which are looked at here
        return convert(each, constructor_dict={})


def _about(each: Any) -> dict[str, Any]:
    """The attributes of an object."""
    return {} if each.attributes is None else dict(_plain(each.attributes))


def _classes(each: Any) -> tuple[str, ...]:
    return tuple(map(str, _about(each).get("class", ())))


def _columns(frame: Any) -> dict[str, tuple[Any, dict[str, Any]]]:
    """By name: the values of a column, and its attributes."""
    names = [str(name) for name in _about(frame).get("names", ())]
    columns = {}
    for name, each in zip(names, frame.value, strict=True):
        about = _about(each)
        if "labels" in about:
            about["names of labels"] = [str(text) for text in _labels_of(each).get("names", ())]
        each.attributes = None  # its values are wanted as they are
        columns[name] = _plain(each), about
    if len(columns) < len(names):
        check_names(names)
    return columns


def _labels_of(each: Any) -> dict[str, Any]:
    """The attributes of the value labels of a column, which hold their texts."""
    from rdata.conversion import convert_list

    held = convert_list(each.attributes, _symbol_or_object)
    return _about(held["labels"]) if isinstance(held, dict) else {}


def _cells(values: Any) -> pl.Series:
    """Values in polars; what R calls NA is null."""
    import polars as pl

    gone = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
    cells = pl.Series(np.asarray(values), nan_to_null=True, strict=False)
    if cells.dtype == pl.Object:
        cells = pl.Series([None if one is None else str(one) for one in values], dtype=pl.String)
    if cells.dtype.is_float() and bool((cells.drop_nulls() % 1 == 0).all()):
        cells = cells.cast(pl.Int64)
    return cells if gone is None else cells.set(pl.Series(gone), None)


def _dated(cells: pl.Expr, classes: tuple[str, ...]) -> pl.Expr:
    import polars as pl

    if "Date" in classes:
        return cells.cast(pl.Int32).cast(pl.Date)
    return (cells * 1e6).cast(pl.Int64).cast(pl.Datetime("us"))


def _codebook(columns: Mapping[str, tuple[Any, dict[str, Any]]]) -> Codebook:
    return Codebook({name: _variable(said) for name, (_, said) in columns.items()})


def _variable(said: Mapping[str, Any]) -> Variable:
    label = "".join(map(str, said.get("label", ()))).strip() or None
    classes = tuple(map(str, said.get("class", ())))
    if "factor" in classes:
        levels = enumerate(map(str, said.get("levels", ())), start=1)
        return Variable(label, dict(levels), "ordered" in classes)
    texts = said.get("names of labels", ())
    codes = [_code(code) for code in np.asarray(said.get("labels", ())).tolist()]
    missing = [_code(code) for code in said.get("na_values", ())]
    ends = [float(end) for end in said.get("na_range", ())]
    return Variable(
        label,
        dict(zip(codes, texts, strict=False)),
        None,
        (*missing, *([tuple(ends)] if len(ends) == 2 else [])),
    )


def _code(code: Any) -> Any:
    code = code.item() if isinstance(code, np.generic) else code
    whole = isinstance(code, float) and math.isfinite(code) and code.is_integer()
    return int(code) if whole else code
