"""How many rows do I need? By simulation: draw tables of the kind supposed, learn, count."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.engine import Progress
from isinglass.errors import Setting, SettingError, Wording
from isinglass.estimators import GreedyGraph
from isinglass.experiments import Cell, Design, Draw, Method, crossing, monotone, run, wilson
from isinglass.experiments.plan import Codes, Edges
from isinglass.losses.forms import TABLE
from isinglass.parameters import checked
from isinglass.repeating import RECORDS, Record, as_recorded, formerly
from isinglass.selection import FalseEdges, Selector, selector
from isinglass.table import encode
from isinglass.uncertainty.power.planned import Planned, Point, sentence_of
from isinglass.uncertainty.power.supposed import Guess, Pilot, Supposition, coupling_of
from isinglass.wording import rounded_up

#: No plan looks at more rows, unless asked to.
MOST_ROWS = 100_000
#: How often an answer is looked at, and moved if it does not hold.
LOOKS = 8


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
    clusters: ArrayLike | str | None = None,
    missing: str = "error",
    n_eff: float | str = "sum",
    bins: dict[str, int | Sequence[float]] | None = None,
    max_states: int = 32,
    high: dict[str, Any] | None = None,
    threshold: float | str | Selector = "auto",
    rule: str = "or",
    edges: str | None = None,
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
    client: Any = None,
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
        Intercepts are drawn uniformly from minus this to this, so that states are not equally
        common.
    pilot : array or data frame, optional
        Instead of the five above. One half of its rows chooses the graph; couplings are fitted to
        the other half.
    sample_weight, clusters, missing, n_eff, bins, max_states, high
        How the pilot table is read, as in `GreedyGraph`. Halves are of whole clusters; the rows
        that are planned for are independent.
    threshold, rule
        Of the search, as in `GreedyGraph`.
    edges : "auto", "table" or "scores", optional
        Which forms links may have, as in `GreedyGraph`. With "auto" and "scores", columns of more
        than two states are ordered and links are products of scores, of the size that is given; or
        the columns are ordered as those of the pilot table are. By default "table", or for a pilot
        table what `GreedyGraph` does by default.
    factors : sequence of float
        What the couplings are multiplied by; 1 is what you expect.
    target : float
        The probability, or the share, to be reached. With the default threshold a probability above
        0.95 cannot be reached, whatever the rows: about one graph in twenty has a false edge.
    aim : "graph" or "edges", optional
        What the target is for: the probability of recovering the whole graph, or the mean share of
        the edges found. By default the graph, but the edges for a pilot table, some of whose links
        may be very weak.
    rows : sequence of int, optional
        Numbers of rows to look at; by default, those around the answer.
    most_rows : int
        The largest number of rows to try.
    graphs : int
        Tables per point.
    seed, path, n_jobs, client
        As for `resample`; the file has one line per table, and jobs are processes.
    progress : function of (tables done, tables in this stage), optional

    Examples
    --------
    >>> import isinglass as ig
    >>> result = ig.plan(columns=6, degree=2, coupling=0.6, rows=[200, 400], graphs=20, n_jobs=1)
    >>> [(at.factor, at.rows, at.graphs) for at in result.points]
    [(0.7, 200, 20), (0.7, 400, 20), (1.0, 200, 20), (1.0, 400, 20)]
    """
    if pilot is None:
        if columns is None or degree is None or (coupling is None) == (odds_ratio is None):
            raise SettingError(
                *("a plan needs ", Setting("columns"), ", ", Setting("degree"), ", and either "),
                *(Setting("coupling"), " or ", Setting("odds_ratio"), "; or "),
                Wording("a pilot table.", "--pilot FILE."),
            )
        if coupling is None:
            assert odds_ratio is not None
            coupling = coupling_of(odds_ratio, states)
        forms = edges or TABLE
        supposed: Supposition = Guess(columns, degree, abs(coupling), states, intercept, forms)
    elif any(given is not None for given in (columns, degree, coupling, odds_ratio)):
        raise SettingError("give a pilot table, or columns, degree and coupling; not both.")
    else:
        table = encode(
            pilot,
            sample_weight,
            clusters,
            missing=missing,
            n_eff=n_eff,
            bins=bins,
            max_states=max_states,
            high=high,
        )
        supposed = Pilot(table, seed, edges or GreedyGraph().edges)
    method = f"{as_recorded(selector(threshold))}, {rule}".replace("/", ":")
    with tempfile.TemporaryDirectory() as temporary:
        work = _Work(
            supposed,
            Method(method, partial(supposed.learn, threshold=threshold, rule=rule)),
            aim or ("graph" if pilot is None else "edges"),
            target,
            tuple(sorted({float(factor) for factor in factors})),
            graphs,
            seed,
            partial(
                run,
                path=path or os.path.join(temporary, RECORDS),
                work="a plan",
                sound=lambda record: "" in record["settings"],
                n_jobs=n_jobs,
                progress=progress,
                client=client,
            ),
        )
        return work.answered(rows, most_rows)


def _draw(supposed: Supposition, factor: float, n: int, seed: int) -> tuple[Codes, Edges]:
    of_field, of_rows = (int(s) for s in np.random.SeedSequence(seed).generate_state(2))
    field = supposed.field(factor, of_field)
    return field.sample_codes(n, seed=of_rows, n_jobs=1), list(field.couplings)


