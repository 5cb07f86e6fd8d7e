"""Cells filled and a model fitted in turn on a known graph, until the model stands still.

This is EM with draws, and it is slow where much is missing: with a share f of the information lost,
a step covers only the share 1 - f of the way. So the first steps are 1 / (1 - f) times as long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from isinglass.core import all_pair_counts
from isinglass.engine import threads_for
from isinglass.estimators.information import rough_information
from isinglass.graph import Graph, Unvalued
from isinglass.losses.association import pair_information
from isinglass.model import MarkovField, fit_model
from isinglass.model.fit.joint import fit_near
from isinglass.model.inference.filling import MissingCells
from isinglass.model.potentials import zero_sum
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.table import Table

Array = NDArray[np.float64]
Pair = tuple[int, int]

#: Filled tables in a stack, at least and at most.
LEAST_DRAWS, MOST_DRAWS = 5, 32
#: The share of their variance that estimates may have from draws being few.
NOISE = 0.05
#: Steps at most, and how many of them go farther than the fit.
STEPS, FAR_STEPS = 20, 4
#: The farthest that such a step goes, in fits.
FARTHEST = 3.0
#: The chi-square, per parameter, by which a link or an intercept may still move.
SETTLED = 0.05


@dataclass(frozen=True, eq=False)
class Settled:
    """A stack of filled tables, and the model that filled it.

    Attributes
    ----------
    table : Table
    model : MarkovField
    by_gibbs : int
        Rows that were not drawn exactly.
    still : bool
        Whether a fit to the stack moves the model no more.
    """

    table: Table
    model: MarkovField
    by_gibbs: int
    still: bool


@dataclass(frozen=True, eq=False)
class Filler:
    """Fills the missing cells of a table from models of a graph."""

    cells: MissingCells
    intercept: bool
    seed: int
    threads: int

    def settle(self, model: MarkovField, draws: int, lost: Array, steps: int = STEPS) -> Settled:
        """Fill and fit until the model stands still; `lost` is about each pair's information."""
        n = self.cells.table.n
        for step in range(steps):
            filled, by_gibbs = self.cells.filled(model, draws, self.seed, self.threads)
            fitted = fit_near(filled, model, intercept=self.intercept)
            if has_settled(model, fitted, n):
                return Settled(filled, model, by_gibbs, still=True)
            model = self.farther(model, fitted, lost) if step < FAR_STEPS else fitted
        filled, by_gibbs = self.cells.filled(model, draws, self.seed, self.threads)
        return Settled(filled, model, by_gibbs, still=False)

    def fit(self, filled: Table, pairs: frozenset[Pair]) -> MarkovField:
        """Fit the model of a graph to a filled table."""
        return fit_model(filled, graph_of(filled, pairs), intercept=self.intercept)

    def farther(self, before: MarkovField, fitted: MarkovField, lost: Array) -> MarkovField:
        """Where EM is going, about; links that were not there before come from zero."""
        times = np.minimum(1.0 / np.maximum(1.0 - lost, 1e-3), FARTHEST)
        couplings = dict(fitted.couplings)
        for pair in fitted.couplings.keys() - fitted.unbounded:
            start = before.couplings.get(pair, np.zeros_like(couplings[pair]))
            couplings[pair] = centred(start + times[pair] * (couplings[pair] - start))
        seen = 1.0 - self.cells.missing.mean(axis=0) if self.intercept else np.ones(len(lost))
        intercepts = tuple(
            centred(start + (end - start) * min(1.0 / max(share, 1e-3), FARTHEST))
            for start, end, share in zip(before.intercepts, fitted.intercepts, seen, strict=True)
        )
        return replace(fitted, intercepts=intercepts, couplings=couplings)


