"""A study: a plan, the lines to draw from it, and its results as tables.

Tables are the same bytes whenever they are made; only those of times depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isinglass.experiments.curves import Ratio, mean, ratio, wilson
from isinglass.experiments.measure import f1
from isinglass.experiments.plan import Cell, Design, Line, Method, Plan
from isinglass.experiments.tuning import WAYS, Panel, Tuned, panel, tune
from isinglass.exports.tables import as_csv
from isinglass.repeating import Record

RESULT_COLUMNS = (
    *("key", "design", "p", "beta", "n", "rep", "method", "setting"),
    *("edges", "false", "missed", "exact", "f1", "aupr", "failed"),
)
POINT_COLUMNS = (
    *("study", "design", "p", "d", "line", "tuning", "constant", "beta", "n", "graphs", "failed"),
    *("recovered", "low", "high", "f1", "false", "missed", "aupr"),
)


@dataclass(frozen=True)
class Study:
    """One figure of an experiment."""

    name: str  #: for files and keys
    title: str  #: for people
    designs: Sequence[Design]
    lines: Sequence[Line]  #: the first one is what the others are compared with
    repetitions: int

    @property
    def methods(self) -> list[Method]:
        """The methods behind the lines, each once."""
        return list({line.method.name: line.method for line in self.lines}.values())

    def cells(self) -> Iterator[Cell]:
        """Every cell of the plan."""
        return Plan(self.designs, self.methods, self.repetitions).cells()


@dataclass(frozen=True, eq=False)
class Outcome:
    """A study and its records."""

    study: Study
    records: Mapping[str, Record]

    @cached_property
    def panels(self) -> dict[tuple[str, str], Panel]:
        """All results, by design and line."""
        return {
            (design.name, line.label): panel(design, line, self.study.repetitions, self.records)
            for design in self.study.designs
            for line in self.study.lines
        }

    def tuned(self, design: Design, label: str, way: str) -> Tuned | None:
        """A line with its constant chosen: by one of the ways, or a fixed one, as "=or c=1"."""
        key = (design.name, label, way)
        if key not in self._tuned:
            same = [self.panels[other.name, label] for other in self.study.designs]
            self._tuned[key] = tune(way, self.panels[design.name, label], same)
        return self._tuned[key]

    @cached_property
    def _tuned(self) -> dict[tuple[str, str, str], Tuned | None]:
        return {}

    def ratio(self, design: Design, label: str, way: str) -> Ratio | None:
        """How many times the rows of the first line, both with constants chosen one way."""
        first = self.tuned(design, self.study.lines[0].label, way)
        other = self.tuned(design, label, way)
        if first is None or other is None:
            return None
        return ratio(design.betas, other.exact, first.exact)

    def points(self, ways: Sequence[str] = (*WAYS, "=or c=1")) -> Iterator[dict[str, Any]]:
        """Every point of every curve, in the order of designs, lines, ways and betas."""
        for design in self.study.designs:
            for line in self.study.lines:
                for way in ways:
                    tuned = self.tuned(design, line.label, way)
                    if tuned is not None:
                        yield from (self._point(tuned, way, at) for at in range(len(design.betas)))

    def _point(self, tuned: Tuned, way: str, at: int) -> dict[str, Any]:
        design, line, exact = tuned.panel.design, tuned.panel.line, tuned.exact[at]
        seen = exact[np.isfinite(exact)]
        low, high = wilson(float(seen.sum()), len(seen))
        beta = design.betas[at]
        return {
            "study": self.study.name,
            "design": design.name,
            "p": design.p,
            "d": design.degree,
            "line": line.label,
            "tuning": "fixed" if way.startswith("=") else way,
            "constant": tuned.words,
            "beta": beta,
            "n": design.rows(beta),
            "graphs": len(seen),
            "failed": int(tuned.panel.failed[at].sum()),
            "recovered": mean(seen),
            "low": low,
            "high": high,
            "f1": mean(tuned.of(tuned.panel.f1)[at]),
            "false": mean(tuned.of(tuned.panel.false)[at]),
            "missed": mean(tuned.of(tuned.panel.missed)[at]),
            "aupr": mean(tuned.panel.aupr[at]),
        }


def points_csv(outcomes: Sequence[Outcome]) -> bytes:
    """Every point of every curve."""
    rows = (
        [_cell(point[column]) for column in POINT_COLUMNS]
        for outcome in outcomes
        for point in outcome.points()
    )
    return as_csv(POINT_COLUMNS, rows)


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return None if np.isnan(value) else f"{value:.6g}"
    return value


def results_csv(cells: Iterable[Cell], records: Mapping[str, Record]) -> bytes:
    """Every result, sorted by key; nothing in it depends on time, order or machine."""
    return as_csv(RESULT_COLUMNS, _rows(cells, records))


def times_csv(cells: Iterable[Cell], records: Mapping[str, Record]) -> bytes:
    """How long each cell took, and its table to make; what warnings it gave."""
    rows = []
    for key in sorted({cell.key for cell in cells} & records.keys()):
        seconds, sampling = (records[key].get(name, 0.0) for name in ("seconds", "sampling"))
        rows.append((key, seconds, sampling, "; ".join(records[key].get("warnings", []))))
    return as_csv(("key", "seconds", "sampling", "warnings"), rows)


def _rows(cells: Iterable[Cell], records: Mapping[str, Record]) -> Iterator[tuple[Any, ...]]:
    by_key = {cell.key: cell for cell in cells}
    for key in sorted(by_key.keys() & records.keys()):
        record, draw = records[key], by_key[key].draw
        start = (draw.design.name, draw.design.p, f"{draw.beta:g}", draw.n, draw.repetition)
        method = by_key[key].method.name
        if "failed" in record:
            yield (key, *start, method, *[None] * 7, record["failed"])
            continue
        for setting, (false, missed) in record["settings"].items():
            exact = int(false == missed == 0)
            score = float(f1(false, missed, record["true"]))
            yield (
                f"{key} {setting}".rstrip(),
                *(*start, method, setting, record["true"], false, missed, exact, f"{score:.6f}"),
                *(record["aupr"], None),
            )
