"""How sure: errors of parameters given the graph, and tests on rows that did not choose it."""

from isinglass.uncertainty.bootstrap import Bootstrap, bootstrap
from isinglass.uncertainty.pairwise import PairwiseCheck, check_pairwise
from isinglass.uncertainty.sandwich import fit_with_errors, with_errors
from isinglass.uncertainty.split import SplitTest, split_test

__all__ = [
    "Bootstrap",
    "PairwiseCheck",
    "SplitTest",
    "bootstrap",
    "check_pairwise",
    "fit_with_errors",
    "split_test",
    "with_errors",
]
