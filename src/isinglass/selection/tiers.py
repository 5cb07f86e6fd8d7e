"""How firm an edge is: the levels that its entry into the graph is compared with."""

from __future__ import annotations

from isinglass.selection.rules import FIRM, TENTATIVE


def tier_levels(n: float, p: int) -> dict[str, float]:
    """The thresholds of the tiers for n rows and p columns, the highest first.

    >>> list(tier_levels(1000, 10))
    ['firm', 'tentative']
    """
    return {"firm": FIRM.threshold(n, p), "tentative": TENTATIVE.threshold(n, p)}
