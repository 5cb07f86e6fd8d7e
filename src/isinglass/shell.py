"""Options of commands as a shell takes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def given(option: str, value: str) -> list[str]:
    """An option and its value, in one word if the value looks like an option itself.

    >>> given("--na", "?"), given("--na", "-")
    (['--na', '?'], ['--na=-'])
    """
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def file_word(path: str) -> str:
    """The name of a file that no command takes for an option."""
    return f"./{path}" if path.startswith("-") else path


def reading_words(reading: Mapping[str, Any]) -> Iterator[str]:
    r"""Options of `read_table` that differ from its defaults.

    >>> list(reading_words({"na": ["?"], "header": False, "sep": "\t"}))
    ['--na', '?', '--no-header', '--sep', 'tab']
    """
    words: Sequence[str] = reading.get("na") or ()
    for word in words:
        yield from given("--na", word)
    if reading.get("header") is False:
        yield "--no-header"
    for option in ("sep", "encoding", "sheet", "codebook"):
        value = reading.get(option)
        if value is not None:
            yield from given(f"--{option}", "tab" if value == "\t" else str(value))
    if reading.get("max_bytes") is not None:
        yield from ("--max-size", f"{reading['max_bytes']:g}")
