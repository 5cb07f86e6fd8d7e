"""Headers of the core include one way: from rooms below their own, never in a circle."""

import re
from pathlib import Path

import isinglass.core

CORE = Path(isinglass.core.__file__).parent

#: A room may include its own headers and those of rooms below it.
BELOW: dict[str, set[str]] = {
    "base": set(),
    "bits": {"base"},
    "counting": {"base", "bits"},
    "large": {"base", "bits"},
    "refit": {"base", "bits", "counting", "large"},
    "gains": {"base", "bits", "counting", "refit"},
    "screen": {"base", "bits", "counting", "gains"},
    "search": {"base", "bits", "counting", "refit", "gains", "screen"},
    "ends": {"base", "bits", "refit", "gains", "search"},
    "l1": {"base", "bits"},
    "joint": {"base"},
    "moments": {"base"},
    "sampling": {"base"},
    "text": {"base"},
}
HEADERS = {str(path.relative_to(CORE)): path for path in CORE.glob("*/*.hpp")}


def included(path: Path) -> list[str]:
    return re.findall(r'^#include "(.*)"$', path.read_text(), flags=re.M)


def test_every_header_is_in_a_room():
    assert {name.split("/")[0] for name in HEADERS} == set(BELOW)
    doors = {path.name for path in CORE.glob("*.[hc]pp")}
    sources = {"module.cpp", "models.cpp", "packing.cpp", "regression.cpp"}
    assert doors == sources | {"arrays.hpp", "watch.hpp"}


def test_headers_include_rooms_below():
    for name, path in HEADERS.items():
        room = name.split("/")[0]
        for other in included(path):
            assert other in HEADERS, f"{name} includes {other}, which is not there"
            assert other.split("/")[0] in BELOW[room] | {room}, f"{name} must not include {other}"


def test_no_header_includes_itself():
    done: set[str] = set()

    def visit(name: str, on_the_way: tuple[str, ...] = ()) -> None:
        assert name not in on_the_way, " -> ".join((*on_the_way, name))
        if name not in done:
            for other in included(HEADERS[name]):
                visit(other, (*on_the_way, name))
            done.add(name)

    for name in HEADERS:
        visit(name)
