"""The reference page names all that there is."""

from pathlib import Path

import isinglass as ig

DOCS = Path(__file__).parents[1] / "docs"


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "api.md").read_text()
    missing = [name for name in ig.__all__ if f"isinglass.{name}\n" not in page]
    assert missing == []


def test_every_page_is_in_the_contents():
    contents = (DOCS / "index.md").read_text().split()
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert pages <= set(contents)
