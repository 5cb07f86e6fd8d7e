"""Files become data frames, or one line that says what is wrong, where, and what to do."""

from __future__ import annotations

from isinglass.table.reading.read import DEFAULT_NA, FileTable, read_file, read_table
from isinglass.table.reading.write_back import written_back

__all__ = ["DEFAULT_NA", "FileTable", "read_file", "read_table", "written_back"]
