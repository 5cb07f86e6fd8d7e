"""How firm each edge of a run is, whatever threshold its graph was cut at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from isinglass.engine import Runs
from isinglass.engine.join import REQUIRED, Numbers, Pair, keys_at
from isinglass.selection.rules import FIRM, TENTATIVE


@dataclass(frozen=True, eq=False)
class Tiers:
    """The edges of each tier, as numbers: source * columns + target.

    Called with the ends of some edges, it answers with the first tier that has each, or "".
    """

    columns: int
    keys: dict[str, Numbers]

    @classmethod
    def of(
        cls, runs: Runs, floor: float, rule: str, n: float, required: Iterable[Pair] = ()
    ) -> Tiers:
        """Cut a run at the threshold of each tier.

        Edges of a run that stopped above such a threshold passed a stricter test.
        """
        p = len(runs)
        firm, tentative = (max(tier.threshold(n, p), floor) for tier in (FIRM, TENTATIVE))
        keys = {threshold: keys_at(runs, threshold, rule) for threshold in {firm, tentative}}
        asked_for = np.array([a * p + b for a, b in required], dtype=np.intp)
        return cls(p, {REQUIRED: asked_for, "firm": keys[firm], "tentative": keys[tentative]})

    def __call__(self, source: Numbers, target: Numbers) -> list[str]:
        wanted = source * self.columns + target
        marks = np.full(len(wanted), "", dtype=object)
        for name in reversed(self.keys):
            marks[np.isin(wanted, self.keys[name])] = name
        found: list[str] = marks.tolist()
        return found
