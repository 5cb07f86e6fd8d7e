"""What a model says about the rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.graph import position_of
from isinglass.model import rows
from isinglass.model.labelled import array_type
from isinglass.model.potentials import MEMORY
from isinglass.model.questions import Questions

Array = NDArray[np.float64]


class Predicting(Questions):
    """Likelihoods and predictions, row by row."""

    def log_likelihood(self, X: Any, *, memory: float = MEMORY) -> Array:
        """Log-probability of each row of a table of labels, exactly; shape (n,)."""
        codes = rows.encode_rows(self, X, range(len(self.names)))
        return self.log_potential(codes) - self.log_partition(memory=memory)

    def pseudo_log_likelihood(self, X: Any) -> Array:
        """Sum over columns of log P(its cell given the rest of the row); shape (n,)."""
        codes = rows.encode_rows(self, X, range(len(self.names)))
        return rows.pseudo_log_likelihood(self, codes)

    def score_samples(self, X: Any) -> Array:
        """How ordinary each row is: its pseudo-log-likelihood, under scikit-learn's name.

        It takes no partition function, so any model has it; the lowest rows are the oddest.
        """
        return self.pseudo_log_likelihood(X)

    def predict_proba(self, X: Any, column: str) -> Array:
        """Chances of a column's states given the rest of each row, shape (n, m).

        Only the column's neighbours are looked at: its own cells may hold anything, and a frame
        need not have it.
        """
        r = position_of(column, self.names)
        return np.exp(rows.log_chances(self, rows.encode_rows(self, X, self.tables_of(r)), r))

    def predict(self, X: Any, column: str) -> NDArray[Any]:
        """The likeliest label of a column given the rest of each row, shape (n,)."""
        best = self.predict_proba(X, column).argmax(axis=1)
        states = self.states[position_of(column, self.names)]
        labels: NDArray[Any] = np.empty(len(states), dtype=array_type([states]))
        labels[:] = states
        return np.asarray(labels[best])
