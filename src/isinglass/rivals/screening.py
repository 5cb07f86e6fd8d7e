"""Interaction screening: convex losses that screen out all columns but the one looked at."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isinglass.engine import Progress
from isinglass.errors import SettingError
from isinglass.graph import Graph
from isinglass.parameters import checked
from isinglass.rivals.base import Rival, neighbours_of, two_states_only
from isinglass.rivals.paths import Array, L1Paths, learn_paths
from isinglass.table import Table

#: The constants of Lokhov, Vuffray, Misra and Chertkov (2018), as in their package
#: GraphicalModelLearning.jl: lambda = c sqrt(log(p^2 / 0.05) / n).
CONSTANTS = {"rise": 0.4, "logrise": 0.8, "rple": 0.2}
LEVEL = 0.05
#: No table asks for so large a coupling: it has no bound.
UNBOUNDED = 100.0
LOSSES = {"rise": "rise", "logrise": "logrise", "rple": "pseudo"}


@dataclass(repr=False, eq=False)
class InteractionScreening(Rival):
    """RISE, logRISE and RPLE for columns of two states.

    With u the state of a column (-1 or +1) times its field plus the sum of its couplings times
    their states, each column minimises over its couplings, plus lambda times the sum of their
    absolute values,

    - ``"rise"``: the mean of exp(-u) (Vuffray, Misra, Lokhov and Chertkov 2016);
    - ``"logrise"``: the logarithm of that mean (Lokhov, Vuffray, Misra and Chertkov 2018);
    - ``"rple"``: the mean of log(1 + exp(-2u)), the pseudo-likelihood.

    The two estimates of a coupling are averaged, and couplings up to a threshold are dropped.

    Parameters
    ----------
    objective : "logrise", "rise" or "rple"
    c : float, optional
        lambda = c sqrt(log(p^2 / 0.05) / n); None takes the authors' 0.4 (RISE), 0.8 (logRISE) or
        0.2 (RPLE).
    penalty : float, optional
        lambda itself, instead of `c`.
    threshold : float or "gap"
        Couplings of at most this size are dropped. The authors take half the size of the smallest
        true coupling; ``"gap"`` cuts in the middle of the widest gap between the sizes found,
        which shows where the truth has a smallest coupling.
    intercept, n_eff, n_jobs, bins, max_states, high
        As for `GreedyGraph`; intercepts bear no penalty.
    missing : "error", "drop" or "state"

    Attributes
    ----------
    couplings_ : (p, p) array
        The averaged couplings, before the threshold.
    penalty_, threshold_ : float
    paths_ : sequence of ColumnPath
        Each column's own minimiser. Other attributes are as for `GreedyGraph`; the numbers of
        ``graph_`` come from refits without penalty.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> ig.InteractionScreening().fit(field.sample(1000, seed=0)).graph_.edges
    [('x0', 'x1'), ('x1', 'x2')]
    """

    objective: str = "logrise"
    _: KW_ONLY
    c: float | None = None
    penalty: float | None = None
    threshold: float | str = "gap"
    intercept: bool = True

    def _find_graph(self, table: Table, progress: Progress | None) -> Graph:
        if self.c is not None and self.penalty is not None:
            raise SettingError("c and penalty both set lambda; give only one of them.")
        two_states_only(table, type(self).__name__)
        self.penalty_ = self._penalty(table.n, len(table.columns))
        self.paths_: L1Paths = learn_paths(
            table,
            np.array([self.penalty_]),
            scales=np.ones(len(table.columns)),
            intercept=bool(self.intercept),
            threads=self._threads(),
            loss=LOSSES[self.objective],
            progress=progress,
        )
        self.couplings_ = _averaged(self.paths_)
        sizes = np.abs(self.couplings_[np.triu_indices_from(self.couplings_, 1)])
        by_gap = isinstance(self.threshold, str)
        self.threshold_ = widest_gap(sizes) if by_gap else float(self.threshold)
        return self._graph(neighbours_of(self._above(self.threshold_)), "or")

    @checked
    def at(self, threshold: float) -> Graph:
        """Return the graph at another threshold of the couplings."""
        return self._graph(neighbours_of(self.adjacency_at(threshold)), "or")

    @checked
    def adjacency_at(self, threshold: float) -> NDArray[np.bool_]:
        """Return which couplings are larger than a threshold, a (p, p) array: quick."""
        check_is_fitted(self)
        return self._above(threshold)

    def _above(self, threshold: float) -> NDArray[np.bool_]:
        return np.asarray(np.abs(self.couplings_) > threshold)

    def _penalty(self, n: float, p: int) -> float:
        if self.penalty is not None:
            return float(self.penalty)
        c = CONSTANTS[self.objective] if self.c is None else float(self.c)
        return c * float(np.sqrt(np.log(p**2 / LEVEL) / n))


def widest_gap(sizes: Array) -> float:
    """Return the middle of the widest gap between sizes, zero being one of them.

    Where columns separate, a coupling has no bound. That it is large says nothing about how large
    the others should be: it counts as much as the largest of those, and at least one.

    >>> widest_gap(np.array([0.02, 0.5, 0.0, 0.44]))
    0.23
    >>> widest_gap(np.array([0.02, 1.2, 0.0, 1.1, np.inf]))
    0.56
    """
    most = sizes[sizes < UNBOUNDED].max(initial=1.0) if (sizes >= UNBOUNDED).any() else np.inf
    ordered = np.sort(np.concatenate([[0.0], np.minimum(sizes, most)]))
    if len(ordered) == 1 or ordered[-1] == 0:
        return 0.0
    at = int(np.argmax(np.diff(ordered)))
    return float(ordered[at] + ordered[at + 1]) / 2


def _averaged(paths: L1Paths) -> Array:
    own = np.zeros((len(paths), len(paths)))
    for r in range(len(paths)):
        for t, table in paths.fit(r, 0)[1].items():
            own[r, t] = table[1, 1]
    return (own + own.T) / 2
