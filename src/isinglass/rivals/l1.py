"""Node-wise l1 regression: logistic for two states, group-penalised softmax for more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isinglass.engine import Progress
from isinglass.graph import Graph
from isinglass.parameters import checked
from isinglass.rivals.base import Rival, adjacency, neighbours_of
from isinglass.rivals.paths import Array, L1Paths, largest_penalty, learn_paths
from isinglass.rivals.penalties import EBIC, Penalty, read_penalty
from isinglass.table import Table

Fits = Sequence[tuple[L1Paths, int]]
"""For each column, a path and the number of a penalty on it."""


@dataclass(repr=False, eq=False)
class L1Graph(Rival):
    """Each column regressed on all others under an l1 penalty (Ravikumar et al. 2010).

    Two states: logistic regression with the penalty ``lambda sum |theta|``, theta on the -1/+1
    scale. More states: softmax regression with one group per edge; see
    `isinglass.rivals.penalties`. The graph does not depend on how states are coded. With
    ``penalty="ebic"`` and ``rule="and"``, the defaults, it is what IsingFit does (but for
    ``standardise``, which glmnet turns on).

    Parameters
    ----------
    penalty : float, str or penalty object
        lambda itself; ``"ebic"`` (gamma 0.25, each column its own), ``"cv"``, ``"rate"`` or
        ``"rate:0.3"`` for 0.3 sqrt(log(p)/n); or an object of `isinglass.rivals.penalties`.
    rule, intercept
        As for `GreedyGraph`; intercepts bear no penalty.
    refit : bool
        Whether couplings are refitted without penalty on the neighbours a column chose, before
        the threshold is applied.
    threshold : float
        A neighbour is dropped where its coupling (for more states the root mean square of its
        table) is not larger.
    standardise : bool
        Whether the penalty of an edge is multiplied by the other column's spread, which is 1 for
        evenly spread states; glmnet does so.
    lambdas : sequence of float, optional
        The penalties of the path. None: just the penalty, if it is known before the data, else
        `n_lambdas` of them from the one that leaves no edge down to `smallest` times it. Where
        columns have many states, the EBIC needs only the first few: the path ends when one more
        edge would cost every column more than it could gain.
    n_lambdas, smallest : int, float
    missing : "error", "drop" or "state"
        These and `n_eff`, `n_jobs`, `bins`, `max_states`, `high` are as for `GreedyGraph`.

    Attributes
    ----------
    penalties_ : (p,) array
        The penalty of each column.
    lambdas_ : (k,) array
        The penalties of the path, falling.
    paths_ : sequence of ColumnPath
        The regressions of each column at ``lambdas_``. Other attributes are as for `GreedyGraph`;
        the numbers of ``graph_`` come from refits without penalty.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> est = ig.L1Graph().fit(field.sample(1000, seed=1))
    >>> est.graph_.edges
    [('x0', 'x1'), ('x1', 'x2')]
    >>> len(est.at(1e-4))
    3
    """

    penalty: float | str | Penalty = "ebic"
    _: KW_ONLY
    rule: str = "and"
    intercept: bool = True
    refit: bool = False
    threshold: float = 0.0
    standardise: bool = False
    lambdas: Sequence[float] | None = None
    n_lambdas: int = 100
    smallest: float = 0.01

    def _find_graph(self, table: Table, progress: Progress | None) -> Graph:
        penalty = read_penalty(self.penalty)
        self.paths_ = self._path(penalty, table, progress)
        self.lambdas_ = self.paths_.lambdas
        self._solved: dict[float, tuple[L1Paths, int]] = {}
        self._keep(self.paths_)
        places = penalty.choose(self.paths_, table, self._learn)
        self.penalties_ = self.lambdas_[places]
        chosen = [(self.paths_, int(k)) for k in places]
        return self._graph(self._neighbours(chosen), self.rule)

    @checked
    def at(self, penalty: float) -> Graph:
        """Return the graph with one penalty for all columns, solved for if not on the path."""
        return self._graph(self.neighbours_at(penalty), self.rule)

    @checked
    def at_many(self, penalties: Sequence[float]) -> list[Graph]:
        """Return the graphs at several penalties, solved for in one pass."""
        self._solve(penalties)
        return [self.at(penalty) for penalty in penalties]

    @checked
    def adjacency_at(self, penalty: float, rule: str | None = None) -> NDArray[np.bool_]:
        """Return which columns are linked at a penalty, a (p, p) array, and nothing else: quick."""
        return adjacency(self.neighbours_at(penalty), rule or self.rule)

    @checked
    def neighbours_at(self, penalty: float) -> list[list[int]]:
        """Return for each column those it chooses at a penalty."""
        return self._neighbours(self._fits_at(penalty))

    @checked
    def couplings_at(self, penalty: float) -> Array:
        """Return a (p, p) array: in row r, the size of each coupling as column r has it.

        Refitted if ``refit``; before the threshold. For two columns of two states it is theta with
        its sign, else the root mean square of the table of log-potentials.
        """
        return self._couplings(self._fits_at(penalty))

    def _fits_at(self, penalty: float) -> Fits:
        self._solve([penalty])
        return [self._solved[float(penalty)]] * self.n_features_in_

    def _solve(self, penalties: Sequence[float]) -> None:
        """See to it that fits at some penalties are known."""
        check_is_fitted(self)
        asked = {float(penalty) for penalty in penalties}
        new = np.array(sorted(asked - self._solved.keys(), reverse=True))
        if len(new):
            self._keep(self._learn(self.table_, new))

    def _keep(self, paths: L1Paths) -> None:
        self._solved.update((float(value), (paths, k)) for k, value in enumerate(paths.lambdas))

    def _neighbours(self, fits: Fits) -> list[list[int]]:
        if self.threshold == 0:
            return _supports(fits)
        return neighbours_of(np.abs(self._couplings(fits)) > self.threshold)

    def _couplings(self, fits: Fits) -> Array:
        sizes = np.zeros((len(fits), len(fits)))
        if self.refit:
            runs = self._refits(_supports(fits))()
            tables = [runs.fit(r, 0).coef for r in range(len(fits))]
        else:
            tables = [paths.fit(r, k)[1] for r, (paths, k) in enumerate(fits)]
        for r, of_column in enumerate(tables):
            for t, table in of_column.items():
                sizes[r, t] = coupling_size(table)
        return sizes

    def _learn(self, table: Table, lambdas: Array, progress: Progress | None = None) -> L1Paths:
        return learn_paths(table, lambdas, **self._core_settings(table), progress=progress)

    def _path(self, penalty: Penalty, table: Table, progress: Progress | None) -> L1Paths:
        """The path down to its end, or to where the EBIC cannot choose what follows."""
        grid = self._grid(penalty, table)
        if not isinstance(penalty, EBIC) or self.lambdas is not None:
            return self._learn(table, grid, progress)
        count = penalty.first_piece(table, bool(self.intercept), len(grid))
        paths = self._learn(table, grid[:count], progress)
        while 1 < len(paths.lambdas) < len(grid) and not penalty.has_chosen(
            paths, table.n, self._refitted_losses(paths)
        ):
            next_ones = grid[len(paths.lambdas) :][:count]
            paths = paths.followed_by(self._learn(table, next_ones, progress))
        return paths

    def _refitted_losses(self, paths: L1Paths) -> Array:
        """Losses of the fits without penalty on the neighbours at the last penalty."""
        runs = self._refits(_supports([(paths, len(paths.lambdas) - 1)] * len(paths)))()
        return np.array([runs.fit(r, 0).loss for r in range(len(paths))])

    def _core_settings(self, table: Table) -> dict[str, Any]:
        return {
            "scales": spreads(table) if self.standardise else np.ones(len(table.columns)),
            "intercept": bool(self.intercept),
            "threads": self._threads(),
        }

    def _grid(self, penalty: Penalty, table: Table) -> Array:
        value = penalty.value(table.n, len(table.columns))
        if self.lambdas is not None:
            some = {float(one) for one in self.lambdas}
        elif value is None:
            largest = largest_penalty(table, **self._core_settings(table))
            largest = largest if largest > 0 else 1.0  # nothing to explain: any path will do
            some = set(np.geomspace(largest, largest * self.smallest, self.n_lambdas).tolist())
        else:
            some = set()
        return np.array(sorted(some if value is None else some | {value}, reverse=True))


def _supports(fits: Fits) -> list[list[int]]:
    return [paths.support(r, k).tolist() for r, (paths, k) in enumerate(fits)]


def coupling_size(table: Array) -> float:
    """Return theta of a two-by-two table, the root mean square of a larger one.

    >>> coupling_size(np.array([[-0.3, 0.3], [0.3, -0.3]]))
    -0.3
    """
    if table.shape == (2, 2):
        return float(table[1, 1])
    return float(np.sqrt(np.mean(table**2)))


def spreads(table: Table) -> Array:
    """Return each column's standard deviation, for two states that of the -1/+1 coding."""
    found = []
    for codes, m in zip(table.codes.T, table.n_states, strict=True):
        shares = np.bincount(codes, table.weights, minlength=m) / table.weights.sum()
        found.append(np.sqrt((1 - np.sum(shares**2)) / (1 - 1 / m)) if m > 1 else 1.0)
    return np.array(found)
