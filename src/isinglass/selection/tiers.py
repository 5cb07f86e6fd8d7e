"""How firm each edge of a run is, whatever threshold its graph was cut at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isinglass.engine import Runs, pairs_at
from isinglass.engine.along import Pair
from isinglass.engine.join import REQUIRED
from isinglass.selection.rules import FIRM, TENTATIVE


@dataclass(frozen=True)
class Tiers:
    """The pairs of columns of each tier; called with a pair, the first tier that has it, or ""."""

    pairs: Mapping[str, frozenset[Pair]]

    @classmethod
    def of(
        cls, runs: Runs, floor: float, rule: str, n: float, required: frozenset[Pair] = frozenset()
    ) -> Tiers:
        """Cut a run at the threshold of each tier.

        Edges of a run that stopped above such a threshold passed a stricter test.
        """
        pairs = {REQUIRED: required}
        for name, tier in (("firm", FIRM), ("tentative", TENTATIVE)):
            threshold = max(tier.threshold(n, len(runs)), floor)
            pairs[name] = pairs_at(runs, threshold, rule)
        return cls(pairs)

    def __call__(self, pair: Pair) -> str:
        return next((name for name, pairs in self.pairs.items() if pair in pairs), "")
