"""What is published: the README on a package index, the notes of a release."""

import re
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


README = text_of("README.md")


def script(name):
    """A file of scripts/ as a module."""
    loader = SourceFileLoader(name, str(ROOT / "scripts" / name))
    module = module_from_spec(spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def no_bytecode(monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)


def targets(text):
    return re.findall(r"\]\(([^)]+)\)", text)


def test_links_of_the_readme_work_on_a_package_index():
    text = README + "[more](docs/more.md) ![picture](docs/picture.png) [pip](https://pip.pypa.io)"
    before, address = targets(text), "https://forge.example/someone/isinglass"
    after = targets(script("sdist").for_index(text, address, "1.2.3"))
    for old, new in zip(before, after, strict=True):
        kind = "raw" if old.endswith(".png") else "blob"
        assert new == (old if "://" in old else f"{address}/{kind}/v1.2.3/{old}")


def test_links_that_would_lead_nowhere_become_words():
    text = "![A graph](docs/a.png) [sure](docs/sure.md), [PyPI](https://pypi.org) and [here](#x)."
    assert script("sdist").for_index(text, "", "1.2.3") == (
        "*(picture: A graph)* sure, [PyPI](https://pypi.org) and [here](#x)."
    )
    assert all("://" in target for target in targets(script("sdist").for_index(README, "", "1")))


def test_the_index_learns_the_address():
    assert 'Source = "https://forge.example/a/b"' in script("sdist").urls(
        "https://forge.example/a/b"
    )
    assert script("sdist").urls("") == ""


CHANGES = """# Changes

## [0.2.0] - unreleased

- New.

## [0.1.0] - 2026-01-01

### Added

- First.
"""


def test_release_notes_are_one_section_of_the_changelog():
    notes = script("release_notes").notes
    assert notes(CHANGES, "0.2.0") == "- New.\n"
    assert notes(CHANGES, "0.1.0") == "### Added\n\n- First.\n"
    assert notes(CHANGES, "0.3.0") is None


def test_one_version_everywhere():
    version = tomllib.loads(text_of("pyproject.toml"))["project"]["version"]
    assert f"\nversion: {version}\n" in text_of("CITATION.cff")
    assert script("release_notes").notes(text_of("CHANGELOG.md"), version)
