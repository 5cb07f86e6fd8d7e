"""Every error the package raises on purpose.

    IsinglassError
    ├── SettingError           an argument that makes no sense          (ValueError)
    │   ├── BelowFloor         a threshold the search did not run to
    │   └── NotFinite          NaN or infinite numbers in the columns of a regression
    ├── TableError             a table that cannot be learned from      (ValueError)
    │   ├── MissingValues      missing values, and no setting that says how to treat them
    │   ├── TooManyStates      a measurement or an id, not a discrete column
    │   ├── DuplicateNames     several columns of one name
    │   ├── SeveralProblems    more than one of these at once
    │   ├── UnseenState        a state that fit never saw
    │   ├── BadWeights         negative, missing, of the wrong length, or of unclear meaning
    │   └── BadClusters        missing labels, the wrong number of them, or all the same
    ├── OutOfMemory            exact work beyond the memory allowed     (MemoryError)
    ├── FileError              a file that cannot be read or written    (OSError)
    ├── ClusterError           workers that are not there, or were lost (RuntimeError)
    └── MissingExtra           an optional library is not installed     (ImportError)

what Ctrl-C raises where part of the work is done,

    Stopped                    with that part as its `result`           (KeyboardInterrupt)

and warnings

    IsinglassWarning           base of all                              (UserWarning)
    ├── PoorMixing             draws that are far from independent
    ├── StoppedEarly           a fit that took all steps allowed
    ├── ManyMissing            too many missing values for `missing="available"`
    └── DamagedRecords         lines of a file of records, ignored

A message says what was wrong, what is allowed, what came, and what to do next. It is made of parts,
so that the settings it names can be distinguished from other text: Python calls one
``missing="drop"``, the command line ``--missing drop``. What was wrong is also there as attributes
of the error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from isinglass.wording import shown


@dataclass(frozen=True)
class Setting:
    """A setting that a message names; with a value, if it says what to set it to.

    >>> str(Setting("missing", "drop")), str(Setting("nu"))
    ('missing="drop"', 'nu')
    """

    name: str
    value: Any = None

    def __str__(self) -> str:
        if self.value is None:
            return self.name
        if isinstance(self.value, str):
            return f'{self.name}="{self.value}"'
        value = f"{self.value:g}" if isinstance(self.value, float) else shown(self.value)
        return f"{self.name}={value}"


@dataclass(frozen=True)
class Wording:
    """Words that differ by where one reads them: in Python, on the command line, on a page.

    The page says what the command line says, unless it has words of its own.
    """

    python: str
    command_line: str
    page: str | None = None

    def __str__(self) -> str:
        return self.python


Part: TypeAlias = str | Setting | Wording


class _Message(Exception):
    """What errors and warnings share: a message of parts, and data."""

    message: tuple[Part, ...]

    def __init__(self, *message: Part, **data: Any) -> None:
        super().__init__("".join(map(str, message)))
        self.message = message
        self.__dict__.update(data)

    def worded(self, words: Callable[[Part], str] = str) -> str:
        """The message, each of its parts in the words of a function."""
        return "".join(map(words, self.message))

    def __str__(self) -> str:
        return self.worded()


class IsinglassError(_Message):
    """Base of all errors raised by isinglass on purpose.

    Examples
    --------
    >>> import isinglass as ig
    >>> try:
    ...     ig.GreedyGraph(nu=2).fit([[0, 1], [1, 0]])
    ... except ig.IsinglassError as error:
    ...     print(type(error).__name__)
    SettingError
    """


class SettingError(IsinglassError, ValueError):
    """An argument that makes no sense.

    Attributes
    ----------
    parameter : str or None
        Its name, where one parameter alone is wrong.
    allowed : object
        What it may be; its text goes on after "must be".
    got : object
        What came.
    """

    parameter: str | None = None
    allowed: Any = None
    got: Any = None


class BelowFloor(SettingError):
    """A threshold below the one the search ran to: `threshold` and `floor`."""

    threshold: float
    floor: float


class NotFinite(SettingError):
    """Columns of a regression with NaN or infinite numbers: `columns` are their positions."""

    columns: tuple[int, ...]


class TableError(IsinglassError, ValueError):
    """A table that cannot be learned from."""


class MissingValues(TableError):
    """A table with missing values, and no setting that says how to treat them.

    Attributes
    ----------
    columns : dict of str to int
        How many values are missing, of the columns where some are.
    complete_rows, rows : int
        Rows without a missing value, and all rows.
    """

    columns: Mapping[str, int]
    complete_rows: int
    rows: int


class TooManyStates(TableError):
    """Columns with more distinct values than a discrete column has.

    Attributes
    ----------
    columns : dict of str to int
        How many distinct values they have.
    most : int
        How many are allowed.
    """

    columns: Mapping[str, int]
    most: int


class SeveralProblems(TableError):
    """More than one reason not to learn from a table: `errors` are those of each."""

    errors: tuple[TableError, ...]


class DuplicateNames(TableError):
    """Several columns of one name: `columns` are the names that are not alone."""

    columns: tuple[str, ...]


class UnseenState(TableError):
    """A state that fit never saw: the `column` and the new `state`."""

    column: str
    state: Any


class BadWeights(TableError):
    """Weights that are negative, missing, of the wrong length, or of unclear meaning."""


class BadClusters(TableError):
    """Labels of clusters that are missing, too few or too many, or all the same."""


class OutOfMemory(IsinglassError, MemoryError):
    """Exact work that needs more memory than it may have: bytes `needed` and `allowed`."""

    needed: float
    allowed: float

    def __new__(cls, *args: Any, **details: Any) -> Self:
        """Like other errors: tblib, which Dask uses, calls it to make one from a pickle."""
        return Exception.__new__(cls, *args)


class FileError(IsinglassError, OSError):
    """A file that cannot be read or written."""


class ClusterError(IsinglassError, RuntimeError):
    """The workers of a cluster are not there, do not fit, or were lost."""


class MissingExtra(IsinglassError, ImportError):
    """An optional library is not installed."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C in the middle of long work; what is done so far is its `result`."""

    def __init__(self, result: Any) -> None:
        super().__init__("stopped")
        self.result = result


class IsinglassWarning(_Message, UserWarning):
    """Base of all warnings of isinglass."""


class PoorMixing(IsinglassWarning):
    """Chains disagree, or their draws are far from independent."""


class StoppedEarly(IsinglassWarning):
    """A fit took all the steps allowed, and could still improve."""


class ManyMissing(IsinglassWarning):
    """So many values are missing that some links will be false."""


class CoarseBins(IsinglassWarning):
    """A column of numbers is adjusted for by so few bins that some links will be false."""


class DamagedRecords(IsinglassWarning):
    """Lines of a file of records that hold none are ignored."""


def level_of_the_caller() -> int:
    """How far up the call came from outside the package, as `warnings.warn` counts."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("isinglass."):
        level, frame = level + 1, frame.f_back
    return level
