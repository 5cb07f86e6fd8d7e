"""Valid files made invalid in every way one can think of; some stay valid."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from isinglass.errors import FileError

STRANGERS = (
    None, True, False, 0, 1, -1, 2, 10**400, -(10**30), 0.5, 1e308, -1e308, 1e-320, float("nan"),
    float("inf"), "", "x", "nan", "\ud800", "\x00", "__import__('os').system('true')", [], [[]], {},
    [None], {"x": 1}, [0, 1], [1, 0], [[0.0]], {"date": "2020-01-01"}, {"date": "x"},
    {"__reduce__": ["os.system", "true"]}, "a" * 10_000, [0] * 1000,
)  # fmt: skip


def mutations(document: dict, seed: int, count: int) -> Iterator[bytes]:
    """So many damaged files, made of one document."""
    rng = random.Random(seed)
    text = json.dumps(document).encode()
    for _ in range(count):
        damage = rng.choice([damaged_bytes, _members, _members, _members])
        yield damage(rng, text)


def load_or_refuse(load: Callable[[Path], Any], path: Path, content: bytes) -> Any:
    """What a file holds, None if it is refused in one line; other errors come through."""
    path.write_bytes(content)
    try:
        return load(path)
    except FileError as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 500
    return None


def damaged_bytes(rng: random.Random, text: bytes) -> bytes:
    """One file with a few bytes changed, lost or added."""
    content = bytearray(text)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(len(content))
        kind = rng.randrange(5)
        if kind == 0:
            content[at] = rng.randrange(256)
        elif kind == 1:
            del content[at : at + rng.choice([1, 1, 10, 1000])]
        elif kind == 2:
            content[at:at] = rng.choice([b"[", b"{", b"9" * 5000, b"\xff", b"e999", b"-", b","])
        elif kind == 3:
            other = rng.randrange(len(content))
            content[at:at] = content[other : other + rng.randrange(1, 200)]
        else:
            del content[at:]
        if not content:
            break
    return bytes(content)


def _members(rng: random.Random, text: bytes) -> bytes:
    document = json.loads(text)
    for _ in range(rng.choice([1, 1, 2, 4])):
        places = list(_places(document))
        holder, key = rng.choice(places)
        kind = rng.randrange(5)
        if kind <= 1:
            holder[key] = copy.deepcopy(rng.choice(STRANGERS))
        elif kind == 2:
            del holder[key]
        elif kind == 3:
            other, place = rng.choice(places)
            holder[key] = copy.deepcopy(other[place])
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[rng.choice(["name", "x", "schema"])] = copy.deepcopy(holder[key])
        if not document:
            break
    return json.dumps(document).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = value if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
