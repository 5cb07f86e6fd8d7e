"""Files become data frames, or one line that says what is wrong, where, and what to do."""

from __future__ import annotations

from isinglass.table.reading.columnar import written_back
from isinglass.table.reading.opening import ending
from isinglass.table.reading.r_files import R_FILES
from isinglass.table.reading.read import DEFAULT_NA, FileTable, read_file, read_table
from isinglass.table.reading.spreadsheets import SHEETS
from isinglass.table.reading.statistical import READERS

#: Endings of files that say themselves what their columns and codes mean.
LABELLED = (*READERS, *R_FILES)
#: Endings of files that are read, but not written.
READ_ONLY = (*LABELLED, *SHEETS)

__all__ = [
    "DEFAULT_NA",
    "LABELLED",
    "READ_ONLY",
    "FileTable",
    "ending",
    "read_file",
    "read_table",
    "written_back",
]
