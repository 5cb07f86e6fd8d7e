"""What a model says about the rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError, Wording
from isinglass.graph import position_of
from isinglass.model.inference import rows
from isinglass.model.inference.completion import Completed, Drawing, complete, described, likeliest
from isinglass.model.inference.filling import refilled
from isinglass.model.inference.questions import Questions
from isinglass.model.labelled import array_type
from isinglass.model.potentials import MEMORY
from isinglass.parameters import checked

Array = NDArray[np.float64]


class Predicting(Questions):
    """Likelihoods and predictions, row by row."""

    @checked
    def log_likelihood(self, X: Any, *, memory: float = MEMORY) -> Array:
        """Log-probability of each row of a table of labels, exactly; shape (n,).

        Sampling cannot give it, so a model beyond `memory` is refused; `pseudo_log_likelihood`
        answers for any model.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> common, rare = field.log_likelihood([[1, 1, 1], [1, -1, 1]])
        >>> bool(common > rare)
        True
        """
        codes = rows.encode_rows(self, X, range(len(self.names)))
        log_partition = self._log_partition(memory, ", or take pseudo_log_likelihood")
        return self.log_potential(codes) - log_partition

    def pseudo_log_likelihood(self, X: Any) -> Array:
        """Sum over columns of log P(its cell given the rest of the row); shape (n,).

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> common, rare = field.pseudo_log_likelihood([[1, 1, 1], [1, -1, 1]])
        >>> bool(common > rare)
        True
        """
        codes = rows.encode_rows(self, X, range(len(self.names)))
        return rows.pseudo_log_likelihood(self, codes)

    def score_samples(self, X: Any) -> Array:
        """How ordinary each row is: its pseudo-log-likelihood, under scikit-learn's name.

        It takes no partition function, so any model has it; the lowest rows are the oddest.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.score_samples([[1, 1, 1], [1, -1, 1]]).argmin()  # the odd row
        np.int64(1)
        """
        return self.pseudo_log_likelihood(X)

    @checked
    def predict_proba(self, X: Any, column: str) -> Array:
        """Chances of a column's states given the rest of each row, shape (n, m).

        Only the column's neighbours are looked at: its own cells may hold anything, and a frame
        need not have it.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.predict_proba([[1, 1, 1], [-1, 1, 1]], "x1").round(2).tolist()
        [[0.04, 0.96], [0.5, 0.5]]
        """
        r = position_of(column, self.names)
        return np.exp(rows.log_chances(self, rows.encode_rows(self, X, self.tables_of(r)), r))

    @checked
    def predict(self, X: Any, column: str) -> NDArray[Any]:
        """The likeliest label of a column given the rest of each row, shape (n,).

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.predict([[1, 1, 1], [-1, 1, -1]], "x1").tolist()
        [1, -1]
        """
        best = self.predict_proba(X, column).argmax(axis=1)
        states = self.states[position_of(column, self.names)]
        labels: NDArray[Any] = np.empty(len(states), dtype=array_type([states]))
        labels[:] = states
        return np.asarray(labels[best])

    @checked
    def impute(
        self,
        X: Any,
        *,
        draws: int = 1,
        use: str = "display",
        most_likely: bool = False,
        method: str = "auto",
        memory: float = MEMORY,
        burn_in: int = 1000,
        thin: int = 10,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> Completed:
        """Complete the rows of a table: missing cells are drawn together, given those seen.

        This supposes that whether a cell is missing says nothing about what it would hold, once
        the seen cells of its row are known.

        Parameters
        ----------
        X : array or data frame
            All columns of the model, found as in `predict`; a frame may have others.
        draws : int
            How many completed tables. The first ones are the same however many there are.
        use : "display" or "inference"
            For inference, the parameters are redrawn for every table, which takes a model with
            `errors`; otherwise what one learns from the tables comes out too sure.
        most_likely : bool
            Fill in the likeliest states of a row's missing cells together, instead of a draw.
        method : "auto", "exact" or "gibbs"
            As in `sample`, for each set of missing columns that touch each other.
        memory : float
            Bytes that exact draws may take.
        burn_in, thin : int
            For Gibbs sampling, as in `sample`.
        seed : int
        progress : function of (tables done, tables in all), optional

        Returns
        -------
        Completed
            The tables, in the kind that came in, and a note on what they may be used for.

        Examples
        --------
        >>> import numpy as np
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=2.0, signs="positive")
        >>> rows = np.array([[1, np.nan, 1], [-1, np.nan, np.nan]])
        >>> completed = field.impute(rows, most_likely=True)
        >>> completed[0].tolist()
        [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]
        >>> completed.filled, len(field.impute(rows, draws=5))
        (3, 5)
        """
        self._check_use(use, most_likely, draws)
        codes, missing = rows.encode_with_gaps(self, X)
        tables = []
        for at, seed_of_table in enumerate(np.random.SeedSequence(seed).spawn(draws)):
            rng = np.random.default_rng(seed_of_table)
            model = self if use == "display" or not self.errors else self.errors.redraw(self, rng)
            fill = likeliest(memory) if most_likely else Drawing(rng, method, memory, burn_in, thin)
            completed = complete(model, codes, missing, fill)
            if isinstance(fill, Drawing):
                fill.warn()
            tables.append(refilled(self, X, completed, missing))
            if progress is not None:
                progress(at + 1, draws)
        return Completed(tuple(tables), int(missing.sum()), described(use, most_likely))

    def _check_use(self, use: str, most_likely: bool, draws: int) -> None:
        if most_likely and (use == "inference" or draws > 1):
            raise SettingError(
                "the likeliest cells are one table, for display; leave out most_likely to draw."
            )
        if use == "inference" and self.errors is None:
            raise SettingError(
                "completed tables for inference need the errors of the parameters: ",
                Wording(
                    "take isinglass.with_errors(est) instead of est.model_.",
                    "this model has none. Leave out --use inference, or save a model with errors "
                    "from Python.",
                ),
            )
