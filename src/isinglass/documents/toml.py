"""Plain values as TOML; Python itself only reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def section(name: str, pairs: Mapping[str, Any]) -> list[str]:
    """A section as lines, with an empty one after it; none if nothing is in it.

    >>> section("fit", {"missing": "drop"})
    ['[fit]', 'missing = "drop"', '']
    """
    lines = [f"{key_text(key)} = {value_text(one)}" for key, one in pairs.items()]
    return [f"[{name}]", *lines, ""] if lines else []


def key_text(name: str) -> str:
    """A name as it stands before the equals sign.

    >>> key_text("age"), key_text("age in years")
    ('age', '"age in years"')
    """
    bare = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return name if bare else value_text(name)


def value_text(value: Any) -> str:
    """A value as TOML writes it.

    >>> value_text({"a": [1, "two", True]})
    '{ a = [1, "two", true] }'
    """
    if isinstance(value, Mapping):
        pairs = (f"{key_text(str(key))} = {value_text(one)}" for key, one in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(value_text, value)) + "]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007F")
