"""How sure: errors of parameters given the graph, and tests on rows that did not choose it."""

from isinglass.uncertainty.sandwich import fit_with_errors, with_errors

__all__ = ["fit_with_errors", "with_errors"]
