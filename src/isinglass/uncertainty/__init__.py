"""How sure: the same search on other rows."""

from isinglass.uncertainty.bootstrap import Bootstrap, bootstrap
from isinglass.uncertainty.dropping import CaseDropping, case_dropping
from isinglass.uncertainty.resample import Resamples, resample

__all__ = ["Bootstrap", "CaseDropping", "Resamples", "bootstrap", "case_dropping", "resample"]
