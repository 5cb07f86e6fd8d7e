"""Imports point one way, rooms keep their own, and importing the package is light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import isinglass

SOURCE = Path(isinglass.__file__).parent
TESTS = Path(__file__).parent

# A room may import from rooms on lower levels only.
LEVELS = [
    {"wording", "shell"},
    {"errors"},
    {"parameters", "notebook", "core"},
    {"frames", "files"},
    {"graph", "table", "losses"},
    {"solvers"},
    {"engine"},
    {"cluster"},
    {"selection", "repeating"},
    {"documents"},
    {"record"},
    {"model"},
    {"estimators", "simulate", "exports"},
    {"rivals", "measures", "inspection"},
    {"experiments"},
    {"uncertainty"},
    {"report", "theorem"},
    {"plots"},
    {"desk"},
    {"cli"},
]
LEVEL = {room: height for height, rooms in enumerate(LEVELS) for room in rooms}
MODULES = sorted(
    path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem != "__init__"
)
MOST_FILES = 12

#: Underscores that belong to everybody: those of named tuples, os._exit, sys._getframe.
COMMON = {"_asdict", "_exit", "_fields", "_getframe", "_replace"}
#: The compiled module, whose name is private because only core/ may import it.
COMPILED = "_core"

by_file = pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix()
)


def own_room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {name.split(".")[1] for name in names if name.startswith("isinglass.")}


@by_file
def test_imports_point_one_way(path):
    own = own_room(path)
    for other in imported_rooms(path) - {own}:
        assert LEVEL[other] < LEVEL[own], f"{own} must not import {other}"


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in COMMON


def defined(tree: ast.Module) -> set[str]:
    """Names that a module gives to functions, classes, variables and attributes of self."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return names


def strange_underscores(tree: ast.Module) -> Iterator[str]:
    """Private names that a module takes from another one."""
    own = defined(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr) and node.attr not in own:
            if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")):
                yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names if private(alias.name))


@by_file
def test_nobody_reads_the_underscores_of_others(path):
    found = set(strange_underscores(ast.parse(path.read_text())))
    if own_room(path) == "core":
        found -= {COMPILED}
    assert not found


@pytest.mark.parametrize(
    "source", ["est._table", "f(x)._kept", "from isinglass.table import _codes", "a.b._c = 1\nd._e"]
)
def test_the_walk_sees_underscores_of_others(source):
    assert list(strange_underscores(ast.parse(source)))


@pytest.mark.parametrize(
    "source", ["self._table", "pair._replace(a=1)", "self._a = 1\nother._a", "x.__dict__"]
)
def test_the_walk_lets_own_underscores_pass(source):
    assert not list(strange_underscores(ast.parse(source)))


def folders() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*") if path.is_dir() and list(path.glob("*.py")))


def test_a_folder_has_about_a_dozen_files():
    """The command line has one file per command."""
    for folder in set(folders()) - {SOURCE, SOURCE / "cli"}:
        files = [path for path in folder.glob("*.py") if path.stem != "__init__"]
        assert len(files) <= MOST_FILES, folder


def test_tests_mirror_the_rooms():
    """Every folder of tests has the name of a room, of a folder in one, or of the benchmarks."""
    rooms = {folder.relative_to(SOURCE).as_posix() for folder in folders()}
    with_tests = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    assert with_tests <= rooms | {".", "benchmarks"}


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


HEAVY = ["matplotlib", "networkx", "polars", "rich", "click", "dask", "distributed"]


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
