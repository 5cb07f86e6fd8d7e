"""Every error the package raises on purpose.

    IsinglassError
    ├── SettingError           an argument that makes no sense          (ValueError)
    │   └── BelowFloor         a threshold the search did not run to
    ├── TableError             a table that cannot be learned from      (ValueError)
    │   ├── MissingValues      gaps, and no word on what to do with them
    │   ├── TooManyStates      a measurement or an id, not a discrete column
    │   ├── DuplicateNames     two columns of one name
    │   ├── UnseenState        a state that fit never saw
    │   └── BadWeights         negative, missing, of the wrong length, or of unclear meaning
    ├── OutOfMemory            exact work beyond the memory allowed     (MemoryError)
    ├── FileError              a file that cannot be read or written    (OSError)
    └── MissingExtra           an optional library is not installed     (ImportError)

what Ctrl-C raises where part of the work is done,

    Stopped                    with that part as its `result`           (KeyboardInterrupt)

and warnings

    IsinglassWarning           base of all                              (UserWarning)
    ├── PoorMixing             draws that are far from independent
    ├── StoppedEarly           a fit that took all its steps
    └── DamagedRecords         lines of a file of records, ignored

A message says what was wrong, what is allowed, what came, and what to do next.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BadWeights",
    "BelowFloor",
    "DamagedRecords",
    "DuplicateNames",
    "FileError",
    "IsinglassError",
    "IsinglassWarning",
    "MissingExtra",
    "MissingValues",
    "OutOfMemory",
    "PoorMixing",
    "SettingError",
    "Stopped",
    "StoppedEarly",
    "TableError",
    "TooManyStates",
    "UnseenState",
]


class IsinglassError(Exception):
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
    """An argument that makes no sense."""


class BelowFloor(SettingError):
    """A threshold below the one the search ran to."""


class TableError(IsinglassError, ValueError):
    """A table that cannot be learned from."""


class MissingValues(TableError):
    """A table with gaps, and no word on what to do with them."""


class TooManyStates(TableError):
    """A column with more distinct values than a discrete column has."""


class DuplicateNames(TableError):
    """Two columns of one name."""


class UnseenState(TableError):
    """A state that fit never saw."""


class BadWeights(TableError):
    """Weights that are negative, missing, of the wrong length, or of unclear meaning."""


class OutOfMemory(IsinglassError, MemoryError):
    """Exact work that needs more memory than it may have."""


class FileError(IsinglassError, OSError):
    """A file that cannot be read or written."""


class MissingExtra(IsinglassError, ImportError):
    """An optional library is not installed."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C in the middle of long work; what is done so far is its `result`."""

    def __init__(self, result: Any) -> None:
        super().__init__("stopped")
        self.result = result


class IsinglassWarning(UserWarning):
    """Base of all warnings of isinglass."""


class PoorMixing(IsinglassWarning):
    """Chains disagree, or their draws are far from independent."""


class StoppedEarly(IsinglassWarning):
    """A fit took all the steps it may, and could still gain."""


class DamagedRecords(IsinglassWarning):
    """Lines of a file of records that hold none are ignored."""
