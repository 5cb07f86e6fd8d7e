"""Algorithm 2 as a scikit-learn estimator."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from isinglass.engine import Paths, Progress, Runs, learn_neighbourhoods
from isinglass.errors import BelowFloor, SettingError
from isinglass.estimators.diagnose import diagnose
from isinglass.estimators.join import join
from isinglass.estimators.score import refit_conditionals, row_scores
from isinglass.frames import frame
from isinglass.graph import Graph
from isinglass.selection import Selector, selector
from isinglass.solvers.foba import checked_nu
from isinglass.solvers.path import checked_threshold
from isinglass.table import Table, encode


class GreedyGraph(BaseEstimator):  # type: ignore[misc]
    """Which columns of a discrete table are directly linked (Algorithm 2).

    For every column a forward-backward greedy search finds the columns that predict it when
    all others are held; the neighbourhoods are joined to one graph. Columns may have any
    numbers of states; an edge is a whole table of log-potentials.

    Parameters
    ----------
    threshold : float, str or selector
        What an edge must gain in log-likelihood per row, for an edge of one parameter:
        a number, ``"auto"``, ``"paper"``, or an object of :mod:`isinglass.selection`.
    floor : float, optional
        The smallest threshold the search runs to; None means the threshold itself.
    nu : float
        An edge is dropped when that costs at most nu times the gain recorded for the
        present number of neighbours; strictly between 0 and 1.
    rule : "or" or "and"
        Whether an edge needs one of its ends to choose it, or both.
    intercept : bool
        Whether each column has a field of its own; without it, as in the paper's
        experiments, the model is symmetric in the states.
    max_degree : int, optional
        A column's search stops at that many neighbours.
    missing : "error", "drop", "state" or "available"
        What to do with gaps: refuse; keep complete rows only; take a gap as an answer; or
        explain each column by the rows where it is seen, a missing neighbour being one more
        answer of that neighbour.
    n_eff : "sum", "kish" or float
        How many rows weighted rows stand for.
    n_jobs : int, optional
        Threads; None means all cores.
    bins : dict, optional
        Numeric columns to cut into that many bins at their quantiles, as ``{"age": 4}``.
    max_states : int
        A column with more distinct values is refused.

    Attributes
    ----------
    graph_ : Graph
        The graph at ``threshold_``.
    paths_ : sequence of Path
        What the search did at each column, down to ``floor_``.
    threshold_, floor_ : float
    states_ : list of list
        The labels of each column's states, in order.
    diagnostics_ : data frame
        What was odd in which column, and what was done about it.
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
    Path(1 steps to x1; ...)
    """

    def __init__(
        self,
        threshold: float | str | Selector = "auto",
        *,
        floor: float | None = None,
        nu: float = 0.5,
        rule: str = "or",
        intercept: bool = True,
        max_degree: int | None = None,
        missing: str = "error",
        n_eff: float | str = "sum",
        n_jobs: int | None = None,
        bins: dict[str, int] | None = None,
        max_states: int = 32,
    ) -> None:
        self.threshold = threshold
        self.floor = floor
        self.nu = nu
        self.rule = rule
        self.intercept = intercept
        self.max_degree = max_degree
        self.missing = missing
        self.n_eff = n_eff
        self.n_jobs = n_jobs
        self.bins = bins
        self.max_states = max_states

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | str | None = None,
        *,
        progress: Progress | None = None,
    ) -> GreedyGraph:
        """Learn the graph of a table.

        Parameters
        ----------
        X : array or data frame
            numpy, pandas, polars or pyarrow; strings, booleans, integers, categories.
        y : ignored
        sample_weight : array, or the name of a column of `X`, optional
            Counts: weight w on a row equals w copies of it.
        progress : function of (columns done, columns in all), optional

        Returns
        -------
        GreedyGraph
        """
        self._check_settings()
        rule = selector(self.threshold)
        self._table = encode(
            X,
            sample_weight,
            missing=self.missing,
            n_eff=self.n_eff,
            bins=self.bins,
            max_states=self.max_states,
        )
        self.n_features_in_ = len(self._table.columns)
        self._check_names(X, sample_weight, reset=True)
        self.states_ = [
            list(column.states[:answers])
            for column, answers in zip(self._table.columns, self._table.n_answers, strict=True)
        ]
        self.threshold_, self.floor_ = self._thresholds(rule, self._table)
        self._runs: Runs = learn_neighbourhoods(
            self._table,
            self.floor_,
            nu=float(self.nu),
            intercept=bool(self.intercept),
            max_degree=self.max_degree,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        self.paths_ = Paths(self._runs)
        self.graph_ = self.at(self.threshold_)
        return self

    def at(self, threshold: float) -> Graph:
        """Return the graph at any threshold down to ``floor_``: same run, no refit.

        Examples
        --------
        >>> import numpy as np
        >>> x = np.random.default_rng(1).integers(0, 2, (100, 5))
        >>> est = GreedyGraph(floor=1e-3).fit(x)
        >>> len(est.at(est.threshold_)) <= len(est.at(0.002))
        True
        """
        check_is_fitted(self)
        threshold = checked_threshold(threshold)
        if threshold < self.floor_:
            raise BelowFloor(
                f"the search ran to floor_ = {self.floor_:.6g}, so {threshold:.6g} is out of "
                f"reach; refit with GreedyGraph(floor={threshold:.6g})."
            )
        return join(self._runs, threshold, self.rule, self._table)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | str | None = None) -> float:
        """Mean log-likelihood of each column given its neighbours, summed over columns.

        Each conditional is refitted without penalty on the training rows from the column's
        neighbours in ``graph_``, so that scores compare graphs, whatever method found them.

        Parameters
        ----------
        X : array or data frame
            Rows of the same columns; a state that fit never saw is an error.
        y : ignored
        sample_weight : array, or the name of a column of `X`, optional

        Returns
        -------
        float
        """
        check_is_fitted(self)
        self._check_names(X, sample_weight, reset=False)
        rows = self._table.encode_like(X, sample_weight, missing=self.missing)
        fits = refit_conditionals(self.graph_, self._table)
        return float(np.average(row_scores(fits, rows), weights=rows.weights))

    @property
    def diagnostics_(self) -> Any:
        """What was odd in which column, and what was done: a data frame."""
        check_is_fitted(self)
        notes = diagnose(self._table, self.paths_, self.graph_)
        return frame(
            {
                "column": [note.column for note in notes],
                "what": [note.what for note in notes],
                "done": [note.done for note in notes],
            },
            self._table.library,
        )

    def _check_settings(self) -> None:
        checked_nu(self.nu)
        if self.rule not in ("or", "and"):
            raise SettingError(f"rule must be 'or' or 'and', not {self.rule!r}.")
        if self.max_degree is not None and self.max_degree < 0:
            raise SettingError(f"max_degree must not be negative, got {self.max_degree!r}.")

    def _check_names(self, X: Any, sample_weight: Any, *, reset: bool) -> None:
        """Note or compare the names of the columns, in scikit-learn's own words."""
        if isinstance(sample_weight, str):
            frame = nw.from_native(X, eager_only=True)
            X = frame.drop(sample_weight, strict=False).to_native()
        with suppress(TypeError):  # names of several types: scikit-learn keeps none of them
            _check_feature_names(self, X, reset=reset)
        if not reset:
            _check_n_features(self, X, reset=False)

    def _thresholds(self, rule: Selector, table: Table) -> tuple[float, float]:
        """The threshold, and the floor the search runs to."""
        p = len(table.columns)
        threshold, floor = rule.threshold(table.n, p), rule.floor(table.n, p)
        if self.floor is not None:
            if checked_threshold(self.floor) > threshold:
                raise SettingError(
                    f"floor = {self.floor:g} is above the threshold {threshold:.6g}; "
                    "leave floor out, or take a smaller one."
                )
            floor = min(floor, float(self.floor))
        return threshold, floor

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_runs")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = False
        return tags
