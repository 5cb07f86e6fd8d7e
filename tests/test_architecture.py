"""Imports point one way, and importing the package is light."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import isinglass

SOURCE = Path(isinglass.__file__).parent

# A room may import from rooms on lower levels only.
LEVELS = [
    {"errors", "wording"},
    {"parameters", "notebook", "core"},
    {"frames", "files"},
    {"graph", "table", "losses"},
    {"solvers"},
    {"engine"},
    {"selection"},
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


def imported(code: str, libraries: list[str]) -> list[str]:
    """Which of the libraries a fresh process has imported after some code."""
    code += f"\nimport sys; print([m for m in {libraries} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stderr)


HEAVY = ["matplotlib", "networkx", "polars", "rich", "click"]


def test_importing_is_light():
    assert imported("import isinglass", ["numpy", "scipy", "sklearn", *HEAVY]) == []
    names = "GreedyGraph, Graph, L1Graph, MarkovField, foba, losses, read_table"
    assert imported(f"from isinglass import {names}", HEAVY) == []


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_command_line_starts_without_heavy_libraries(option):
    code = f"""
from isinglass.cli import group
group(["{option}"], standalone_mode=False)
import isinglass.cli.failures"""
    assert imported(code, ["numpy", "scipy", "sklearn", "matplotlib", "networkx", "polars"]) == []


def test_commands_load_no_plotting_before_they_draw():
    code = """
from isinglass.cli import COMMANDS, group
for name in COMMANDS:
    group.get_command(None, name)"""
    assert imported(code, ["matplotlib"]) == []


def test_type_checkers_are_told_what_is_public():
    stub = ast.parse((SOURCE / "__init__.pyi").read_text())
    places = {}
    for node in stub.body:
        if isinstance(node, ast.ImportFrom):
            places |= {alias.asname: f"{node.module}.{alias.name}" for alias in node.names}
    assert sorted(places) == isinglass.__all__
    for name, place in places.items():
        module, _, attribute = place.rpartition(".")
        assert getattr(isinglass, name) is getattr(import_module(module), attribute)


def test_nothing_is_imported_by_star():
    assert not [path for path in MODULES if "import *" in path.read_text()]
