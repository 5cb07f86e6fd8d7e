"""Files become data frames, or one line that says what is wrong, where, and what to do."""

from __future__ import annotations

from isinglass.table.reading.columnar import written_back
from isinglass.table.reading.read import DEFAULT_NA, FileTable, read_file, read_table

__all__ = ["DEFAULT_NA", "FileTable", "read_file", "read_table", "written_back"]
