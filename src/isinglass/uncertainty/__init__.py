"""How sure: the same search on other rows, errors of parameters, tests on rows that did not choose."""

from isinglass.uncertainty.bootstrap import Bootstrap, bootstrap
from isinglass.uncertainty.dropping import CaseDropping, case_dropping
from isinglass.uncertainty.pairwise import PairwiseCheck, check_pairwise
from isinglass.uncertainty.resample import Resamples, resample
from isinglass.uncertainty.sandwich import fit_with_errors, with_errors
from isinglass.uncertainty.split import SplitTest, split_test

__all__ = [
    "Bootstrap",
    "CaseDropping",
    "PairwiseCheck",
    "Resamples",
    "SplitTest",
    "bootstrap",
    "case_dropping",
    "check_pairwise",
    "fit_with_errors",
    "resample",
    "split_test",
    "with_errors",
]
