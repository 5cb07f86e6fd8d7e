"""The paper's theorem on an instance: what it asks for, and what the search itself needs."""

from isinglass.theorem.results import ColumnTheory, LinkTheory, Theory
from isinglass.theorem.theory import theory

__all__ = ["ColumnTheory", "LinkTheory", "Theory", "theory"]
