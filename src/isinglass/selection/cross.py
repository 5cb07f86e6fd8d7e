"""Held-out pseudo-likelihood of every graph of the folds' runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.families import softmax_terms
from isinglass.selection.choice import Look, Selection, at_floor, curve_of
from isinglass.selection.rules import LEAST, Checked
from isinglass.solvers.cuts import Cuts
from isinglass.table import Drawer, Table
from isinglass.table.draws import Counts

Array = NDArray[np.float64]
Kept = Sequence[NDArray[np.intp]]


@dataclass(frozen=True, repr=False)
class CrossValidated(Checked):
    """The sparsest graph that predicts held-out rows about as well as the best one.

    Each fold is left out in turn, the search is run on the others, and every graph of its path
    predicts the fold: the score is the log-likelihood of each column given the neighbours that its
    own search found, summed over columns, a mean over rows. A threshold stands for the same
    evidence in all runs, 2 n times itself, so it is larger where a fold is left out. The largest
    threshold whose mean score is within one standard error (over the folds) of the best is chosen.

    What predicts best is not the true graph: cross-validation admits too many edges, and the
    one-standard-error choice corrects only a part of that. It says nothing about any one edge.

    Folds are dealt so that rare states come into many of them. Where the other folds still lack a
    state, the rows that have it are left out of that column's score; `Selection.why` counts them.
    A neighbour in a state that was not seen says nothing.

    Examples
    --------
    >>> CrossValidated()
    CrossValidated(folds=5, seed=0): the sparsest graph within one standard error of the best
    predictor of held-out rows
    """

    folds: int = 5
    seed: int = 0
    words = "the sparsest graph within one standard error of the best predictor of held-out rows"

    def floor(self, n: float, p: int) -> float:
        """Return 1/n, at which an edge of one parameter just pays for its parameter (AIC)."""
        return max(1.0 / n, LEAST)

    def select(self, look: Look) -> Selection:
        """Let every graph of each fold's run predict the fold."""
        thresholds = look.thresholds
        scores, lacking = self.scores(look, thresholds)
        mean = scores.mean(axis=0)
        error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
        best = int(np.argmax(mean))
        chosen = int(np.argmax(mean >= mean[best] - error[best]))
        edges = look.edge_counts(thresholds)
        left_out = (
            f" {lacking:g} values were left out of the scores: no training row has their state."
        )
        return Selection(
            repr(self),
            float(thresholds[chosen]),
            curve_of(thresholds, edges, score=mean, error=error),
            f"the graph with {edges[best]} edges predicts held-out rows best (score "
            f"{mean[best]:.6g}, standard error {error[best]:.2g}); the one with {edges[chosen]} "
            f"edges is the sparsest within one standard error."
            f"{at_floor(chosen, thresholds)}{left_out if lacking else ''}",
            "score",
        )

    def scores(self, look: Look, thresholds: Array) -> tuple[Array, float]:
        """Mean score of each fold at each threshold; and the cells left out, by weight."""
        drawer = Drawer.of(look.table)
        folds = drawer.folds(np.random.default_rng(self.seed), int(self.folds))
        scores, lacking = np.zeros((len(folds), len(thresholds))), 0.0
        for at, fold in enumerate(folds):
            train, kept = drawer.table_of(drawer.copies - fold)
            cuts, here = look.others(train, thresholds)
            held = _Held(drawer, fold, train, kept)
            for r, of_column in enumerate(cuts):
                own, without = held.scores(r, of_column)
                scores[at] += own[of_column.at(here)]
                lacking += without
            scores[at] /= held.weights.sum()
            look.progress(at + 1, len(folds))
        return scores, lacking


class _Held:
    """Held-out rows, in the states of the training rows; -1 for a state that they lack."""

    def __init__(self, drawer: Drawer, fold: Counts, train: Table, kept: Kept) -> None:
        held = fold > 0
        self.weights = (fold * drawer.weight)[held]
        self.answers = train.n_answers
        table, wide = drawer.table, drawer.table.wide.codes[held]
        self.seen = table.codes[held] < np.asarray(table.n_answers)  # not missing
        self.codes = np.empty(wide.shape, dtype=np.intp)
        for t, states in enumerate(kept):
            at = np.minimum(np.searchsorted(states, wide[:, t]), len(states) - 1)
            self.codes[:, t] = np.where(states[at] == wide[:, t], at, -1)

    def scores(self, r: int, cuts: Cuts) -> tuple[Array, float]:
        """Log-likelihood of column r under each of its fits; and the weight of rows left out."""
        own = self.codes[:, r]
        known = self.seen[:, r] & (own >= 0) & (own < self.answers[r])
        codes, weights = self.codes[known], self.weights[known]
        scores = [
            _log_likelihood(fit.intercept, {**fit.coef, **fit.always}, codes, r) @ weights
            for fit in cuts.fits
        ]
        return np.array(scores), float(self.weights[self.seen[:, r] & ~known].sum())


def _log_likelihood(
    field: Array, tables: dict[int, Array], codes: NDArray[np.intp], r: int
) -> Array:
    scores = np.tile(field, (len(codes), 1))
    for t, table in tables.items():
        padded = np.vstack([table.T, np.zeros(len(field))])  # the last is for states not seen
        scores += padded[codes[:, t]]
    return -softmax_terms(scores, np.eye(len(field))[codes[:, r]])[0]
