"""The pages' examples run in a folder of their own, so that they may write files."""

import pytest


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
