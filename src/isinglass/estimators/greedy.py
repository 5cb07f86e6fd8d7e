"""Algorithm 2 as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from isinglass.cluster import (
    ByColumns,
    give_rows,
    is_collection,
    learn_where_it_fits,
    present_client,
)
from isinglass.engine import (
    Joined,
    Paths,
    Progress,
    Runs,
    Search,
    Workers,
    join,
    learn_joint,
    learn_neighbourhoods,
)
from isinglass.engine.constraints import Constraints, Links, Pair, read_constraints
from isinglass.errors import BelowFloor, SettingError
from isinglass.estimators.adjusting import warn_if_coarse
from isinglass.estimators.base import GraphEstimator, fitting
from isinglass.estimators.diagnose import check_elsewhere, check_missing, diagnose
from isinglass.estimators.filled import FilledRuns, learn_filled
from isinglass.graph import Graph
from isinglass.parameters import checked
from isinglass.record.fit_record import FitRecord
from isinglass.record.make import record_of
from isinglass.selection import (
    TENTATIVE,
    AnySelector,
    Look,
    Selector,
    choose,
    selector,
    tier_levels,
)
from isinglass.table import Note, Table
from isinglass.table.coding.order import with_order


@dataclass(eq=False, repr=False)
class GreedyGraph(GraphEstimator):
    """Which columns of a discrete table are directly linked (Algorithm 2).

    For every column a forward-backward greedy search finds the columns that predict it when
    all others are held fixed; the neighbourhoods are joined to one graph. Columns may have any
    numbers of states; an edge is a table of log-potentials or, between ordered columns, may be one
    product of scores.

    Parameters
    ----------
    threshold : float, str or selector
        What an edge must gain in log-likelihood per row, for an edge of one parameter:
        a number, ``"auto"``, ``"paper"``, ``"ebic:0.25"``, ``"cv"``, ``"stability"``,
        ``"stars"``, or an object of :mod:`isinglass.selection`.
    floor : float, optional
        The smallest threshold the search runs to; None means the threshold itself, or what the
        selector asks for: ``"auto"`` runs on to the threshold of ``tentative_``.
    nu : float
        An edge is dropped when that costs at most nu times the gain recorded for the
        present number of neighbours; strictly between 0 and 1.
    rule : "or", "and" or "joint"
        Whether an edge needs one of its ends to choose it, or both, as in the paper; or whether
        both ends decide together: ``evidence`` is then the sum of both ends, each with its best
        weight, and the weakest edge is removed until all are above the threshold. ``"joint"`` finds
        graphs from fewer rows.
    intercept : bool
        Whether each column has an intercept; without it, as in the paper's experiments, the model
        is symmetric in the states.
    max_degree : int, optional
        A column's search stops at that many neighbours.
    missing : "error", "model", "drop", "state" or "available"
        How to treat missing values: refuse them; fill them from the model that is learned, which
        assumes that whether a value is missing depends only on observed values; use complete rows
        only, which assumes that it has nothing to do with the values; treat missing as one more
        state, so that columns that are missing together become linked; or use, for each column, the
        rows where it is observed, while a missing neighbour counts as one more state of the
        neighbour, which creates false links where many values are missing.
    n_eff : "sum", "design", "kish" or float
        How many rows weighted rows stand for: weights are counts (``"sum"``), or sampling weights,
        whose number of rows is Kish's for all pairs (``"kish"``) or corrected by the design effect
        of each pair (``"design"``); or that number.
    n_jobs : int, optional
        Threads; None means all cores.
    bins : dict, optional
        Numeric columns to cut into that many bins at their quantiles, as ``{"age": 4}``, or at
        given points, as ``{"age": [25, 45]}``.
    max_states : int
        A column with more distinct values is refused.
    high : dict, optional
        Which state of a column with two states is the high one, as ``{"vote": "yea"}``: signs,
        couplings and log-odds are about high states. By default the one that means yes (yes,
        true, present, ja, agree, ...), else the second label.
    require, forbid : list of links, optional
        Edges that must be in the graph, and edges that must not. A link is a pair of names; three
        names or more are a group, every two of them; two lists of names stand for every one of
        the first with every one of the second.
    adjust : list of column names, optional
        Columns that are held fixed in every conditional, such as age and sex: they are not in the
        graph, and not counted among its columns. A column of numbers is cut into eight bins or more
        at its quantiles, unless `bins` says how.
    edges : "auto", "table" or "scores"
        What an edge may be. Between two ordered columns it may be one product of their scores, with
        one parameter; between an ordered and an unordered one a trend for each state of the latter;
        and always a whole table of log-potentials. With ``"auto"`` both forms of a pair compete,
        and a smaller one may be made a table later; with ``"scores"`` edges have the smaller form
        wherever there is one.
    ordered : list of names, optional
        Columns whose states are in order, besides numbers, booleans, ordered categories, binned
        columns, and all columns of two states.
    scores : dict, optional
        How far apart the states of a column are, as ``{"age": [18, 30, 50, 70]}``: one rising
        number per state; the column is then ordered. By default 0, 1, 2, ... Only ratios of
        distances matter.
    seed : int
        Of the draws that fill missing values with ``missing="model"``; nothing else is random.

    Attributes
    ----------
    graph_ : Graph
        The graph at ``threshold_``; with ``"auto"`` its edges are firm.
    tentative_ : Graph
        The graph at the threshold of ``FalseEdges(1)``, from the same run: about one edge without
        effect is expected among those that are not firm.
    selection_ : Selection
        How the threshold was chosen: the curve that was compared, and why.
    paths_ : sequence of Path
        What the search did at each column, down to ``floor_``.
    threshold_, floor_ : float
    table_ : Table
        The encoded table: codes, names, states, weights. With ``missing="model"``, the filled one:
        several copies of each row, which share its weight.
    search_ : Search
        The runs of all columns, the constraints, and how to run again on other rows.
    states_ : list of list
        The labels of each column's states, in order.
    diagnostics_ : data frame
        What was unusual in which column, and what was done about it.
    model_ : MarkovField
        All parameters of ``graph_`` fitted together, when first asked for.
    n_features_in_, feature_names_in_
        As scikit-learn defines them.

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> rng = np.random.default_rng(0)
    >>> fever = rng.random(400) < 0.3
    >>> cough = np.where(rng.random(400) < 0.85, fever, ~fever)
    >>> rash = rng.random(400) < 0.2
    >>> est = ig.GreedyGraph().fit(np.column_stack([fever, cough, rash]))
    >>> est.graph_.edges
    [('x0', 'x1')]
    >>> est.paths_[0]
    Path(1 step to x1; ...)
    """

    threshold: float | str | AnySelector = "auto"
    _: KW_ONLY
    floor: float | None = None
    nu: float = 0.5
    rule: str = "or"
    intercept: bool = True
    max_degree: int | None = None
    n_jobs: int | None = None
    require: Links | None = None
    forbid: Links | None = None
    adjust: Sequence[Any] | None = None
    edges: str = "auto"
    ordered: Sequence[Any] | None = None
    scores: dict[Any, Sequence[float]] | None = None
    seed: int = 0

    @fitting
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | str | None = None,
        clusters: ArrayLike | str | None = None,
        *,
        progress: Progress | None = None,
        client: Any = None,
    ) -> GreedyGraph:
        """Learn the graph of a table.

        Parameters
        ----------
        X : array or data frame
            numpy, pandas, polars or pyarrow; strings, booleans, integers, categories. A data frame
            or an array of Dask is learned on its workers, see :doc:`/cluster`.
        y : ignored
        sample_weight : array, or the name of a column of `X`, optional
            Counts: weight w on a row equals w copies of it.
        clusters : array, or the name of a column of `X`, optional
            One label per row: rows of one cluster (a school, a family, a person asked twice) may
            depend on each other. ``diagnostics_`` says what takes that into account.
        progress : function of (columns done, columns in all), optional
            By the rule "joint", edges that are decided count like columns. Afterwards, if the
            selector runs again on other rows, of those runs.
        client : distributed.Client, optional
            Its workers search blocks of columns, and compute the numbers of edges; the answer is
            the same as without a client. See :doc:`/cluster`.

        Returns
        -------
        GreedyGraph

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> ig.GreedyGraph().fit(field.sample(1000, seed=0)).graph_
        Graph(3 columns, 2 edges: x0 -- x1, x1 -- x2)
        """
        rule = selector(self.threshold)
        if is_collection(X):
            client = present_client(client)
            about: dict[str, Any] = {"sample_weight": sample_weight, "clusters": clusters}
            X = learn_where_it_fits(X, client, estimator=self, **about)
            sample_weight = None if isinstance(X, Table) else sample_weight
        elif client is not None and isinstance(X, Table):
            X = give_rows(X, client)
        table = self._read(X, sample_weight, clusters)
        check_missing(table, rule)
        check_elsewhere(table, rule, self.rule)
        warn_if_coarse(table)
        self.floor_ = self._checked_floor(rule, table)
        by_columns = client is not None and table.elsewhere is None
        workers = ByColumns(client, self.n_jobs) if by_columns else None
        self.search_ = self._search(table, progress, workers)
        self.table_ = self.search_.table
        self.paths_ = Paths(self.search_.runs, table.library)
        look = Look(self.search_, progress or (lambda done, total: None))
        with self.search_.runs.watched(progress):
            self.selection_ = choose(rule, look)
            self.threshold_ = self.selection_.threshold
            self.graph_ = self._graph(self.threshold_, self.selection_.kept)
        if client is not None:
            self._value_edges(workers)
            self.search_ = replace(self.search_, learn=self._learn(table))  # workers may leave now
        return self

    def _value_edges(self, workers: Workers | None) -> None:
        """Let workers find what the edges are worth while they still have the table."""
        values = self._edge_values
        replace(values, workers=workers)(self.graph_.pairs, self.graph_.forms)

    def encode(
        self,
        X: Any,
        sample_weight: ArrayLike | str | None = None,
        clusters: ArrayLike | str | None = None,
    ) -> Table:
        """Return the table that `fit` would learn from, by the estimator's settings.

        Examples
        --------
        >>> import isinglass as ig
        >>> est = ig.GreedyGraph(scores={"x1": [0, 1, 5]})
        >>> est.encode([[1, "a"], [2, "b"], [3, "c"]]).scores
        ((0.0, 1.0, 2.0), (0.0, 1.0, 5.0))
        """
        table = super().encode(X, sample_weight, clusters)
        columns = with_order(
            table.columns,
            self.ordered,
            self.scores,
            answers=table.n_answers,
            unnamed=table.library is None,
        )
        return table if columns == table.columns else replace(table, columns=columns)

    @checked
    def at(self, threshold: float) -> Graph:
        """Return the graph at any threshold down to ``floor_``: same run, no refit.

        Its strength and evidence are computed when they are first asked for.

        Examples
        --------
        >>> import numpy as np
        >>> x = np.random.default_rng(1).integers(0, 2, (100, 5))
        >>> est = GreedyGraph(floor=1e-3).fit(x)
        >>> len(est.at(est.threshold_)) <= len(est.at(0.002))
        True
        """
        check_is_fitted(self)
        if threshold < self.floor_:
            raise BelowFloor(
                f"the search ran to floor_ = {self.floor_:.6g}, so {threshold:.6g} is out of "
                f"reach; refit with GreedyGraph(floor={threshold:.6g}).",
                threshold=threshold,
                floor=self.floor_,
            )
        return self._graph(threshold)

    def _graph(self, threshold: float, kept: frozenset[Pair] | None = None) -> Graph:
        runs, table, required = self.search_.runs, self.search_.table, self.search_.required
        levels = tier_levels(table.n, len(table.columns))
        values = self._edge_values
        return join(Joined(runs, threshold, self.rule, table, values, levels, required, kept))

    @property
    def tentative_(self) -> Graph:
        """The graph at the threshold of ``FalseEdges(1)``, from the same run."""
        check_is_fitted(self)
        return self.at(TENTATIVE.threshold(self.table_.n, len(self.table_.columns)))

    def record(self, progress: Progress | None = None) -> FitRecord:
        """Return what to save of the fit, for later use without the table.

        Parameters
        ----------
        progress : function of (columns done, columns in all), optional
            Called while the values of edges are found, which may take longer than the search. With
            ``rule="joint"`` all edges leave before, one by one, and they are counted first.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> est.record()
        FitRecord(3 columns, 2 edges, ... steps, isinglass ...)
        """
        check_is_fitted(self)
        with self.search_.runs.watched(progress, after=0):
            return record_of(
                self.search_,
                self.graph_,
                self.threshold_,
                self._edge_values,
                settings=self.get_params(deep=False),
                notes=self._notes(),
                progress=progress,
                filled=None if self.filled_ is None else self.filled_.to_record(),
            )

    def _scales(self) -> NDArray[np.float64] | None:
        filled = self.filled_
        return None if filled is None else filled.information.scales

    @property
    def filled_(self) -> FilledRuns | None:
        """How missing values were filled; None if there were none, or they were not."""
        check_is_fitted(self)
        runs = self.search_.runs
        return runs if isinstance(runs, FilledRuns) else None

    def _html_note(self) -> str:
        return f", at the threshold {self.threshold_:.4g} ({self.selection_.rule})"

    def _notes(self) -> list[Note]:
        notes = diagnose(
            self.table_,
            self.paths_,
            self.graph_,
            self.search_.required,
            intercept=bool(self.intercept),
        )
        return notes if self.filled_ is None else [*notes, *self.filled_.notes()]

    def _constraints(self, table: Table) -> Constraints:
        unnamed = table.library is None
        return read_constraints(self.require, self.forbid, table.names, unnamed=unnamed)

    def _learn(self, table: Table, workers: Workers | None = None) -> Callable[..., Runs]:
        """How runs of such a table are made."""
        learn = partial(
            learn_joint if self.rule == "joint" else learn_neighbourhoods,
            nu=float(self.nu),
            intercept=bool(self.intercept),
            max_degree=self.max_degree,
            constraints=self._constraints(table),
            n_jobs=self.n_jobs,
            edges=self.edges,
            workers=workers,
        )
        if self.missing == "model":
            learn = partial(
                learn_filled,
                learn=learn,
                rule=self.rule,
                intercept=bool(self.intercept),
                seed=int(self.seed),
                n_jobs=self.n_jobs,
            )
        return learn

    def _search(self, table: Table, progress: Progress | None, workers: Workers | None) -> Search:
        learn = self._learn(table, workers)
        runs = learn(table, self.floor_, progress=progress)
        searched = runs.table if isinstance(runs, FilledRuns) else table
        constraints = self._constraints(table)
        return Search(searched, runs, self.floor_, self.rule, constraints, learn, table, self.edges)

    def _checked_floor(self, rule: AnySelector, table: Table) -> float:
        """The floor the search runs to."""
        n, p = table.n, len(table.columns)
        floor = rule.floor(n, p)
        if self.floor is None:
            return floor
        if isinstance(rule, Selector) and self.floor > rule.threshold(n, p):
            raise SettingError(
                f"floor = {self.floor:g} is above the threshold {rule.threshold(n, p):.6g}; "
                "leave floor out, or use a smaller one."
            )
        return min(floor, float(self.floor))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "search_")
