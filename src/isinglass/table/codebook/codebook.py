"""A codebook, and its file: a CSV with one row per column of the table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isinglass.errors import FileError
from isinglass.parameters import checked
from isinglass.table.codebook.label import with_labels, with_nulls
from isinglass.table.codebook.variable import Variable, as_number, as_text, is_number, is_range
from isinglass.wording import listing, quoted

if TYPE_CHECKING:
    import polars as pl

HEADS = ("name", "label", "values", "order", "missing")
_RANGE = re.compile(r"\s*(\S+)\s+(?:to|thru)\s+(\S+)\s*", re.IGNORECASE)
_ORDERED = {"yes": True, "true": True, "ordinal": True, "ordered": True, "scale": True}
_UNORDERED = {"no": False, "false": False, "nominal": False, "unordered": False}


class Codebook(Mapping[str, Variable]):
    """What the columns of a table mean, by name.

    Parameters
    ----------
    variables : dict of str to Variable

    Examples
    --------
    >>> import polars as pl
    >>> from isinglass.table.codebook import Codebook, Variable
    >>> scale = Variable("How often?", {1: "never", 2: "often", 3: "always"}, missing=(9,))
    >>> table = Codebook({"q": scale}).apply(pl.DataFrame({"q": [1, 3, 9, 2]}))
    >>> table["q"].to_list()
    ['never', 'always', None, 'often']
    """

    def __init__(self, variables: Mapping[str, Variable] | None = None) -> None:
        self._variables = dict(variables or {})

    def __getitem__(self, name: str) -> Variable:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        return f"Codebook({listing(list(self), 8)})"

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the columns that have one."""
        return {name: each.label for name, each in self.items() if each.label}

    def updated(self, other: Mapping[str, Variable]) -> Codebook:
        """Return the codebook, replaced by another one where that one says something."""
        both = {
            name: self.get(name, Variable()).updated(variable) for name, variable in other.items()
        }
        return Codebook({**self, **both})

    def of_columns(self, names: Iterable[str]) -> Codebook:
        """The entries of some columns; the entry of "*" holds for each of them."""
        every = self.get("*", Variable())
        return Codebook({name: every.updated(self.get(name, Variable())) for name in names})

    def without_missing(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with null for codes of missing values, and otherwise unchanged."""
        known = [name for name in table.columns if self.get(name, Variable()).missing]
        return table.with_columns(with_nulls(table[name], self[name]) for name in known)

    def apply(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return a polars frame with labels for codes, and null for codes of missing values.

        Columns whose answers have an order become ``Enum``, others ``Categorical``.
        """
        return with_labels(table, self)

    def to_csv(self) -> str:
        """Return the codebook as the text of a file that `read_codebook` reads.

        >>> from isinglass.table.codebook import Codebook, Variable
        >>> print(Codebook({"q": Variable("How often?", {1: "never", 2: "often"})}).to_csv())
        name,label,values,order,missing
        q,How often?,1=never; 2=often,,
        <BLANKLINE>
        """
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(HEADS)
        writer.writerows(_cells(name, each) for name, each in self.items())
        return text.getvalue()


def _cells(name: str, variable: Variable) -> list[str]:
    values = [f"{as_text(code)}={label}" for code, label in variable.values.items()]
    missing = [
        f"{as_text(one[0])} to {as_text(one[1])}" if is_range(one) else as_text(one)
        for one in map(_whole_range, variable.missing)
    ]
    order = variable.order
    said = "" if order is None else ("ordinal" if order else "nominal")
    return [
        *(name, variable.label or "", _joined(values)),
        *(_joined(list(order)) if isinstance(order, tuple) else said, _joined(missing)),
    ]


def _whole_range(one: Any) -> Any:
    return tuple(map(float, one)) if is_range(one) else one


def _joined(parts: list[str]) -> str:
    """Parts in one cell, separated by something that is in none of them."""
    separator = next((each for each in [";", "|", "\n"] if each not in "".join(parts)), "\n")
    space = "" if separator == "\n" else " "
    return f"{separator}{space}".join(parts)


def split_cell(cell: str) -> list[str]:
    """The parts of a cell: lines, or what is between bars, or between semicolons.

    >>> split_cell("1=never; 2=often"), split_cell("a | b; c"), split_cell("")
    (['1=never', '2=often'], ['a', 'b; c'], [])
    """
    separator = next((each for each in "\n|" if each in cell), ";")
    return [part.strip() for part in cell.split(separator) if part.strip()]


@checked
def read_codebook(path: str | PathLike[str]) -> Codebook:
    r"""Read what the columns of a table mean: from a codebook, or from the table's own file.

    Parameters
    ----------
    path : str or path
        A CSV file with the headings ``name``, ``label``, ``values`` (as ``1=never; 2=often``),
        ``order`` (the states from low to high, or ``ordinal`` or ``nominal``) and ``missing`` (as
        ``98; 99; refused`` or ``97 to 99``), all of which are optional except the first; or a
        settings file (.toml); or a file of SPSS, Stata or SAS.

    Returns
    -------
    Codebook

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "codebook.csv")
    ...     _ = path.write_text("name,label,values\nq1,How often?,1=never; 2=often\n")
    ...     read_codebook(path)["q1"].values
    {1: 'never', 2: 'often'}
    """
    from isinglass.table.reading.codebooks import codebook_of

    return codebook_of(Path(path))


def codebook_in_csv(path: Path, text: str) -> Codebook:
    """The codebook in the text of a CSV file; FileError if it is none."""
    first = text.partition("\n")[0]
    delimiter = "," if "," in first or ";" not in first else ";"
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise FileError(f"{path} cannot be read as a codebook: {error}.") from None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    heads = [cell.strip().casefold() for cell in rows[0]] if rows else []
    odd = [head for head in heads if head not in HEADS]
    if "name" not in heads or odd:
        came = listing([quoted(head) for head in heads], 8) or "nothing"
        raise FileError(
            f"{path} is not a codebook: its first line must have the headings {', '.join(HEADS)} "
            f"(all but name may be absent), and has {came}."
        )
    variables = {}
    for number, row in enumerate(rows[1:], start=2):
        cells = dict(zip(heads, row, strict=False))
        name = cells.get("name", "").strip()
        if not name or name in variables:
            what = f"names {name!r} again" if name else "has no name"
            raise FileError(f"{path}, row {number}: {what}; each row is about one column.")
        variables[name] = _variable(path, number, cells)
    return Codebook(variables)


def _variable(path: Path, row: int, cells: Mapping[str, str]) -> Variable:
    values = {}
    for part in split_cell(cells.get("values", "")):
        code, equals, label = part.partition("=")
        if not equals or not label.strip():
            raise FileError(
                f"{path}, row {row}: values are written as 1=never; 2=often, not {quoted(part)}."
            )
        values[as_code(code.strip())] = label.strip()
    return Variable(
        cells.get("label", "").strip() or None,
        values,
        read_order(cells.get("order", "")),
        tuple(map(missing_code, split_cell(cells.get("missing", "")))),
    )


def read_order(cell: str) -> tuple[str, ...] | bool | None:
    """What a cell says of the order of states.

    >>> read_order("low < middle < high"), read_order("nominal"), read_order("")
    (('low', 'middle', 'high'), False, None)
    """
    word = cell.strip().casefold()
    if not word:
        return None
    known = (_ORDERED | _UNORDERED).get(word)
    if known is not None:
        return known
    if "<" in cell:
        return tuple(part.strip() for part in cell.split("<") if part.strip())
    return tuple(split_cell(cell))


def as_code(text: str) -> Any:
    """A code as it is written: a number if it is one.

    >>> as_code("1"), as_code("2.5"), as_code("01"), as_code("m")
    (1, 2.5, '01', 'm')
    """
    number = as_number(text)
    if not is_number(text) or as_text(number) != text:
        return text
    return int(number) if number.is_integer() else number


def missing_code(text: str) -> Any:
    """A code for a missing value, or a range of them.

    >>> missing_code("99"), missing_code("97 to 99"), missing_code("refused")
    (99, (97.0, 99.0), 'refused')
    """
    found = _RANGE.fullmatch(text)
    if found:
        low, high = map(as_number, found.groups())
        if low <= high:
            return low, high
    return as_code(text)
