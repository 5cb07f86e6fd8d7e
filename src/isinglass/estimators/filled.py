"""Algorithm 2 where values are missing: they are filled from the model that is being learned.

Structural EM by draws. A model fills the missing cells several times over, given the cells that are
seen; the filled tables are stacked, each with its share of the weight, and searched; the graph found
is fitted to the stack, and its model fills the cells again, until the graph stands.
(Friedman, "Learning belief networks in the presence of missing values and hidden variables", 1997.)

Drawn cells are not information. How many times a chi-square the gain of a pair without effect is,
on the stack, is found for every pair (see :mod:`isinglass.estimators.information`), and divides it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from isinglass.core import all_pair_counts
from isinglass.engine import Progress, Runs, pairs_at, threads_for
from isinglass.engine.runs import Choices, Ends
from isinglass.estimators.information import Information, information_of
from isinglass.graph import Graph, Unvalued
from isinglass.losses.association import pair_information
from isinglass.model import MarkovField, fit_model
from isinglass.model.inference.filling import MissingCells
from isinglass.selection import TENTATIVE
from isinglass.solvers.cuts import Cuts
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.solvers.path import Path
from isinglass.table import Table

Array = NDArray[np.float64]
Pair = tuple[int, int]
Learn = Callable[..., Runs]

#: Filled tables in a stack.
DRAWS = 8
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
    ended : str
        Why no more rounds were made.
    by_gibbs : int
        Rows that were not drawn exactly.
    """

    runs: Runs
    table: Table
    came: Table
    model: MarkovField
    information: Information
    draws: int
    rounds: int
    ended: str
    by_gibbs: int

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


STANDS = "the graph stands"
CYCLES = "the graph comes and goes"
STOPPED = "the graph did not stand"


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
    """Run Algorithm 2 on a table whose missing values are filled; one without any is just searched."""
    if not table.by_model:
        return learn(table, floor, n_jobs=n_jobs, progress=progress)
    threads = threads_for(n_jobs, len(table.columns))
    cells = MissingCells.of(table)
    tentative = TENTATIVE.threshold(table.n, len(table.columns))
    model = first_model(table, tentative, intercept, threads)
    known: list[frozenset[Pair]] = [frozenset(model.couplings)]
    for round_ in range(1, ROUNDS + 1):
        filled, by_gibbs = cells.filled(model, DRAWS, seed, threads)
        information = information_of(filled, DRAWS, model)
        runs = learn(
            filled, min(floor, tentative), n_jobs=n_jobs, progress=progress, scales=information.scales
        )
        pairs = pairs_at(runs, tentative, rule)
        refitted = fit_model(filled, _graph(table, pairs), intercept=intercept)
        moved = distance(model, refitted, filled.n)
        done = FilledRuns(
            runs, filled, table, model, information, DRAWS, round_, STANDS, by_gibbs
        )
        if DEBUG:
            print(round_, len(pairs), len(pairs ^ known[-1]), moved, by_gibbs)
        if pairs == known[-1] and moved < 0.1:
            return done
        known.append(pairs)
        model = refitted
    return done

DEBUG = False

def distance(one: MarkovField, other: MarkovField, n: float) -> float:
    return max(
        (float(n * np.square(table - other.couplings[pair]).mean()) for pair, table in one.couplings.items() if pair in other.couplings),
        default=0.0,
    )


def first_model(table: Table, threshold: float, intercept: bool, threads: int) -> MarkovField:
    """A tree: the best one by the rows in which two columns are both seen (Chow and Liu, 1968)."""
    states = np.asarray(table.n_states)
    answer = np.concatenate([np.arange(m) < a for m, a in zip(states, table.n_answers, strict=True)])
    cells = all_pair_counts(table.codes, table.weights, table.n_states, threads)
    begin = np.cumsum([0, *table.n_answers[:-1]])
    information = pair_information(cells[np.ix_(answer, answer)], begin) / table.n
    free = np.asarray(table.n_answers) - 1
    gains = one_parameter_gain(information, np.maximum(np.outer(free, free), 1), table.n)
    sources, targets = np.nonzero(np.triu(gains > threshold, 1))
    ranks = np.empty(len(sources))
    ranks[np.argsort(-gains[sources, targets], kind="stable")] = np.arange(1, len(sources) + 1)
    forest = minimum_spanning_tree(csr_array((ranks, (sources, targets)), shape=gains.shape))
    pairs = frozenset((min(a, b), max(a, b)) for a, b in zip(*map(np.ndarray.tolist, forest.nonzero()), strict=True))
    return fit_model(table, _graph(table, pairs), intercept=intercept)


def _graph(table: Table, pairs: frozenset[Pair]) -> Graph:
    """A graph without numbers."""
    return Graph(table.names, Unvalued(sorted(pairs), tuple), table.library)
