"""Is the default as good as a constant chosen by one who knows the answer?

The tuner sees half of the graphs and their truth, takes the constant that does best on them, and
is judged on the other half; the default has seen nothing. Both are judged on the same tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.experiments.curves import Ratio, mean, ratio
from isinglass.experiments.plan import Design
from isinglass.experiments.study import Outcome
from isinglass.experiments.tuning import Panel, Tuned, fixed

#: The level beside the default, as a setting.
STRICTER = "or level=0.025"


@dataclass(frozen=True)
class Judgement:
    """The default beside the best constant, on one design.

    Attributes
    ----------
    design : Design
    default, best : Tuned
        The default; the constant that needs the smallest beta, chosen on other graphs.
    ratio : Ratio
        How many times the rows of the best constant the default needs for 95 %.
    stricter : Ratio or None
        The same of ``FalseEdges(0.025)``, where it was tried.
    f1, best_f1 : float
        Of the default at the first beta; of the constant with the largest F1 there, chosen on
        other graphs.
    """

    design: Design
    default: Tuned
    best: Tuned
    ratio: Ratio
    stricter: Ratio | None
    f1: float
    best_f1: float

    def within(self, target: float) -> bool:
        """Whether the interval of the ratio reaches a number or less."""
        return self.ratio.low <= target

    @property
    def fails_alone(self) -> bool:
        """Whether the default never arrives where the constant does."""
        return self.default.need.bound == ">" != self.best.need.bound

    @property
    def rows(self) -> int:
        """Rows at which the default recovers 95 % of the graphs."""
        return self.design.rows(self.default.need.beta)


def judge(outcome: Outcome, design: Design, label: str = "or") -> Judgement | None:
    """Judge the own rule of a line against its constants; None where it has no records."""
    default, best = (outcome.tuned(design, label, way) for way in ("own", "other"))
    if default is None or best is None:
        return None
    panel = outcome.panels[design.name, label]
    by_f1 = Tuned(panel, (_best_by_f1(panel, 1), _best_by_f1(panel, 0)))
    return Judgement(
        design,
        default,
        best,
        ratio(design.betas, default.exact, best.exact),
        against_best(outcome, design, "levels", STRICTER) if label == "or" else None,
        mean(default.of(panel.f1)[0]),
        mean(by_f1.of(panel.f1)[0]),
    )


def against_best(
    outcome: Outcome, design: Design, label: str, setting: str, resamples: int = 2000
) -> Ratio | None:
    """How many times the rows of the best constant a fixed setting of any line needs."""
    best = outcome.tuned(design, outcome.study.lines[0].label, "other")
    panel = outcome.panels.get((design.name, label))
    if best is None or panel is None or setting not in panel.settings:
        return None
    one = fixed(panel, setting)
    return ratio(design.betas, one.exact, best.exact, resamples=resamples)


def found_at(panel: Panel, at: int, false: float) -> float:
    """Share of the true edges found by the loosest cut with so many false edges on average.

    Between two neighbouring cuts the share is interpolated; NaN where all cuts have more false
    edges, or fewer. (A cut that misses many true edges may have more false ones than a looser.)
    """
    where = [panel.position(setting) for setting in panel.constants]  # the loosest first
    let_in = np.nanmean(panel.false[at][:, where], axis=0)
    missed = np.nansum(panel.missed[at][:, where], axis=0)
    seen = np.isfinite(panel.missed[at][:, where[0]])
    found = 1 - missed / np.nansum(panel.true[at][seen])
    few = np.flatnonzero(let_in <= false)
    if not len(few) or let_in[0] < false:
        return float("nan")
    k = int(few[0])
    near = slice(max(k - 1, 0), k + 1)
    return float(np.interp(false, let_in[near][::-1], found[near][::-1]))


def mean_and_error(values: NDArray[np.float64]) -> tuple[float, float]:
    """The mean of what is there, and its standard error.

    >>> mean_and_error(np.array([1.0, 3.0, np.nan]))
    (2.0, 1.0)
    """
    seen = values[np.isfinite(values)]
    if len(seen) < 2:
        return mean(seen), float("nan")
    return float(seen.mean()), float(seen.std(ddof=1) / np.sqrt(len(seen)))


def _best_by_f1(panel: Panel, start: int) -> str:
    """The constant with the largest mean F1 at the first beta, on every second repetition."""
    scores: Sequence[float] = [
        mean(panel.f1[0][start::2, panel.position(setting)]) for setting in panel.constants
    ]
    return panel.constants[int(np.nanargmax(scores))]
