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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.experiments.curves import Crossing, Success, smallest_beta
from isinglass.experiments.measure import f1
from isinglass.experiments.plan import Cell, Design, Draw, Line
from isinglass.repeating import Record

WAYS = ("own", "all", "other", "hindsight")
Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Panel:
    """All results of one line on one design.

    Attributes
    ----------
    settings : tuple of str
        Those of the line, its own rule among them.
    false, missed : list over betas of arrays, shape (repetitions, settings)
        NaN where there is no record, or a failure.
    failed : list over betas of arrays, shape (repetitions,)
        Whether the method failed: then it did not recover the graph.
    true, aupr : list over betas of arrays, shape (repetitions,)
    """

    design: Design
    line: Line
    settings: tuple[str, ...]
    false: list[Numbers]
    missed: list[Numbers]
    failed: list[NDArray[np.bool_]]
    true: list[Numbers]
    aupr: list[Numbers]

    @cached_property
    def exact(self) -> list[Numbers]:
        """Over betas, (repetitions, settings): 1 where the whole graph was recovered."""
        exact = []
        for false, missed, failed in zip(self.false, self.missed, self.failed, strict=True):
            wrong = false + missed
            share = np.where(np.isnan(wrong), np.nan, wrong == 0)
            exact.append(np.where(failed[:, None], 0.0, share))
        return exact

    @cached_property
    def f1(self) -> list[Numbers]:
        """Over betas, (repetitions, settings)."""
        return [
            np.where(np.isnan(false), np.nan, f1(false, missed, true[:, None]))
            for false, missed, true in zip(self.false, self.missed, self.true, strict=True)
        ]

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
    settings: tuple[str, ...]
    """What was chosen for even repetitions, and for odd ones."""

    def of(self, values: list[Numbers]) -> Success:
        """One value a table: that of the setting chosen for it."""
        even, odd = (self.panel.position(setting) for setting in self.settings)
        return [
            np.where(np.arange(len(table)) % 2 == 0, table[:, even], table[:, odd])
            for table in values
        ]

    @property
    def exact(self) -> Success:
        """Over betas: which graphs were recovered."""
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
    method = line.method
    count = min(repetitions, method.repetitions or repetitions)
    rows = [
        [
            records.get(Cell(Draw(design, beta, repetition), method).key, {})
            for repetition in range(count)
        ]
        for beta in design.betas
    ]
    names = dict.fromkeys(
        name for row in rows for record in row for name in record.get("settings", ())
    )
    settings = tuple(n for n in names if n.startswith(line.starts) or n == line.own)

    def collect(which: int) -> list[Numbers]:
        missing = [np.nan, np.nan]
        return [
            np.array(
                [
                    [record.get("settings", {}).get(name, missing)[which] for name in settings]
                    for record in row
                ],
                dtype=float,
            ).reshape(count, len(settings))
            for row in rows
        ]

    return Panel(
        design,
        line,
        settings,
        false=collect(0),
        missed=collect(1),
        failed=[np.array(["failed" in record for record in row], dtype=bool) for row in rows],
        true=[np.array([record.get("true", np.nan) for record in row], float) for row in rows],
        aupr=[_numbers(record.get("aupr") for record in row) for row in rows],
    )


def fixed(panel: Panel, setting: str) -> Tuned:
    """One setting for all tables."""
    panel.position(setting)
    return Tuned(panel, (setting, setting))


def tune(way: str, panel: Panel, all_panels: Sequence[Panel]) -> Tuned | None:
    """Choose a panel's settings in one of the four ways; None where there is no choice.

    Parameters
    ----------
    way : "own", "all", "other" or "hindsight"
    panel : Panel
    all_panels : sequence of Panel
        The same line on all designs.
    """
    if way == "own":
        own = panel.line.own
        return None if own is None or own not in panel.settings else fixed(panel, own)
    if not panel.constants:
        return None
    if way == "hindsight":
        return fixed(panel, best_setting(panel, slice(None)))
    by_way: dict[str, Callable[[slice], str]] = {
        "other": lambda rows: best_setting(panel, rows),
        "all": lambda rows: best_for_all([one for one in all_panels if one.settings], rows),
    }
    even, odd = slice(0, None, 2), slice(1, None, 2)
    return Tuned(panel, (by_way[way](odd), by_way[way](even)))


def best_setting(panel: Panel, rows: slice) -> str:
    """The setting that needs the smallest beta on some repetitions."""

    def merit(setting: str) -> tuple[float, float]:
        success = [exact[rows, panel.position(setting)] for exact in panel.exact]
        need = smallest_beta(panel.design.betas, success)
        return -np.inf if need.bound == ">" else -need.beta, _mean_share(success)

    return panel.constants[_middle_of_best([merit(setting) for setting in panel.constants])]


def best_for_all(panels: Sequence[Panel], rows: slice) -> str:
    """The setting with the largest mean share over all designs."""

    def merit(setting: str) -> tuple[float]:
        success = ([e[rows, panel.position(setting)] for e in panel.exact] for panel in panels)
        return (float(np.mean([_mean_share(each) for each in success])),)

    common = [s for s in panels[0].constants if all(s in panel.settings for panel in panels)]
    return common[_middle_of_best([merit(setting) for setting in common])]


def _mean_share(success: Success) -> float:
    seen = [tried[np.isfinite(tried)] for tried in success]
    shares = [float(tried.mean()) for tried in seen if len(tried)]
    return float(np.mean(shares)) if shares else 0.0


def _middle_of_best(merits: Sequence[tuple[float, ...]]) -> int:
    """The middle one of those that are equally best: far from where things go wrong."""
    best = max(merits)
    equal = [k for k, merit in enumerate(merits) if merit == best]
    return equal[len(equal) // 2]


def _numbers(values: Iterable[float | None]) -> Numbers:
    return np.array([np.nan if value is None else value for value in values], dtype=float)
