"""JSON from strangers: read without running or trusting anything, one clear error if it is wrong.

A file says what it holds in full, so that it never takes more memory than its own size asks for.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import FileError, IsinglassError
from isinglass.table.coding.labels import plain

T = TypeVar("T")
Pair = tuple[int, int]

#: A larger file is refused unread.
MOST_BYTES = 2**30
#: No number in a file is larger: sums of them stay finite.
LARGEST = 1e100
#: No positive number in a file is smaller: what is divided by it stays finite.
LEAST = 1e-100


class Fault(ValueError):
    """What is wrong with a document, as the end of a sentence."""


def as_bytes(document: Any) -> bytes:
    """A document of plain values as JSON, floats with all their digits, in lines for people."""
    return (_laid_out(document, 3) + "\n").encode()


def _laid_out(value: Any, levels: int) -> str:
    r"""JSON with line breaks in the outer levels.

    >>> print(_laid_out({"a": [[1, 2], [3]], "b": {}}, 2))
    {
    "a": [
    [1, 2],
    [3]
    ],
    "b": {}
    }
    """
    if not levels or not value or not isinstance(value, dict | list):
        return json.dumps(value, allow_nan=False)
    if isinstance(value, list):
        return "[\n" + ",\n".join(_laid_out(part, levels - 1) for part in value) + "\n]"
    parts = (f"{json.dumps(key)}: {_laid_out(part, levels - 1)}" for key, part in value.items())
    return "{\n" + ",\n".join(parts) + "\n}"


def to_plain(value: Any) -> Any:
    """Dataclasses, named tuples, arrays and what holds them, as JSON has them.

    Of a mapping by pairs, a list of triples is made.

    >>> to_plain({"sizes": np.array([1, 2]), "shares": {(0, 1): np.float64(0.5)}})
    {'sizes': [1, 2], 'shares': [[0, 1, 0.5]]}
    """
    if type(value) in (int, float, str):  # most of them
        return value
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        if any(isinstance(key, tuple) for key in value):
            return [[*map(plain, pair), to_plain(part)] for pair, part in value.items()]
        return {key: to_plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(map(to_plain, value)) if isinstance(value, list | tuple) else plain(value)


def read_document(path: str | os.PathLike[str], understand: Callable[[Any], T]) -> T:
    """Read JSON and make something of it; whatever is wrong with it is one FileError."""
    return read_bytes(path, lambda content: understand(_parsed(content)))


def read_bytes(path: str | os.PathLike[str], understand: Callable[[bytes], T]) -> T:
    """Read a file and make something of it; whatever is wrong with it is one FileError."""
    name = os.fspath(path)
    try:
        return understand(_content(Path(path)))
    except OSError as error:
        if isinstance(error, IsinglassError):
            raise
        raise FileError(f"cannot read {name!r}: {error.strerror or error}.") from None
    except (Fault, IsinglassError) as error:
        raise FileError(f"{name!r} cannot be loaded: {str(error).rstrip('.')}.") from None


def _content(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise Fault(f"it has {size:,} bytes; at most {MOST_BYTES:,} are allowed")
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise Fault("it is a device or a pipe, not a file")
    return path.read_bytes()


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(
            content.decode("utf-8-sig"), parse_constant=_no_number, parse_float=_finite
        )
    except Fault:
        raise
    except RecursionError:
        raise Fault("it is nested too deeply") from None
    except ValueError as error:  # no JSON, no UTF-8, a whole number of thousands of digits
        where = f" (see line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise Fault(f"it is not JSON{where}") from None


def _no_number(text: str) -> float:
    raise Fault(f"it holds {text}, but numbers must be finite")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text[:30])


@dataclass(slots=True)
class Entry:
    """A value in a document, and what an error calls it; the whole document has no name.

    Every method returns what it is named after, or raises Fault.

    >>> Entry({"rows": [1, "x"]})["rows"].numbers()
    Traceback (most recent call last):
        ...
    isinglass.documents.document.Fault: rows must be a number up to 1e+100, not 'x'
    """

    value: Any
    name: str = ""

    def fault(self, what: str) -> Fault:
        """Say what is wrong, as the end of a sentence about this entry."""
        return Fault(f"{self.name or 'it'} {what}")

    def members(self) -> dict[str, Any]:
        """An object."""
        if not isinstance(self.value, dict):
            raise self.fault(f"must be an object, not {shown(self.value)}")
        return self.value

    def get(self, key: str) -> Entry:
        """A member of an object; null if there is none."""
        return Entry(self.members().get(key), f"the {key} of {self.name}" if self.name else key)

    def __getitem__(self, key: str) -> Entry:
        """A member that must be there."""
        if key not in self.members():
            raise self.fault(f"has no {key!r}")
        return self.get(key)

    def optional(self, read: Callable[[Entry], T]) -> T | None:
        """Read a value that is allowed to be null."""
        return None if self.value is None else read(self)

    def items(self, length: int | None = None) -> list[Any]:
        """A list, of some length if that is known."""
        if not isinstance(self.value, list):
            raise self.fault(f"must be a list, not {shown(self.value)}")
        if length is not None and len(self.value) != length:
            raise self.fault(f"has {len(self.value)} members, but must have {length}")
        return self.value

    def entries(self, name: str, length: int | None = None) -> list[Entry]:
        """A list of entries, whose name may have a place for their number."""
        named = name.format if "{}" in name else lambda at: name
        return [Entry(value, named(at)) for at, value in enumerate(self.items(length))]

    def text(self) -> str:
        """A string that can be written to any file."""
        if not isinstance(self.value, str):
            raise self.fault(f"must be text, not {shown(self.value)}")
        try:
            self.value.encode()
        except UnicodeEncodeError:
            raise self.fault("holds half a character (a lone surrogate)") from None
        return self.value

    def whole(self, below: int) -> int:
        """A whole number from 0 up."""
        if type(self.value) is not int or not 0 <= self.value < below:
            raise self.fault(
                f"must be a whole number from 0 to {below - 1}, not {shown(self.value)}"
            )
        return self.value

    def number(self, least: float = -LARGEST) -> float:
        """A finite number; true and false are not numbers."""
        if type(self.value) not in (int, float) or not -LARGEST <= self.value <= LARGEST:
            raise self.fault(f"must be a number up to {LARGEST:g}, not {shown(self.value)}")
        if self.value < least:
            raise self.fault("must not be negative")
        return float(self.value)

    def positive(self) -> float:
        """A number by which others may be divided."""
        if not self.number() > LEAST:
            raise self.fault("must be positive")
        return float(self.value)

    def numbers(self, length: int | None = None, least: float = -LARGEST) -> list[float]:
        """A list of finite numbers."""
        values = self.items(length)
        for value in values:
            if type(value) not in (int, float) or not least <= value <= LARGEST:
                Entry(value, self.name).number(least)  # which says what is wrong
        return list(map(float, values))

    def increasing(self, numbers: list[Any]) -> tuple[Any, ...]:
        """The numbers of this entry, if each is larger than the one before."""
        if numbers != sorted(set(numbers)):
            raise self.fault("must be increasing")
        return tuple(numbers)

    def table(self, rows: int, columns: int, least: float = -LARGEST) -> NDArray[np.float64]:
        """A list of rows of numbers."""
        each = [row.numbers(columns, least) for row in self.entries(self.name, rows)]
        return np.array(each, dtype=np.float64)

    def choice(self, *allowed: T) -> T:
        """One of a few values."""
        for known in allowed:
            if type(self.value) is type(known) and self.value == known:
                return known
        raise self.fault(f"must be one of {allowed}, not {shown(self.value)}")

    def flag(self) -> bool:
        """Either true or false."""
        return self.choice(False, True)

    def pair(self, p: int) -> tuple[int, int]:
        """Two of p columns."""
        i, j = (end.whole(p) for end in self.entries(f"a column of {self.name}", 2))
        return i, j

    def by_pair(self, entries: Iterable[tuple[Pair, T]]) -> dict[Pair, T]:
        """What this entry says of pairs of columns."""
        found: dict[Pair, T] = {}
        for pair, said in entries:
            if pair[0] >= pair[1] or pair in found:
                raise Fault(f"every pair of {self.name} must be in column order, and be there once")
            found[pair] = said
        return found


def shown(value: Any) -> str:
    """A value in a few words.

    >>> shown([1, 2]), shown("a" * 90), shown(3)
    ('a list', "'aaaaaaaaaaaaaaaaaaaa...'", '3')
    """
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, str) and len(value) > 20:
        return ascii(value[:20] + "...")
    if isinstance(value, int) and abs(value) > 10**20:
        return "a number of many digits"
    return "nothing" if value is None else ascii(value)
