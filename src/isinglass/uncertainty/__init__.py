"""How sure: the same search on other rows."""

from isinglass.uncertainty.dropping import CaseDropping, case_dropping
from isinglass.uncertainty.resample import Resamples, resample

__all__ = ["CaseDropping", "Resamples", "case_dropping", "resample"]
