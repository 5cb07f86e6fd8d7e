"""Algorithm 2 where values are missing: they are filled from the model that is being learned.

Structural EM by draws (Friedman, "Learning belief networks in the presence of missing values and
hidden variables", ICML 1997). A model fills the missing cells several times over, given the cells
that are seen; the filled tables are stacked, each with its share of the weight, and searched; the
graph found is fitted to the stack, and its model fills the cells again, until the graph stands.

Drawn cells are not information. How many times a chi-square the cost of a link without effect is,
on the stack, is found for every pair (see :mod:`isinglass.estimators.information`), and divides it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from isinglass.core import all_pair_counts
from isinglass.engine import Progress, Runs, cuts_of, pairs_at, threads_for
from isinglass.engine.join import entries
from isinglass.engine.runs import Choices, Ends, progress_from
from isinglass.errors import Setting, SettingError
from isinglass.estimators.information import Information, information_of, rough_information
from isinglass.graph import Graph, Unvalued
from isinglass.losses.association import pair_information
from isinglass.model import MarkovField, fit_model
from isinglass.model.inference.filling import MissingCells
from isinglass.record.filled import Filled
from isinglass.selection import TENTATIVE
from isinglass.solvers.cuts import Cuts
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.solvers.path import Path
from isinglass.table import Note, Table
from isinglass.wording import counted, listing

Array = NDArray[np.float64]
Pair = tuple[int, int]
Learn = Callable[..., Runs]

#: Filled tables in a stack, at least, until the graph stands at most, and at most.
LEAST_DRAWS, FIRST_DRAWS, MOST_DRAWS = 5, 8, 32
#: The share of their variance that estimates may have from draws being few.
NOISE = 0.05
#: Searches at most.
ROUNDS = 20
#: The chi-square, per parameter, by which a link may still move.
SETTLED = 0.05


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
        rounds = f"{filled}; {self.rounds} searches until the graph stood"
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
        why = f"edges that come and go: {pairs}" if pairs else "couplings still move"
        return f"{filled}; after {self.rounds} searches the graph does not stand ({why})"

    @property
    def missing_cells(self) -> NDArray[np.intp]:
        """How many cells of each column were missing."""
        counts: NDArray[np.intp] = (self.came.codes >= np.asarray(self.came.n_answers)).sum(axis=0)
        return counts

    def __len__(self) -> int:
        return len(self.runs)

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
    threads = threads_for(n_jobs, len(table.columns))
    tentative = TENTATIVE.threshold(table.n, len(table.columns))
    loop = Loop(MissingCells.of(table), learn, rule, intercept, seed, threads, tentative)
    return loop.run(min(floor, tentative), progress)


@dataclass(frozen=True, eq=False)
class Loop:
    """Fill, search, fit, and again.

    The graph that fills is the one at the threshold of tentative edges: it is large enough to draw
    by, and does not depend on how the threshold of the answer is chosen.
    """

    cells: MissingCells
    learn: Learn
    rule: str
    intercept: bool
    seed: int
    threads: int
    tentative: float

    def run(self, floor: float, progress: Progress | None) -> FilledRuns:
        """Rounds until the graph stands; then further ones until its parameters do as well.

        The information about pairs takes time to find. Until the graph stands, the shares of rows
        in which columns are seen have to do; then it is found once for each graph. An edge that
        came, went and came again does not fill any more, whether it is found or not.
        """
        table = self.cells.table
        model = first_model(table, self.tentative, self.intercept, self.threads)
        graphs: list[frozenset[Pair]] = [frozenset(model.couplings)]
        restless: frozenset[Pair] = frozenset()
        information, stood, same = rough_information(self.cells), False, False
        for round_ in range(1, ROUNDS + 1):
            draws = draws_for(self.cells) if stood else min(draws_for(self.cells), FIRST_DRAWS)
            filled, by_gibbs = self.cells.filled(model, draws, self.seed, self.threads)
            if stood and not same:
                information = information_of(self.cells, filled, draws, model)
            low = self.tentative * information.least_kept
            runs = self.search(filled, information, min(floor, low), round_, progress)
            graphs.append(self.to_draw_by(runs, information, graphs[-1], low))
            restless |= _came_again(graphs)
            refitted = self.fit(filled, graphs[-1] - restless)
            same = stood and model.couplings.keys() == refitted.couplings.keys()
            stands = same and has_settled(model, refitted, table.n)
            if stands:
                break
            stood = stood or model.couplings.keys() == refitted.couplings.keys()
            model = refitted
        differ = () if stands else tuple(sorted(graphs[-1] ^ graphs[-2]))
        return FilledRuns(
            runs, filled, table, model, information, draws, round_, by_gibbs, stands, differ
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
        scales = information.scales
        return self.learn(filled, floor, n_jobs=self.threads, progress=show, scales=scales)

    def fit(self, filled: Table, pairs: frozenset[Pair]) -> MarkovField:
        """Fit the model of a graph to a filled table."""
        return fit_model(filled, graph_of(filled, pairs), intercept=self.intercept)


def refuse_filled(estimator: Any, what: str) -> None:
    """Raise SettingError if rows of a fit were filled, for work that would take them as seen."""
    if getattr(estimator, "filled_", None) is not None:
        raise SettingError(
            f"{what} would take values that were filled for values that were seen; fit with ",
            *(Setting("missing", "drop"), " to ask complete rows."),
        )


def fill_on(table: Table, graph: Graph, estimator: Any) -> tuple[Table, int]:
    """Fill a table by the model of a known graph, fitted to it; and how many copies there are.

    A table without missing values is returned as it is.
    """
    if not table.by_model:
        return table, 1
    cells, intercept = MissingCells.of(table), bool(estimator.intercept)
    threads = threads_for(estimator.n_jobs, len(table.columns))
    model = fit_model(table, graph, intercept=intercept)
    draws = draws_for(cells)
    for _ in range(ROUNDS):
        filled, _ = cells.filled(model, draws, int(estimator.seed), threads)
        refitted = fit_model(filled, graph, intercept=intercept)
        if has_settled(model, refitted, table.n):
            break
        model = refitted
    return filled, draws


def draws_for(cells: MissingCells) -> int:
    """Draws that are enough: with a share f of information lost their noise is f / (1 - f) / draws.

    It is said in units of the variance that estimates have anyway.
    """
    lost = rough_information(cells).lost
    off = lost[~np.eye(len(lost), dtype=bool)]
    needed = float(np.mean(off / (1.0 - off))) / NOISE if off.size else 0.0
    return int(np.clip(np.ceil(needed), LEAST_DRAWS, MOST_DRAWS))


def _came_again(graphs: Sequence[frozenset[Pair]]) -> frozenset[Pair]:
    """Edges of the last graph that had been in an earlier one, but not in the one before it."""
    return graphs[-1].difference(graphs[-2]).intersection(*[frozenset().union(*graphs[:-2])])


def has_settled(model: MarkovField, refitted: MarkovField, n: float) -> bool:
    """Whether no link has moved by more than a part of its standard error.

    A table of m parameters that no rows leave open has, if cells have equal shares, a chi-square of
    n times the mean square of its change.
    """
    changes = (
        (n * float(np.square(table - refitted.couplings[pair]).mean()), table)
        for pair, table in model.couplings.items()
        if pair not in refitted.unbounded
    )
    return all(change <= SETTLED * (len(t) - 1) * (len(t.T) - 1) for change, t in changes)


def first_model(table: Table, threshold: float, intercept: bool, threads: int) -> MarkovField:
    """A tree: the best one by the rows in which two columns are both seen (Chow and Liu, 1968)."""
    answers = np.asarray(table.n_answers)
    is_answer = np.concatenate(
        [np.arange(m) < a for m, a in zip(table.n_states, answers, strict=True)]
    )
    cells = all_pair_counts(table.codes, table.weights, table.n_states, threads)
    begin = np.cumsum([0, *answers[:-1]])
    information = pair_information(cells[np.ix_(is_answer, is_answer)], begin) / table.n
    free = np.maximum(answers - 1, 1)
    gains = one_parameter_gain(information, np.outer(free, free), table.n)
    sources, targets = np.nonzero(np.triu(gains > threshold, 1))
    ranks = np.empty(len(sources))
    ranks[np.argsort(-gains[sources, targets], kind="stable")] = np.arange(1, len(sources) + 1)
    forest = minimum_spanning_tree(csr_array((ranks, (sources, targets)), shape=gains.shape))
    pairs = zip(*(np.sort(np.array(forest.nonzero()), axis=0).tolist()), strict=True)
    return fit_model(table, graph_of(table, frozenset(pairs)), intercept=intercept)


def graph_of(table: Table, pairs: frozenset[Pair]) -> Graph:
    """A graph of pairs, without numbers."""
    return Graph(table.names, Unvalued(sorted(pairs), tuple), table.library)
