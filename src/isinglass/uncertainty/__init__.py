"""How sure: why a pair is (not) linked, what could have been found, what an analysis does."""

from isinglass.uncertainty.explain import Explanation, explain
from isinglass.uncertainty.plan import Planned, plan
from isinglass.uncertainty.verdict import Verdict, Verdicts, verdict

__all__ = ["Explanation", "Planned", "Verdict", "Verdicts", "explain", "plan", "verdict"]
