"""How sure: the search on other rows, errors and tests, why (not), what could be found."""

from isinglass.uncertainty.explaining.explain import Explanation, explain
from isinglass.uncertainty.explaining.pairwise import PairwiseCheck, check_pairwise
from isinglass.uncertainty.explaining.verdict import Verdict, Verdicts, verdict
from isinglass.uncertainty.power.plan import plan
from isinglass.uncertainty.power.planned import Planned
from isinglass.uncertainty.resampling.bootstrap import Bootstrap, bootstrap
from isinglass.uncertainty.resampling.dropping import CaseDropping, case_dropping
from isinglass.uncertainty.resampling.resample import Resamples, resample
from isinglass.uncertainty.resampling.split import SplitTest, split_test
from isinglass.uncertainty.simulation.audit import Audit, audit
from isinglass.uncertainty.standard_errors import fit_with_errors, with_errors

__all__ = [
    "Audit",
    "Bootstrap",
    "CaseDropping",
    "Explanation",
    "PairwiseCheck",
    "Planned",
    "Resamples",
    "SplitTest",
    "Verdict",
    "Verdicts",
    "audit",
    "bootstrap",
    "case_dropping",
    "check_pairwise",
    "explain",
    "fit_with_errors",
    "plan",
    "resample",
    "split_test",
    "verdict",
    "with_errors",
]