@dataclass(frozen=True)
class _Work:
    """The steps from a supposition to an answer."""

    supposed: Supposition
    method: Method
    aim: str
    target: float
    factors: tuple[float, ...]
    graphs: int
    seed: int
    run: Callable[[list[Cell]], dict[str, Record]]

    def answered(self, rows: Sequence[int] | None, most: int) -> Planned:
        if rows is not None:
            points, answers = self._points(rows), {}
            for point in sorted(filter(self._reaches, points), key=lambda at: -at.rows):
                answers[point.factor] = point
        else:
            points, answers = self._looked_at(self._looked_for(most), most)
        kept = tuple(sorted(points, key=lambda at: (at.factor, at.rows)))
        answers = {factor: answers[factor] for factor in self.factors if factor in answers}
        sentence = sentence_of(self.supposed, self.aim, self.target, kept, answers)
        return Planned(kept, answers, self.aim, self.target, sentence, self.supposed.library)

    def _looked_for(self, most: int) -> list[Point]:
        """Find the right numbers of rows with few tables, then look closely around them."""
        rough = self._bracketed(most)
        lowest = min(rough) / 4
        steps = int(np.ceil(2 * np.log2(max(rough) / lowest)))
        sizes = (lowest * 2 ** (k / 2) for k in range(steps + 1))
        grid = sorted({min(rounded_up(n), most) for n in sizes})
        return self._extended(self._points(grid), most)

    def _extended(self, points: list[Point], most: int) -> list[Point]:
        """The same points, and more to their right until every curve reaches the target."""
        while None in self._crossings(points).values():
            last = max(point.rows for point in points)
            if last >= most:
                break
            points = points + self._points([min(rounded_up(last * np.sqrt(2)), most)])
        return points

    def _looked_at(self, points: list[Point], most: int) -> tuple[list[Point], dict[float, Point]]:
        """Look at the answers themselves, with tables that had no part in choosing them.

        An answer that falls short of the target moves the curve, and with it the answer. If that
        does not end, the answer is the next number of rows that reached it.
        """
        answers: dict[float, Point] = {}
        for _ in range(LOOKS):
            taken = {point.rows for point in points}
            needs = {
                factor: _not_in(taken, n)
                for factor, n in self._crossings(points).items()
                if n is not None and factor not in answers
            }
            points = points + self._points(sorted(set(needs.values())))
            looked_at = [at for at in points if needs.get(at.factor) == at.rows]
            answers |= {at.factor: at for at in looked_at if self._reaches(at)}
            points = self._extended(points, most)
        for factor, n in self._crossings(points).items():
            above = [at for at in points if at.factor == factor and at.rows >= (n or np.inf)]
            enough = sorted(filter(self._reaches, above), key=lambda at: at.rows)
            if factor not in answers and enough:
                answers[factor] = enough[0]
        return points, answers

    def _bracketed(self, most: int) -> list[int]:
        """For each factor a number of rows that is about enough, by doubling with few tables."""
        few = max(10, self.graphs // 5)
        # With fewer rows, not even the strongest link would be found as a rule.
        needed = 2.0 * FalseEdges(0.05).threshold(1.0, self.supposed.columns)
        n = rounded_up(max(20.0, needed / (self.supposed.strongest / 4) ** 2))
        enough = []
        for factor in reversed(self.factors):
            while n < most:
                (point,) = self._points([n], [factor], few)
                if self._reaches(point):
                    break
                n = min(rounded_up(2 * n), most)
            enough.append(n)
        return enough

    def _points(
        self,
        rows: Sequence[int],
        factors: Sequence[float] | None = None,
        graphs: int | None = None,
    ) -> list[Point]:
        """Tables of some numbers of rows; by default all of them, for every factor."""
        cells = {
            (factor, n): [
                Cell(Draw(self._design(factor), n, i), self.method)
                for i in range(graphs or self.graphs)
            ]
            for factor in factors or self.factors
            for n in rows
        }
        records = self.run([cell for each in cells.values() for cell in each]) if cells else {}
        return [
            _point(factor, n, [records[cell.key] for cell in each])
            for (factor, n), each in cells.items()
        ]

    def _design(self, factor: float) -> Design:
        name = f"plan/{self.supposed.key}/factor={factor:g}/seed={self.seed}"
        sample = partial(_draw, self.supposed, factor)
        return Design(name, self.supposed.columns, 1, sample, (), unit="n")

    def _measure(self, point: Point) -> float:
        return point.recovered if self.aim == "graph" else point.found

    def _reaches(self, point: Point) -> bool:
        return self._measure(point) >= self.target

    def _crossings(self, points: Sequence[Point]) -> dict[float, int | None]:
        """The rows at which a rising curve through the points reaches the target."""
        rows = {}
        for factor in self.factors:
            own = sorted((at for at in points if at.factor == factor), key=lambda at: at.rows)
            heights = monotone([self._measure(at) for at in own], [at.graphs for at in own])
            found = crossing([float(np.log(at.rows)) for at in own], heights, self.target)
            between = rounded_up(float(np.exp(found.beta)))
            rows[factor] = {">": None, "<=": own[0].rows}.get(found.bound, between)
        return rows


def _point(factor: float, n: int, records: Sequence[Record]) -> Point:
    failed = [record["failed"] for record in records if "failed" in record]
    if failed:
        raise SettingError(f"no table of {n} rows could be drawn and learned from: {failed[0]}")
    false, missed = np.array([record["settings"][""] for record in records]).T
    true = np.array([record["true"] for record in records])
    exact, graphs = int(((false == 0) & (missed == 0)).sum()), len(records)
    low, high = wilson(exact, graphs)
    found = np.where(true > 0, 1 - missed / np.maximum(true, 1), 1.0)
    shares = exact / graphs, low, high, float(found.mean()), float(false.mean())
    return Point(factor, n, graphs, *shares)


def _not_in(taken: set[int], n: int) -> int:
    """The number itself, or one a little larger."""
    return _not_in(taken, rounded_up(n + 1)) if n in taken else n
