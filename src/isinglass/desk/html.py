"""The page of the desk: one document, its style and its script in it."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files

#: From the report, which looks the same and shows names with the same care; then its own.
STYLES = ("report/page/style.css", "desk/page/desk.css")
SCRIPTS = (
    "report/page/names.js",
    "desk/page/asking.js",
    "desk/page/columns.js",
    "desk/page/working.js",
    "desk/page/result.js",
    "desk/page/main.js",
)


@cache
def page(most_bytes: int) -> tuple[str, str]:
    """The page, and the policy that lets nothing else run: no other script, no other address."""
    style = "\n".join(map(_read, STYLES))
    script = '"use strict";\n' + "\n".join(map(_read, SCRIPTS))
    text = _read("desk/page/template.html")
    for name, part in (
        ("limit", escape(size_text(most_bytes))),
        ("bytes", str(most_bytes)),
        ("style", style),
        ("script", script),
    ):
        text = text.replace(f"{{{{{name}}}}}", part)
    policy = {
        "default-src": "'none'",
        "script-src": f"'sha256-{_digest(script)}'",
        "style-src": f"'sha256-{_digest(style)}'",
        "img-src": "data:",
        "connect-src": "'self'",
        "frame-src": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return text, "; ".join(f"{what} {where}" for what, where in policy.items())


def _read(name: str) -> str:
    """A file of the package; its rooms are not imported, which would take a second."""
    return files("isinglass").joinpath(*name.split("/")).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def size_text(size: int) -> str:
    """A number of bytes as people say it.

    >>> size_text(500_000_000), size_text(2_500_000_000), size_text(800)
    ('500 MB', '2.5 GB', '800 bytes')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
