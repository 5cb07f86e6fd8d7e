"""Examples in pages and docstrings run in a folder of their own, so that they may write files."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

# The room `desk` cannot be imported without the extra of that name.
collect_ignore_glob = [] if find_spec("starlette") else ["src/isinglass/desk/*", "tests/desk/*"]

DATA = Path(os.environ.get("ISINGLASS_DATA", Path(__file__).parent.parent / "shared" / "data"))
#: Pages about real tables, which are not in the repository, and the tables they read.
PAGES = {"questionnaire.md": "psych/dass.csv.gz"}


@pytest.fixture(autouse=True)
def empty_folder(request, monkeypatch):
    if isinstance(request.node, pytest.DoctestItem):
        folder = request.getfixturevalue("tmp_path")
        monkeypatch.chdir(folder)
        if request.node.path.name in PAGES:
            link_table(DATA / PAGES[request.node.path.name], folder)


def link_table(path, folder):
    """Make a real table readable from a folder."""
    if not path.exists():
        pytest.skip(f"no {path.name}; ISINGLASS_DATA names the folder that holds it")
    (folder / path.name).symlink_to(path)
