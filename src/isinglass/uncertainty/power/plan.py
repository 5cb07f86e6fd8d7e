"""How many rows do I need? By simulation: draw tables of the kind supposed, learn, count."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.engine import Progress
from isinglass.errors import Setting, SettingError, Wording
from isinglass.estimators import GreedyGraph
from isinglass.experiments import Design, Method, monotone, run, wilson
from isinglass.experiments import Plan as Cells
from isinglass.experiments.plan import Codes, Edges
from isinglass.graph import Graph
from isinglass.parameters import checked
from isinglass.repeating import RECORDS, as_recorded, formerly
from isinglass.selection import FalseEdges, Selector, selector
from isinglass.table import encode
from isinglass.uncertainty.power.planned import Planned, Point, sentence_of
from isinglass.uncertainty.power.supposed import Guess, Pilot, Supposition, coupling_of
from isinglass.wording import rounded_up

#: No plan looks at more rows, unless asked to.
MOST_ROWS = 100_000
#: How often an answer is looked at, and moved if it does not hold.
LOOKS = 4
#: A share of edges found that is this much short of the target will do.
NEARLY = 0.01


@formerly
@checked
def plan(
    columns: int | None = None,
    degree: float | None = None,
    coupling: float | None = None,
    *,
    odds_ratio: float | None = None,
    states: int = 2,
    intercept: float = 0.0,
    pilot: Any = None,
    sample_weight: ArrayLike | str | None = None,
    missing: str = "error",
    n_eff: float | str = "sum",
    bins: dict[str, int | Sequence[float]] | None = None,
    max_states: int = 32,
    high: dict[str, Any] | None = None,
    threshold: float | str | Selector = "auto",
    rule: str = "or",
    factors: Sequence[float] = (0.7, 1.0),
    target: float = 0.9,
    aim: str | None = None,
    rows: Sequence[int] | None = None,
    most_rows: int = MOST_ROWS,
    graphs: int = 100,
    seed: int = 0,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Planned:
    """Say how many rows it takes to recover a graph, by simulation.

    Either say what you expect (columns, degree, and a coupling or an odds ratio), or give a pilot
    table. Couplings are hard to guess, so the same is done with smaller ones (`factors`).

    Parameters
    ----------
    columns, degree : int, float
        Number of columns, and how many neighbours each has.
    coupling, odds_ratio : float
        Size of every link, one of the two; half of the links are negative. For more than two
        states, the root mean square of the link's table of log-potentials, or its typical odds
        ratio (see `verdict`).
    states : int
        States of every column.
    intercept : float
        Fields are drawn evenly from minus this to this, so that states are not equally common.
    pilot : array or data frame, optional
        Instead of the five above. One half of its rows chooses the graph, the other half, which
        had no say in that, tells the couplings.
    sample_weight, missing, n_eff, bins, max_states, high
        How the pilot table is read, as in `GreedyGraph`.
    threshold, rule
        Of the search, as in `GreedyGraph`.
    factors : sequence of float
        What the couplings are multiplied by; 1 is what you expect.
    target : float
        The probability, or the share, to be reached. With the default threshold a probability above
        0.95 is out of reach, whatever the rows: it lets a false edge in about that often.
    aim : "graph" or "edges", optional
        What the target is for: the probability of recovering the whole graph, or the mean share of
        the edges found. By default the graph, but the edges for a pilot table, some of whose links
        may be very weak.
    rows : sequence of int, optional
        Numbers of rows to look at; by default, those around the answer.
    most_rows : int
        Give up beyond.
    graphs : int
        Tables per point.
    seed : int
    path : str or path, optional
        A file that results are added to, one line per table; what is in it is not done again, so
        that work goes on where it was stopped.
    n_jobs : int, optional
        Processes; None means all cores.
    progress : function of (tables done, tables in this stage), optional

    Returns
    -------
    Planned

    Examples
    --------
    >>> import isinglass as ig
    >>> result = ig.plan(columns=6, degree=2, coupling=0.6, rows=[200, 400], graphs=20, n_jobs=1)
    >>> [(at.factor, at.rows, at.graphs) for at in result.points]
    [(0.7, 200, 20), (0.7, 400, 20), (1.0, 200, 20), (1.0, 400, 20)]
    """
    supposed: Supposition
    if pilot is not None:
        if any(given is not None for given in (columns, degree, coupling, odds_ratio)):
            raise SettingError("give a pilot table, or columns, degree and coupling; not both.")
        table = encode(
            pilot,
            sample_weight,
            missing=missing,
            n_eff=n_eff,
            bins=bins,
            max_states=max_states,
            high=high,
        )
        supposed = Pilot(table, seed)
    else:
        supposed = _guess(
            columns,
            degree,
            coupling=coupling,
            odds_ratio=odds_ratio,
            states=states,
            intercept=intercept,
        )
    work = _Work(
        supposed,
        partial(_learn, threshold=threshold, rule=rule),
        f"{as_recorded(selector(threshold))}, {rule}".replace("/", ":"),
        aim or ("graph" if pilot is None else "edges"),
        target,
        tuple(sorted({float(factor) for factor in factors})),
        graphs,
        seed,
    )
    with tempfile.TemporaryDirectory() as temporary:
        stage = partial(
            run,
            path=path or os.path.join(temporary, RECORDS),
            work="a plan",
            sound=_sound,
            n_jobs=n_jobs,
            progress=progress,
        )
        return work.answered(stage, rows, most_rows)


def _guess(
    columns: int | None,
    degree: float | None,
    *,
    coupling: float | None,
    odds_ratio: float | None,
    states: int,
    intercept: float,
) -> Guess:
    if columns is None or degree is None or (coupling is None) == (odds_ratio is None):
        raise SettingError(
            *("a plan needs ", Setting("columns"), ", ", Setting("degree"), ", and either "),
            *(Setting("coupling"), " or ", Setting("odds_ratio"), "; or "),
            Wording("a pilot table.", "--pilot FILE."),
        )
    if coupling is None:
        assert odds_ratio is not None
        coupling = coupling_of(odds_ratio, states)
    return Guess(columns, degree, abs(coupling), states, intercept)


def _learn(codes: Codes, *, threshold: Any, rule: str) -> Graph:
    return GreedyGraph(threshold, rule=rule, n_jobs=1, max_states=256).fit(codes).graph_


def _draw(supposed: Supposition, factor: float, n: int, seed: int) -> tuple[Codes, Edges]:
    of_field, of_rows = (int(s) for s in np.random.SeedSequence(seed).generate_state(2))
    field = supposed.field(factor, of_field)
    return field.sample_codes(n, seed=of_rows, n_jobs=1), list(field.couplings)


@dataclass(frozen=True)
class _Work:
    """The steps from a supposition to an answer."""

    supposed: Supposition
    learn: Any
    method: str
    aim: str
    target: float
    factors: tuple[float, ...]
    graphs: int
    seed: int

    def answered(self, stage: Any, rows: Sequence[int] | None, most: int) -> Planned:
        if rows is not None:
            points = self._at(stage, rows)
            reached = {factor: _first(points, factor, self._reaches) for factor in self.factors}
            answers = {factor: at for factor, at in reached.items() if at is not None}
        else:
            points, answers = self._looked_for(stage, most)
        kept = tuple(sorted(points, key=lambda at: (at.factor, at.rows)))
        sentence = sentence_of(self.supposed, self.aim, self.target, kept, answers)
        library = self.supposed.library
        return Planned(kept, answers, self.aim, self.target, sentence, library)

    def _looked_for(self, stage: Any, most: int) -> tuple[list[Point], dict[float, Point]]:
        """Find the right numbers of rows with few tables, then look closely around them."""
        rough = dict(self._bracketed(stage, most))
        lowest = min(rough.values()) / 4
        steps = int(np.ceil(2 * np.log2(max(rough.values()) / lowest)))
        sizes = (lowest * 2 ** (k / 2) for k in range(steps + 1))
        grid = sorted({min(rounded_up(n), most) for n in sizes})
        points = self._at(stage, grid)
        while None in self._crossings(points).values() and grid[-1] < most:
            grid.append(min(rounded_up(grid[-1] * np.sqrt(2)), most))
            points += self._at(stage, grid[-1:])
        return self._looked_at(stage, points)

    def _looked_at(self, stage: Any, points: list[Point]) -> tuple[list[Point], dict[float, Point]]:
        """Look at the answers themselves, with tables that had no part in choosing them.

        An answer that turns out to be too small moves the curve, and with it the answer.
        """
        answers: dict[float, Point] = {}
        for _ in range(LOOKS):
            good = {factor for factor, point in answers.items() if self._may_do(point)}
            taken = {point.rows for point in points}
            needs = {
                factor: _not_in(taken, n)
                for factor, n in self._crossings(points).items()
                if n is not None and factor not in good
            }
            points = points + self._at(stage, sorted(set(needs.values())))
            at = {(point.factor, point.rows): point for point in points}
            answers |= {factor: at[factor, n] for factor, n in needs.items()}
        return points, answers

    def _bracketed(self, stage: Any, most: int) -> Iterator[tuple[float, int]]:
        """For each factor a number of rows that is about enough, by doubling with few tables."""
        few = max(10, self.graphs // 5)
        n = self._least_rows()
        for factor in sorted(self.factors, reverse=True):
            while n < most:
                (point,) = self._points(stage, {factor: [n]}, few)
                if self._reaches(point):
                    break
                n = min(rounded_up(2 * n), most)
            yield factor, n

    def _least_rows(self) -> int:
        """With fewer, not even the strongest link would be found as a rule."""
        needed = 2.0 * FalseEdges(0.05).threshold(1.0, self.supposed.columns)
        return rounded_up(max(20.0, needed / (self.supposed.strongest / 4) ** 2))

    def _at(self, stage: Any, rows: Sequence[int]) -> list[Point]:
        """All tables of these numbers of rows, for every factor."""
        return self._points(stage, dict.fromkeys(self.factors, rows), self.graphs)

    def _points(self, stage: Any, rows: Mapping[float, Sequence[int]], graphs: int) -> list[Point]:
        designs = [self._design(factor, sizes) for factor, sizes in rows.items() if len(sizes)]
        if not designs:
            return []
        cells = list(Cells(designs, [Method(self.method, self.learn)], graphs).cells())
        records = stage(cells)
        points = []
        for factor, sizes in rows.items():
            for n in sizes:
                of_point = [
                    records[cell.key]
                    for cell in cells
                    if cell.draw.n == n and cell.draw.design.name == self._name(factor)
                ]
                points.append(_point(factor, n, of_point))
        return points

    def _name(self, factor: float) -> str:
        return f"plan/{self.supposed.key}/factor={factor:g}/seed={self.seed}"

    def _design(self, factor: float, rows: Sequence[int]) -> Design:
        sample = partial(_draw, self.supposed, factor)
        p = self.supposed.columns
        return Design(self._name(factor), p, 1, sample, tuple(rows), unit="n")

    def _measure(self, point: Point) -> float:
        return point.recovered if self.aim == "graph" else point.found

    def _reaches(self, point: Point) -> bool:
        return self._measure(point) >= self.target

    def _may_do(self, point: Point) -> bool:
        """Whether what was seen does not speak against the target."""
        return (point.high if self.aim == "graph" else point.found + NEARLY) >= self.target

    def _crossings(self, points: Sequence[Point]) -> dict[float, int | None]:
        return {factor: self._crossing(points, factor) for factor in self.factors}

    def _crossing(self, points: Sequence[Point], factor: float) -> int | None:
        """The rows at which a rising curve through the points reaches the target."""
        own = sorted((at for at in points if at.factor == factor), key=lambda at: at.rows)
        heights = monotone([self._measure(at) for at in own], [at.graphs for at in own])
        there = np.flatnonzero(heights >= self.target - 1e-12)
        if not len(there):
            return None
        i = int(there[0])
        if i == 0:
            return own[0].rows
        share = (self.target - heights[i - 1]) / (heights[i] - heights[i - 1])
        low, high = np.log(own[i - 1].rows), np.log(own[i].rows)
        return rounded_up(float(np.exp(low + share * (high - low))))


def _sound(record: Mapping[str, Any]) -> bool:
    return "" in record["settings"]


def _point(factor: float, n: int, records: Sequence[Mapping[str, Any]]) -> Point:
    failed = [record["failed"] for record in records if "failed" in record]
    if failed:
        raise SettingError(f"no table of {n} rows could be drawn and learned from: {failed[0]}")
    false, missed = np.array([record["settings"][""] for record in records]).T
    true = np.array([record["true"] for record in records])
    exact = int(((false == 0) & (missed == 0)).sum())
    low, high = wilson(exact, len(records))
    found = np.where(true > 0, 1 - missed / np.maximum(true, 1), 1.0)
    graphs = len(records)
    return Point(
        factor, n, graphs, exact / graphs, low, high, float(found.mean()), float(false.mean())
    )


def _first(points: Sequence[Point], factor: float, reaches: Any) -> Point | None:
    own = sorted((at for at in points if at.factor == factor), key=lambda at: at.rows)
    return next((at for at in own if reaches(at)), None)


def _not_in(taken: set[int], n: int) -> int:
    """The number itself, or one a little larger."""
    return _not_in(taken, rounded_up(n + 1)) if n in taken else n
