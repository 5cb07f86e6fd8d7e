"""Any input becomes a `Table`: integer codes, names, states, weights.

The rest of the package sees tables only in this form, so every question about missing
values, labels, weights and file formats is settled here, once.
"""

from __future__ import annotations

from isinglass.table.column import Column, Note
from isinglass.table.draws import Drawer
from isinglass.table.encode import encode
from isinglass.table.reading import DEFAULT_NA, read_table
from isinglass.table.table import Table

__all__ = ["DEFAULT_NA", "Column", "Drawer", "Note", "Table", "encode", "read_table"]
