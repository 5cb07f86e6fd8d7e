"""What the columns of a table mean: labels, the order of answers, codes for missing values."""

from __future__ import annotations

from isinglass.table.codebook.codebook import Codebook, read_codebook
from isinglass.table.codebook.variable import Variable

__all__ = ["Codebook", "Variable", "read_codebook"]
