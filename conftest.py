"""Examples in pages and docstrings run in a folder of their own, so that they may write files."""

import pytest


@pytest.fixture(autouse=True)
def empty_folder(request, monkeypatch):
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
