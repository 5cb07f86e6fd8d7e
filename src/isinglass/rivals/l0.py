"""Node-wise best subsets, by abess."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.engine import Progress
from isinglass.errors import MissingExtra
from isinglass.graph import Graph
from isinglass.rivals.base import Rival, two_states_only
from isinglass.table import Table

Codes = NDArray[np.integer[Any]]


@dataclass(repr=False, eq=False)
class L0Graph(Rival):
    """Each column on the best subset of the others, by abess (Zhu et al. 2020, 2022).

    Columns of two states. For every number of neighbours up to `max_degree` abess looks for the
    best logistic regression with that many, by exchanging columns; a criterion picks the number.
    It needs the extra ``rivals``: ``pip install 'isinglass[rivals]'``.

    Parameters
    ----------
    criterion : "gic", "bic", "ebic" or "aic"
        How the number of neighbours is chosen; abess's own default is ``"ebic"``, the authors'
        recommendation for subset selection ``"gic"``.
    max_degree : int
        The largest number of neighbours that is tried.
    rule, intercept, n_eff, n_jobs, bins, max_states, high
        As for `GreedyGraph`; `n_jobs` counts for the refits.
    missing : "error", "drop" or "state"

    Attributes
    ----------
    neighbours_ : list of list of int
        What each column chose. Other attributes are as for `GreedyGraph`.

    Examples
    --------
    >>> import isinglass as ig
    >>> ig.L0Graph()  # to fit it, the extra "rivals" must be there
    L0Graph()
    """

    criterion: str = "gic"
    _: KW_ONLY
    max_degree: int = 10
    rule: str = "or"
    intercept: bool = True

    def _find_graph(self, table: Table, progress: Progress | None) -> Graph:
        regression = _abess()
        two_states_only(table, type(self).__name__)
        self.neighbours_ = []
        for r in range(len(table.columns)):
            self.neighbours_.append(self._best_subset(regression, table, r))
            if progress is not None:
                progress(r + 1, len(table.columns))
        return self._graph(self.neighbours_, self.rule)

    def _best_subset(self, regression: Any, table: Table, r: int) -> list[int]:
        others = [t for t, m in enumerate(table.n_states) if t != r and m == 2]
        if table.n_states[r] < 2 or not others:
            return []
        model = regression(
            support_size=range(min(self.max_degree, len(others)) + 1),
            ic_type=self.criterion,
            fit_intercept=bool(self.intercept),
        )
        codes, weights = _copies(table)
        spins = 2.0 * codes[:, others] - 1.0
        model.fit(spins, codes[:, r].astype(int), sample_weight=weights)
        return [others[i] for i in np.flatnonzero(model.coef_)]


def _copies(table: Table) -> tuple[Codes, NDArray[np.float64] | None]:
    """Whole weights as copies of rows: abess takes weights for shares, not for counts."""
    if (table.weights == 1).all():
        return table.codes, None
    counts = table.weights.astype(np.intp)
    if (counts == table.weights).all():
        return np.repeat(table.codes, counts, axis=0), None
    return table.codes, table.weights


def _abess() -> Any:
    try:
        from abess.linear import LogisticRegression
    except ImportError:
        raise MissingExtra(
            "L0Graph needs abess, which is not installed: pip install 'isinglass[rivals]'."
        ) from None
    return LogisticRegression
