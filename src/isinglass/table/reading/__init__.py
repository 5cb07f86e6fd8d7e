"""Files become data frames, or one line that says what is wrong, where, and what to do."""

from __future__ import annotations

from isinglass.table.reading.columnar import written_back
from isinglass.table.reading.read import DEFAULT_NA, FileTable, read_file, read_table
from isinglass.table.reading.statistical import READERS

#: Endings of files that say themselves what their columns and codes mean.
LABELLED = tuple(READERS)

__all__ = ["DEFAULT_NA", "LABELLED", "FileTable", "read_file", "read_table", "written_back"]
