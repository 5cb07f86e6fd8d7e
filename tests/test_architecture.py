"""Imports point one way, and importing the package is light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import isinglass

SOURCE = Path(isinglass.__file__).parent

# A room may import from rooms on lower levels only.
LEVELS = [
    {"errors"},
    {"parameters", "notebook", "core"},
    {"frames", "files"},
    {"graph", "table", "losses"},
    {"solvers"},
    {"engine"},
    {"selection", "repeating"},
    {"documents"},
    {"record"},
    {"model"},
    {"estimators", "simulate", "exports"},
    {"rivals", "measures"},
    {"experiments"},
    {"uncertainty"},
    {"report"},
    {"plots"},
    {"cli"},
]
LEVEL = {room: height for height, rooms in enumerate(LEVELS) for room in rooms}
MODULES = sorted(
    path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem != "__init__"
)


def room(module: str) -> str:
    return module.split(".")[1]


def imported_rooms(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {room(name) for name in names if name.startswith("isinglass.")}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for other in imported_rooms(path) - {own}:
        assert LEVEL[other] < LEVEL[own], f"{own} must not import {other}"


def test_every_room_has_its_place():
    rooms = {
        path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.name != "__init__.py"
    }
    assert {room for room in rooms if not room.startswith(("_", "py.typed"))} <= set(LEVEL)


def test_importing_is_light():
    heavy = ["matplotlib", "networkx", "polars", "rich", "click"]
    code = f"import isinglass, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_is_imported_by_star():
    assert not [path for path in MODULES if "import *" in path.read_text()]