def centred(numbers: Array) -> Array:
    """The numbers with sums of zero again: steps that go farther double what rounding left.

    >>> centred(np.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    for axis in range(numbers.ndim):
        numbers = numbers - numbers.mean(axis=axis, keepdims=True)
    return numbers


def fill_on(table: Table, graph: Graph, estimator: Any) -> tuple[Table, int]:
    """Fill a table by the model of a known graph, fitted to it; and how many copies there are.

    A table without missing values is returned as it is.
    """
    if not table.by_model:
        return table, 1
    cells, intercept = MissingCells.of(table), bool(estimator.intercept)
    threads = threads_for(estimator.n_jobs, len(table.columns))
    filler = Filler(cells, intercept, int(estimator.seed), threads)
    model, draws = fit_model(table, graph, intercept=intercept), draws_for(cells)
    return filler.settle(model, draws, rough_information(cells).lost).table, draws


def draws_for(cells: MissingCells) -> int:
    """Draws that are enough: with a share f of information lost their noise is f / (1 - f) / draws.

    It is said in units of the variance that estimates have anyway.
    """
    lost = rough_information(cells).lost
    off = lost[~np.eye(len(lost), dtype=bool)]
    needed = float(np.mean(off / (1.0 - off))) / NOISE if off.size else 0.0
    return int(np.clip(np.ceil(needed), LEAST_DRAWS, MOST_DRAWS))


def has_settled(model: MarkovField, fitted: MarkovField, n: float) -> bool:
    """Whether no link and no intercept has moved by more than a part of its standard error.

    A table of m parameters that no rows leave open has, if cells have equal shares, a chi-square of
    n times the mean square of its change.
    """
    pairs = model.couplings.keys() - model.unbounded
    moves = [model.couplings[pair] - fitted.couplings[pair] for pair in pairs]
    moves += [one - other for one, other in zip(model.intercepts, fitted.intercepts, strict=True)]
    return all(
        n * float(np.square(move).mean()) <= SETTLED * np.prod(np.array(move.shape) - 1)
        for move in moves
    )


def first_model(table: Table, threshold: float, intercept: bool, threads: int) -> MarkovField:
    """A tree: the best one by the rows in which two columns are both seen (Chow and Liu, 1968).

    The parameters of a tree are logarithms of its pairs' probabilities: nothing is fitted, unless
    there is something to adjust for.
    """
    answers = np.asarray(table.n_answers)
    is_answer = np.concatenate(
        [np.arange(m) < a for m, a in zip(table.n_states, answers, strict=True)]
    )
    cells = all_pair_counts(table.codes, table.weights, table.n_states, threads)
    cells, begin = cells[np.ix_(is_answer, is_answer)], np.cumsum([0, *answers[:-1]])
    upper = np.triu_indices(len(answers), 1)
    free, gains = np.maximum(answers - 1, 1), np.zeros((len(answers), len(answers)))
    information = pair_information(cells, begin)[upper] / table.n
    gains[upper] = one_parameter_gain(information, np.outer(free, free)[upper], table.n)
    tree = _best_tree(gains, threshold)
    if table.adjusted is not None:
        return fit_model(table, graph_of(table, frozenset(tree)), intercept=intercept)
    at = [slice(first, first + m) for first, m in zip(begin, answers, strict=True)]
    logs = {(i, j): np.log(cells[at[i], at[j]] + 0.5) for i, j in tree}
    fields = [np.log(np.diag(cells[own, own]) + 0.5) for own in at]
    degrees = np.bincount(np.array(list(logs), dtype=int).ravel(), minlength=len(at))
    fields = [(1 - d) * field for d, field in zip(degrees, fields, strict=True)]
    states = tuple(c.states[:m] for c, m in zip(table.columns, answers, strict=True))
    intercepts, couplings = zero_sum(fields, logs)
    if not intercept:
        intercepts = tuple(map(np.zeros_like, intercepts))
    return MarkovField(table.names, states, intercepts, couplings, table.library)


def _best_tree(gains: Array, threshold: float) -> list[Pair]:
    """The edges of the tree, or trees, with the largest gains, each above the threshold."""
    sources, targets = np.nonzero(gains > threshold)
    ranks = np.empty(len(sources))
    ranks[np.argsort(-gains[sources, targets], kind="stable")] = np.arange(1, len(sources) + 1)
    forest = minimum_spanning_tree(csr_array((ranks, (sources, targets)), shape=gains.shape))
    ends = np.sort(np.array(forest.nonzero()), axis=0)
    return [(int(i), int(j)) for i, j in ends.T]


def graph_of(table: Table, pairs: frozenset[Pair]) -> Graph:
    """A graph of pairs, without numbers."""
    return Graph(table.names, Unvalued(sorted(pairs), tuple), table.library)
