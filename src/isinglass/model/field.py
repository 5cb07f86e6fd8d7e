"""A pairwise Markov random field over named columns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from isinglass.model.inference.sampling import Sampling
from isinglass.model.potentials import CONDITION, MEMORY
from isinglass.model.predicting import Predicting
from isinglass.notebook import small_table
from isinglass.parameters import checked
from isinglass.wording import counted

if TYPE_CHECKING:
    from isinglass.record.fit_record import FitRecord

__all__ = ["MEMORY", "MarkovField"]


class MarkovField(Predicting, Sampling):
    """A pairwise model of discrete columns; frozen.

    The probability of a row x is proportional to the exponential of its log-potential, the sum
    of ``intercepts[i][x_i]`` over columns and ``couplings[i, j][x_i, x_j]`` over edges, where
    x_i is the code of a state: its place in ``states[i]``. All are in the zero-sum gauge: an
    intercept sums to zero, and so do the rows and the columns of a coupling. `from_potentials`
    takes numbers in any gauge.

    For an Ising model with states -1 and +1 the coupling theta is the table
    [[theta, -theta], [-theta, theta]], and the field h the intercept [-h, h].

    Parameters
    ----------
    names : tuple of str
        The columns, in their order.
    states : tuple of tuple
        The labels of each column's states.
    intercepts : tuple of arrays, shapes (m_i,)
    couplings : dict of arrays
        From (i, j), i < j, to the table of shape (m_i, m_j).
    library : str, optional
        The data-frame library that `sample` answers in; None for arrays.
    unbounded : frozenset of (i, j), optional
        Edges whose table the rows left open: its size means nothing.
    cuts : dict, optional
        From binned columns to their inner cut points: rows may then hold raw numbers there.
    errors : ParameterErrors, optional
        Standard errors of a fit; `isinglass.with_errors` attaches them.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(5), signs="positive")
    >>> field
    MarkovField(5 columns, 4 edges)
    >>> field.couplings[0, 1].tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    >>> field.sample(2000, seed=1).shape
    (2000, 5)
    >>> ig.GreedyGraph().fit(field.sample(2000, seed=1)).graph_ == field.graph
    True
    """

    @checked
    def save(self, path: str | os.PathLike[str], *, fit: FitRecord | None = None) -> None:
        """Write the model to a JSON file, and with it the record of the fit it came from.

        The file is plain data; see ``docs/files.md``.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     field.save(f"{folder}/model.json")
        ...     ig.MarkovField.load(f"{folder}/model.json")
        MarkovField(3 columns, 2 edges)
        """
        from isinglass.model.files import save_model

        save_model(self, path, fit)

    @classmethod
    @checked
    def load(cls, path: str | os.PathLike[str]) -> MarkovField:
        """Read a model that `save` wrote; a file that is none is a FileError, and runs nothing.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     field.save(f"{folder}/model.json")
        ...     ig.MarkovField.load(f"{folder}/model.json").names
        ('x0', 'x1', 'x2')
        """
        from isinglass.model.files import load_model

        return load_model(path)

    def __repr__(self) -> str:
        columns, edges = counted(len(self.names), "column"), counted(len(self.couplings), "edge")
        return f"MarkovField({columns}, {edges})"

    def _repr_html_(self) -> str:
        """Strongest edges as a small table, for notebooks."""
        size = {(e.source, e.target): e.size for e in self.graph.links}
        pairs = sorted(size, key=lambda pair: -size[pair])
        heads = ["source", "target", "states", "log odds ratio", "unbounded"]
        rows = [
            [
                *(self.names[i], self.names[j]),
                f"{self.n_states[i]} x {self.n_states[j]}",
                self._log_odds_in_words((i, j)),
                "yes" if (i, j) in self.unbounded else "",
            ]
            for i, j in pairs
        ]
        note = "" if self.errors is None else f"; errors hold {CONDITION}"
        return small_table(f"{self!r}{note}", heads, rows, "edges, weaker than these")

    def _log_odds_in_words(self, pair: tuple[int, int]) -> str:
        """The one log odds ratio of two columns of two states, with its error; else nothing."""
        if self.couplings[pair].shape != (2, 2) or pair in self.unbounded:
            return ""
        ratio = f"{4.0 * self.couplings[pair][1, 1]:.2f}"
        error = None if self.errors is None else self.errors.of_log_odds(pair, (0, 0))
        return ratio if error is None else f"{ratio} ± {error[1, 1]:.2f}"
