"""Examples in pages and docstrings run in a folder of their own, so that they may write files."""

from importlib.util import find_spec

import pytest

# The room `desk` cannot be imported without the extra of that name.
collect_ignore_glob = [] if find_spec("starlette") else ["src/isinglass/desk/*", "tests/desk/*"]


@pytest.fixture(autouse=True)
def empty_folder(request, monkeypatch):
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
