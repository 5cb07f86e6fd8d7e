"""JSON from strangers: read without running or trusting anything, one clear error if it is wrong.

A file says what it holds in full, so that it never takes more memory than its own size asks for.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from isinglass.errors import FileError, IsinglassError

T = TypeVar("T")

#: A larger file is refused unread.
MOST_BYTES = 2**30
#: No number in a file is larger: sums of them stay finite.
LARGEST = 1e100


class Fault(ValueError):
    """What is wrong with a document, as the end of a sentence."""


def as_bytes(document: Any) -> bytes:
    """A document as JSON, floats with all their digits; plain values only, all finite.

    A column, a coupling or a path has a line of its own, so that people can read it too.
    """
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


def member(value: Any, key: str, where: str) -> Any:
    """One member of an object."""
    if not isinstance(value, dict):
        raise Fault(f"{where} must be an object, not {shown(value)}")
    if key not in value:
        raise Fault(f"{where} has no {key!r}")
    return value[key]


def items(value: Any, where: str, length: int | None = None) -> list[Any]:
    """A list, of some length if that is known."""
    if not isinstance(value, list):
        raise Fault(f"{where} must be a list, not {shown(value)}")
    if length is not None and len(value) != length:
        raise Fault(f"{where} has {len(value)} members, but must have {length}")
    return value


def text(value: Any, where: str) -> str:
    """A string that can be written to any file."""
    if not isinstance(value, str):
        raise Fault(f"{where} must be text, not {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Fault(f"{where} holds half a character (a lone surrogate)") from None
    return value


def whole(value: Any, where: str, below: int) -> int:
    """A whole number from 0 up."""
    if type(value) is not int or not 0 <= value < below:
        raise Fault(f"{where} must be a whole number from 0 to {below - 1}, not {shown(value)}")
    return value


def number(value: Any, where: str) -> float:
    """A finite number; true and false are not numbers."""
    if type(value) not in (int, float) or not -LARGEST <= value <= LARGEST:
        raise Fault(f"{where} must be a number up to {LARGEST:g}, not {shown(value)}")
    return float(value)


def numbers(value: Any, where: str, length: int | None = None) -> list[float]:
    """A list of finite numbers."""
    return [number(member, where) for member in items(value, where, length)]


def table(value: Any, where: str, rows: int, columns: int | None = None) -> list[list[float]]:
    """A list of rows of numbers, all of one length."""
    members = items(value, where, rows)
    if columns is None and members:
        columns = len(items(members[0], where))
    return [numbers(row, where, columns) for row in members]


def choice(value: Any, where: str, allowed: Sequence[T]) -> T:
    """One of a few values."""
    for known in allowed:
        if type(value) is type(known) and value == known:
            return known
    raise Fault(f"{where} must be one of {allowed}, not {shown(value)}")


def or_none(read: Callable[[Any, str], T], value: Any, where: str) -> T | None:
    """Read a value that is allowed to be null."""
    return None if value is None else read(value, where)


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


def not_negative(value: Any, where: str) -> float:
    """A finite number from 0 up."""
    size = number(value, where)
    if size < 0:
        raise Fault(f"{where} must not be negative")
    return size


def by_pair(
    value: Any, where: str, p: int, read: Callable[[Any], tuple[Any, T]]
) -> dict[tuple[int, int], T]:
    """A list with one member for some pairs of p columns; `read` parts a pair from what is said."""
    found: dict[tuple[int, int], T] = {}
    for entry in items(value, where):
        ends, said = read(entry)
        i, j = (whole(end, f"a column of {where}", p) for end in items(ends, where, 2))
        if i >= j or (i, j) in found:
            raise Fault(f"every pair of {where} must be in column order, and be there once")
        found[i, j] = said
    return found
