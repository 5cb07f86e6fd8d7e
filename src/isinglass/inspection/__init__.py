"""What every column of a table is, what is odd about it, and the settings that fit it."""

from __future__ import annotations

from isinglass.inspection.inspect import inspect
from isinglass.inspection.result import Inspected, Inspection

__all__ = ["Inspected", "Inspection", "inspect"]
