"""Results for people: one dict, and its faces: page, Markdown, JSON; pictures."""

from isinglass.report.html import to_html
from isinglass.report.markdown import to_markdown
from isinglass.report.summary import summarise, to_json

__all__ = ["summarise", "to_html", "to_json", "to_markdown"]
