"""Which constant? Hindsight flatters whoever has one; so every choice is made elsewhere too.

Four ways to settle a method's constant, from the fairest to the kindest:

own        the setting that the method chooses by itself, knowing nothing of the truth
all        one constant for all designs
other      a constant of the design's own
hindsight  the constant that did best on these very graphs

`all` and `other` are chosen on other graphs than they are judged on: what did best on the even
repetitions is used for the odd ones, and the other way round. "Best" is the smallest beta that
reaches 95 %, then the largest mean share of recovered graphs; for all designs together, the
largest mean share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.experiments.curves import Crossing, Numbers, mean, smallest_beta
from isinglass.experiments.measure import f1
from isinglass.experiments.plan import Cell, Design, Draw, Line
from isinglass.repeating import Record

WAYS = ("own", "all", "other", "hindsight")


@dataclass(frozen=True, eq=False)
class Panel:
    """All results of one line on one design, as arrays; NaN where there is no record."""

    design: Design
    line: Line
    settings: tuple[str, ...]  #: those of the line, its own rule among them
    false: Numbers  #: edges, by beta, repetition and setting; NaN also of a failure
    missed: Numbers  #: the same
    failed: NDArray[np.bool_]  #: by beta and repetition: then the graph was not recovered
    true: Numbers  #: edges, by beta and repetition
    aupr: Numbers  #: the same

    @cached_property
    def exact(self) -> Numbers:
        """By beta, repetition and setting: 1 where the whole graph was recovered."""
        wrong = self.false + self.missed
        share = np.where(np.isnan(wrong), np.nan, wrong == 0)
        return np.where(self.failed[:, :, None], 0.0, share)

    @cached_property
    def f1(self) -> Numbers:
        """By beta, repetition and setting."""
        values = f1(self.false, self.missed, self.true[:, :, None])
        return np.where(np.isnan(self.false), np.nan, values)

    @property
    def constants(self) -> tuple[str, ...]:
        """The settings that have to be chosen: all but the line's own rule."""
        return tuple(setting for setting in self.settings if setting != self.line.own)

    def position(self, setting: str) -> int:
        """Where a setting is among the settings."""
        if setting not in self.settings:
            known = ", ".join(map(repr, self.settings))
            raise SettingError(f"{self.line.label} has no setting {setting!r}; it has {known}.")
        return self.settings.index(setting)


@dataclass(frozen=True, eq=False)
class Tuned:
    """A panel with one setting chosen for every table."""

    panel: Panel
    settings: tuple[str, str]  #: what was chosen for even repetitions, and for odd ones

    def of(self, values: Numbers) -> Numbers:
        """One value per table: that of the setting chosen for it."""
        even, odd = (self.panel.position(setting) for setting in self.settings)
        is_even = np.arange(values.shape[1]) % 2 == 0
        return np.where(is_even, values[:, :, even], values[:, :, odd])

    @property
    def exact(self) -> Numbers:
        """By beta and repetition: which graphs were recovered."""
        return self.of(self.panel.exact)

    @property
    def need(self) -> Crossing:
        """The smallest beta at which 95 % of the graphs are recovered."""
        return smallest_beta(self.panel.design.betas, self.exact)

    @property
    def words(self) -> str:
        """The settings chosen, once if they agree."""
        return " / ".join(dict.fromkeys(self.settings))


def panel(design: Design, line: Line, repetitions: int, records: Mapping[str, Record]) -> Panel:
    """Collect the records of one line on one design."""
    count = min(repetitions, line.method.repetitions or repetitions)
    rows = [
        [records.get(Cell(Draw(design, beta, i), line.method).key, {}) for i in range(count)]
        for beta in design.betas
    ]
    names = dict.fromkeys(
        name for row in rows for record in row for name in record.get("settings", ())
    )
    settings = tuple(n for n in names if n.startswith(line.starts) or n == line.own)
    shape = len(rows), count

    def collect(value: Callable[[Record], Any], *more: int) -> Numbers:
        collected = [[value(record) for record in row] for row in rows]
        return np.array(collected, dtype=float).reshape(*shape, *more)

    def wrong(record: Record) -> list[Any]:
        return [record.get("settings", {}).get(name, (np.nan, np.nan)) for name in settings]

    errors = collect(wrong, len(settings), 2)
    return Panel(
        design,
        line,
        settings,
        false=errors[..., 0],
        missed=errors[..., 1],
        failed=collect(lambda record: "failed" in record) > 0,
        true=collect(lambda record: record.get("true")),
        aupr=collect(lambda record: record.get("aupr")),
    )


def fixed(panel: Panel, setting: str) -> Tuned:
    """One setting for all tables."""
    panel.position(setting)
    return Tuned(panel, (setting, setting))


def tune(way: str, panel: Panel, all_panels: Sequence[Panel]) -> Tuned | None:
    """Choose a panel's settings in one of the four ways, or one setting, as by "=or c=1".

    `all_panels` are those of the same line on all designs. None where there is no choice.
    """
    if way == "own" or way.startswith("="):
        setting = panel.line.own if way == "own" else way[1:]
        return fixed(panel, setting) if setting and setting in panel.settings else None
    if not panel.constants:
        return None
    if way == "hindsight":
        return fixed(panel, best_setting([panel], slice(None), by_need=True))
    alone = way == "other"
    panels = [panel] if alone else [one for one in all_panels if one.settings]
    # What is used for even repetitions is chosen on odd ones, and the other way round.
    even, odd = (best_setting(panels, slice(at, None, 2), by_need=alone) for at in (0, 1))
    return Tuned(panel, (odd, even))


def best_setting(panels: Sequence[Panel], rows: slice, *, by_need: bool) -> str:
    """The setting with the largest mean share over designs, on some repetitions.

    `by_need`, for one design: the one that needs the smallest beta; the share decides ties.
    """
    first = panels[0]
    common = [s for s in first.constants if all(s in panel.settings for panel in panels)]
    merits = []
    for setting in common:
        success = [panel.exact[:, rows, panel.position(setting)] for panel in panels]
        need = smallest_beta(first.design.betas, success[0]) if by_need else Crossing(0.0)
        share = float(np.mean([_mean_share(each) for each in success]))
        merits.append((-np.inf if need.bound == ">" else -need.beta, share))
    return common[_middle_of_best(merits)]


def _mean_share(success: Numbers) -> float:
    return float(np.nan_to_num(mean(np.array([mean(tried) for tried in success]))))


def _middle_of_best(merits: Sequence[tuple[float, ...]]) -> int:
    """The middle one of those that are equally best: far from where things go wrong."""
    best = max(merits)
    equal = [k for k, merit in enumerate(merits) if merit == best]
    return equal[len(equal) // 2]
