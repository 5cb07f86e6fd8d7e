"""What stands in the place of rows that are not in memory: whoever needs them is told."""

from __future__ import annotations

from typing import Any, NoReturn

from isinglass.errors import TableError


class AbsentRows:
    """Codes or weights of a table whose rows are elsewhere; any use is refused in one sentence.

    >>> AbsentRows()[0]
    Traceback (most recent call last):
    ...
    isinglass.errors.TableError: this needs the rows one by one, ...
    """

    def _refuse(self, *_: Any) -> NoReturn:
        raise TableError(
            "this needs the rows one by one, and those of a table that is counted chunk by chunk "
            "are not in memory; read a random part of its rows as a separate table."
        )

    __array__ = __len__ = __iter__ = __getitem__ = __eq__ = __ne__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __matmul__ = __mul__ = __truediv__ = _refuse
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copying and pickling look for
            raise AttributeError(name)
        self._refuse()
