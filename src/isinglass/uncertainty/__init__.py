"""How sure: the search on other rows, errors and tests, why (not), what could be found."""

from isinglass.uncertainty.audit import Audit, audit
from isinglass.uncertainty.bootstrap import Bootstrap, bootstrap
from isinglass.uncertainty.dropping import CaseDropping, case_dropping
from isinglass.uncertainty.explain import Explanation, explain
from isinglass.uncertainty.pairwise import PairwiseCheck, check_pairwise
from isinglass.uncertainty.plan import plan
from isinglass.uncertainty.planned import Planned
from isinglass.uncertainty.resample import Resamples, resample
from isinglass.uncertainty.sandwich import fit_with_errors, with_errors
from isinglass.uncertainty.split import SplitTest, split_test
from isinglass.uncertainty.verdict import Verdict, Verdicts, verdict

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
