"""Algorithm 2 where values are missing: they are filled from the model that is being learned.

Structural EM with draws (Friedman, "Learning belief networks in the presence of missing values and
hidden variables", ICML 1997). A model fills the missing cells several times, given the observed
cells; the filled tables are stacked, each with its share of the weight, and searched; the graph
found is fitted to the stack, and its model fills the cells again, until the graph no longer
changes.

Drawn cells are not information. On the stack, the cost of a link without effect is a multiple of a
chi-square; this multiple is computed for every pair (see :mod:`isinglass.estimators.information`),
and costs are divided by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.engine import Progress, Runs, cuts_of, pairs_at, threads_for
from isinglass.engine.join import entries
from isinglass.engine.runs import Choices, Ends, progress_from
from isinglass.errors import Setting, SettingError
from isinglass.estimators.information import Information, information_of, rough_information
from isinglass.estimators.settling import STEPS, Filler, draws_for, first_model
from isinglass.model import MarkovField
from isinglass.model.inference.filling import MissingCells
from isinglass.record.filled import Filled
from isinglass.selection import TENTATIVE
from isinglass.solvers.cuts import Cuts
from isinglass.solvers.path import Path
from isinglass.table import Note, Table
from isinglass.wording import counted, listing

Pair = tuple[int, int]
Learn = Callable[..., Runs]

#: Filled tables in a stack, at most, until the graph stands.
FIRST_DRAWS = 8
#: Searches at most.
ROUNDS = 20


@dataclass(frozen=True, eq=False)
class FilledRuns(Runs):
    """The searches of a stack of filled tables, and how it came to be.

    Attributes
    ----------
    runs : Runs
    table : Table
        The stack: without missing values, with as many rows as the weights of the table say.
    came : Table
        The table as it came.
    model : MarkovField
        What filled the cells.
    information : Information
    draws, rounds : int
    by_gibbs : int
        Rows that were not drawn exactly.
    settled : bool
        Whether the last round found the graph that had filled its table.
    unsettled : tuple of pairs
        Else, the edges in which the two differ.
    """

    runs: Runs
    table: Table
    came: Table
    model: MarkovField
    information: Information
    draws: int
    rounds: int
    by_gibbs: int
    settled: bool = True
    unsettled: tuple[Pair, ...] = ()

    def notes(self) -> Iterator[Note]:
        """How the filling went."""
        filled = f"{int(self.missing_cells.sum()):,} cells were filled {self.draws} times"
        rounds = f"{filled}; {self.rounds} searches until the graph no longer changed"
        if self.settled:
            yield Note(None, "filled values", rounds)
        else:
            yield Note(None, "filled values", self._restless(filled))
        if self.by_gibbs:
            yield Note(
                None,
                "filled values",
                f"in {counted(self.by_gibbs, 'row')} too many linked columns are missing together "
                "to be drawn exactly; Gibbs sampling drew them",
            )

    def to_record(self) -> Filled:
        """What a record keeps: what is lost of every pair that some search has chosen."""
        chosen = {
            (min(r, t), max(r, t))
            for r, cuts in enumerate(cuts_of(self.runs))
            for support in cuts.supports
            for t in support
        }
        lost = {pair: float(self.information.lost[pair]) for pair in sorted(chosen)}
        missing = tuple(map(int, self.missing_cells))
        return Filled(missing, lost, self.draws, self.rounds, self.settled)

    def _restless(self, filled: str) -> str:
        names = self.table.names
        pairs = listing([f"{names[a]} -- {names[b]}" for a, b in self.unsettled], 4)
        why = f"edges that enter and leave: {pairs}" if pairs else "couplings still move"
        return f"{filled}; after {self.rounds} searches the graph still changes ({why})"

    @property
    def missing_cells(self) -> NDArray[np.intp]:
        """How many cells of each column were missing."""
        counts: NDArray[np.intp] = (self.came.codes >= np.asarray(self.came.n_answers)).sum(axis=0)
        return counts

    def __len__(self) -> int:
        return len(self.runs)

    def watched(
        self, progress: Progress | None, after: int | None = None
    ) -> AbstractContextManager[None]:
        return self.runs.watched(progress, after)

    def choices(self, threshold: float) -> Choices:
        return self.runs.choices(threshold)

    def chosen(self, threshold: float) -> Ends:
        return self.runs.chosen(threshold)

    def path(self, r: int) -> Path:
        return self.runs.path(r)

    def cuts(self, r: int) -> Cuts:
        return self.runs.cuts(r)


def learn_filled(
    table: Table,
    floor: float,
    *,
    learn: Learn,
    rule: str,
    intercept: bool,
    seed: int,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Runs:
    """Run Algorithm 2 where missing values are filled; a table without any is just searched."""
    if not table.by_model:
        return learn(table, floor, n_jobs=n_jobs, progress=progress)
    cells = MissingCells.of(table)
    filler = Filler(cells, intercept, seed, threads_for(n_jobs, len(table.columns)))
    tentative = TENTATIVE.threshold(table.n, len(table.columns))
    loop = Loop(cells, filler, learn, rule, tentative)
    return loop.run(min(floor, tentative), progress)


@dataclass(frozen=True, eq=False)
class Loop:
    """Fill until the model stands still, search, and again.

    The graph that fills is the one at the threshold of tentative edges: it is large enough to draw
    by, and does not depend on how the threshold of the answer is chosen.
    """

    cells: MissingCells
    filler: Filler
    learn: Learn
    rule: str
    tentative: float

    def run(self, floor: float, progress: Progress | None) -> FilledRuns:
        """Rounds until the graph stands, on few draws first.

        The tree that they begin with need not stand still, and of the information about pairs the
        shares of rows in which columns are seen have to do there. An edge that came, went and came
        again does not fill any more, whether it is found or not.
        """
        table, threads, every = self.cells.table, self.filler.threads, draws_for(self.cells)
        model = first_model(table, self.tentative, self.filler.intercept, threads)
        graphs: list[frozenset[Pair]] = [frozenset(model.couplings)]
        restless: frozenset[Pair] = frozenset()
        information, draws = rough_information(self.cells), min(every, FIRST_DRAWS)
        for round_ in range(1, ROUNDS + 1):
            steps = STEPS if round_ > 1 else 0
            filled = self.filler.settle(model, draws, information.lost, steps)
            if round_ > 1:
                information = information_of(self.cells, filled.table, draws, filled.model)
            low = self.tentative * information.least_kept
            runs = self.search(filled.table, information, min(floor, low), round_, progress)
            graphs.append(self.to_draw_by(runs, information, graphs[-1], low))
            restless |= _came_again(graphs)
            fill_by = graphs[-1] - restless
            stands = filled.model.couplings.keys() == fill_by
            if stands and draws == every and round_ > 1:
                break
            if stands:
                model, draws = filled.model, every
            else:
                fitted = self.filler.fit(filled.table, fill_by)
                model = self.filler.farther(filled.model, fitted, information.lost)
        stands &= filled.still
        differ = () if stands else tuple(sorted(graphs[-1] ^ graphs[-2]))
        return FilledRuns(
            runs,
            filled.table,
            table,
            filled.model,
            information,
            draws,
            round_,
            filled.by_gibbs,
            stands,
            differ,
        )

    def to_draw_by(
        self, runs: Runs, information: Information, drawn_by: frozenset[Pair], low: float
    ) -> frozenset[Pair]:
        """The edges to draw by next: those of the drawing model that pass, and others that do.

        The gains of others are diluted by draws without them, and were divided as if they were
        repeated.
        """
        passed = pairs_at(runs, self.tentative, self.rule)
        others = sorted(pairs_at(runs, low, self.rule) - passed - drawn_by)
        return passed.union(
            pair
            for pair, entry in zip(others, entries(runs, others, low, self.rule), strict=True)
            if entry > self.tentative * information.kept(pair)
        )

    def search(
        self,
        filled: Table,
        information: Information,
        floor: float,
        round_: int,
        progress: Progress | None,
    ) -> Runs:
        """Search a filled table."""
        p = len(filled.columns)
        show = progress_from(progress, (round_ - 1) * p, round_ * p)
        return self.learn(
            filled,
            floor,
            n_jobs=self.filler.threads,
            progress=show,
            scales=information.scales,
            level=self.tentative,
        )


def refuse_filled(estimator: Any, what: str) -> None:
    """Raise SettingError if rows of a fit were filled, for work that would take them as seen."""
    if getattr(estimator, "filled_", None) is not None:
        raise SettingError(
            f"{what} would treat filled values as observed ones; fit with ",
            *(Setting("missing", "drop"), " to use complete rows."),
        )


def _came_again(graphs: Sequence[frozenset[Pair]]) -> frozenset[Pair]:
    """Edges of the last graph that had been in an earlier one, but not in the one before it."""
    return graphs[-1].difference(graphs[-2]).intersection(*[frozenset().union(*graphs[:-2])])
