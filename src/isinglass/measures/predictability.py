"""How well each column is predicted by its neighbours, on rows that were not learned from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isinglass.engine.available import seen_rows
from isinglass.estimators.base import GraphEstimator
from isinglass.estimators.folds import Split, learn_like, splits
from isinglass.estimators.score import refit_conditionals
from isinglass.parameters import checked

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Predictability:
    """How often a column's held-out cells are predicted.

    Attributes
    ----------
    accuracy : float
        Share of cells whose most likely state, given the row's other cells, is the true one.
    base_rate : float
        The same for the commonest state of the rows learned from: no other cell is looked at.
    """

    accuracy: float
    base_rate: float

    @property
    def gain(self) -> float | None:
        """(accuracy - base_rate) / (1 - base_rate): 0 no better than the base rate, 1 perfect.

        It is below 0 where the neighbours mislead, and None where there is nothing to gain.

        >>> Predictability(accuracy=0.75, base_rate=0.5).gain
        0.5
        """
        room = 1.0 - self.base_rate
        return (self.accuracy - self.base_rate) / room if room > 1e-12 else None


@checked
def predictability(
    estimator: GraphEstimator,
    *,
    folds: int = 5,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Mapping[str, Predictability]:
    """Cross-validate how well each column is predicted by its neighbours.

    The measure is the normalised accuracy of Haslbeck and Waldorp ("How well do network models
    predict observations? On the importance of predictability in network models", Behavior
    Research Methods 50, 2018), here on held-out rows: for each fold the graph is learned again
    from the other folds by the same estimator, each column's conditional is refitted there, and
    the fold's cells are predicted. So neither the choice of edges nor their sizes have seen the
    cells.

    Parameters
    ----------
    estimator : fitted graph estimator
        It keeps the rows it learned from.
    folds : int
    seed : int
        For the split into folds. A row of weight w is w rows that may go to different folds.
    progress : function of (folds done, folds in all), optional

    Returns
    -------
    dict of Predictability
        By name. Rows with a state that the other folds lack are not counted.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=1.0, signs="positive")
    >>> found = predictability(ig.GreedyGraph().fit(field.sample(2000, seed=0)))
    >>> bool(found["x1"].gain > 0.7)
    True
    """
    check_is_fitted(estimator)
    table = estimator.table_
    right = np.zeros((2, len(table.columns)))
    counted = np.zeros(len(table.columns))
    for done, split in enumerate(splits(table, folds, seed), start=1):
        graph = learn_like(estimator, split.training)
        fits = refit_conditionals(graph, split.training)
        for r, fit in enumerate(fits):
            weights, hits = _hits(split, r, fit.scores)
            right[:, r] += hits @ weights
            counted[r] += weights.sum()
        if progress is not None:
            progress(done, folds)
    counted = np.maximum(counted, np.finfo(float).tiny)
    return {
        name: Predictability(float(ours), float(base))
        for name, ours, base in zip(table.names, *(right / counted), strict=True)
    }


def _hits(split: Split, r: int, scores: Callable[[NDArray[Any]], Array]) -> tuple[Array, Array]:
    """Weights of the rows where a column is seen; and whether we, and its mode, are right there."""
    seen, known = seen_rows(split.rows, r), seen_rows(split.training, r)
    codes, true = split.rows.codes[seen], split.rows.codes[seen, r]
    common = np.bincount(split.training.codes[known, r], split.training.weights[known]).argmax()
    hits = np.array([scores(codes).argmax(axis=1) == true, true == common], dtype=np.float64)
    return split.rows.weights[seen], hits
