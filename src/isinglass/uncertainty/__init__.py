"""How sure: why a pair is (not) linked, what could have been found, what an analysis does."""

from isinglass.uncertainty.audit import Audit, audit
from isinglass.uncertainty.explain import Explanation, explain
from isinglass.uncertainty.plan import Planned, plan
from isinglass.uncertainty.verdict import Verdict, Verdicts, verdict

__all__ = [
    "Audit",
    "Explanation",
    "Planned",
    "Verdict",
    "Verdicts",
    "audit",
    "explain",
    "plan",
    "verdict",
]
