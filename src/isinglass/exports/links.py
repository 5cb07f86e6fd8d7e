"""Links as plain values, out and in: what every format shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from isinglass.errors import SettingError
from isinglass.graph import FLOATS, NUMBERS, WORDS, Graph, Link, sign_of
from isinglass.losses.forms import TABLE
from isinglass.table.coding.labels import is_missing, plain

Ends = tuple[str, str]


def plain_numbers(graph: Graph) -> list[tuple[Ends, dict[str, Any]]]:
    """The ends and the numbers of every edge as Python's own scalars, all finite."""
    return [
        (ends, {key: _finite(plain(getattr(link, key)), key, ends) for key in NUMBERS})
        for link, ends in zip(graph.links, graph.edges, strict=True)
    ]


def graph_of(
    names: Iterable[Any], edges: Iterable[tuple[Any, Any, Mapping[str, Any]]], library: str | None
) -> Graph:
    """A graph of edges from elsewhere; SettingError if they make none.

    Numbers are what the edge calls so; where there is no strength, its `size` is that of the
    weight, or one. The sign is what it calls so, or that of the weight.
    """
    ordered = tuple(map(str, names))
    position = {name: at for at, name in enumerate(ordered)}
    if len(position) < len(ordered):
        raise SettingError("two nodes have the same name; give each its own.")
    links: dict[tuple[int, int], Link] = {}
    for a, b, numbers in edges:
        pair = _pair(str(a), str(b), position)
        if pair in links:
            raise SettingError(f"{str(a)!r} and {str(b)!r} are linked twice; give each edge once.")
        links[pair] = _link(pair, (str(a), str(b)), numbers)
    return Graph(ordered, tuple(links[pair] for pair in sorted(links)), library)


def _pair(a: str, b: str, position: Mapping[str, int]) -> tuple[int, int]:
    for name in (a, b):
        if name not in position:
            raise SettingError(f"an edge ends at {name!r}, which is not a node.")
    if a == b:
        raise SettingError(f"{a!r} is linked to itself; a graph has no such edges.")
    return min(position[a], position[b]), max(position[a], position[b])


def _link(pair: tuple[int, int], ends: Ends, given: Mapping[str, Any]) -> Link:
    numbers = {key: _number(given.get(key), key, ends) for key in (*FLOATS, "weight", "sign")}
    weight, sign = numbers.pop("weight"), numbers.pop("sign")
    known: dict[str, Any] = numbers | {key: _words(given.get(key)) for key in WORDS}
    return Link(
        *pair,
        **known
        | {key: known[key] or "" for key in ("selected_by", "tier")}
        | {"form": known["form"] or TABLE},
        sign=sign_of(weight or 0.0) if sign is None else sign_of(sign),
        unbounded=bool(_number(given.get("unbounded"), "unbounded", ends)),
        size=(1.0 if weight is None else abs(weight)) if known["strength"] is None else 0.0,
    )


def _words(value: Any) -> str | None:
    value = plain(value)  # a reader may have taken "1" for a number
    if isinstance(value, str) or value is None or is_missing(value):
        return value if isinstance(value, str) else None
    return f"{value:g}" if isinstance(value, float) else str(value)


def _number(value: Any, key: str, ends: Ends) -> float | None:
    value = plain(value)
    if value is None or (key not in ("strength", "weight") and is_missing(value)):
        return None
    if not isinstance(value, int | float):
        raise SettingError(f"the {key} of {ends[0]!r} -- {ends[1]!r} is not a number: {value!r}.")
    return float(_finite(value, key, ends))


def _finite(value: Any, key: str, ends: Ends) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise SettingError(
            f"the {key} of {ends[0]!r} -- {ends[1]!r} is {value}; only finite numbers can be "
            "written or read."
        )
    return value
