"""Results for people: summary, pictures, files."""

from isinglass.report.summary import summarise

__all__ = ["summarise"]
