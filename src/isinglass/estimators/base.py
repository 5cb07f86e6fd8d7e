"""What every graph estimator shares: reading tables, scoring graphs, naming columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from isinglass.engine import RefittedValues, threads_for
from isinglass.errors import SettingError
from isinglass.estimators.score import refit_conditionals, row_scores
from isinglass.frames import by_field, frame
from isinglass.graph import Graph, edges_html
from isinglass.model import MarkovField, fit_model
from isinglass.notebook import small_table
from isinglass.parameters import check_settings, checked
from isinglass.table import Note, Table, encode
from isinglass.table.cells import without_column
from isinglass.wording import counted

P = ParamSpec("P")
R = TypeVar("R")
Estimator = TypeVar("Estimator", bound=BaseEstimator)


@dataclass(eq=False, repr=False)
class GraphEstimator(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator whose `fit` leaves a ``graph_``.

    A subclass adds its own settings as fields of a dataclass, calls `_read` first in its `fit`,
    which is `fitting`, and sets ``graph_``.
    """

    _: KW_ONLY
    missing: str = "error"
    n_eff: float | str = "sum"
    bins: dict[str, int | Sequence[float]] | None = None
    max_states: int = 32
    high: dict[str, Any] | None = None
    graph_: Graph = field(init=False)

    def score(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | str | None = None,
        clusters: ArrayLike | str | None = None,
    ) -> float:
        """Mean log-likelihood of each column given its neighbours, summed over columns.

        Each conditional is refitted without penalty on the training rows from the column's
        neighbours in ``graph_``, so that scores compare graphs, whatever method found them.

        Parameters
        ----------
        X : array or data frame
            Rows of the same columns; a state that fit never saw is an error.
        y : ignored
        sample_weight : array, or the name of a column of `X`, optional
        clusters : array, or the name of a column of `X`, optional
            A mean does not depend on them; but a column of `X` that is named here is not scored.

        Returns
        -------
        float

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> empty = ig.GreedyGraph(10.0).fit(field.sample(1000, seed=0))
        >>> fresh = field.sample(500, seed=1)
        >>> est.score(fresh) > empty.score(fresh)
        True
        """
        check_is_fitted(self)
        self._check_names(X, sample_weight, clusters, reset=False)
        rows = self.table_.encode_like(X, sample_weight, self.missing, clusters)
        if rows.by_model:
            raise SettingError(
                "after a fit with missing values filled from the model, score needs complete rows; "
                "drop the incomplete rows, or complete them with model_.impute."
            )
        fits = refit_conditionals(self.graph_, self.table_)
        return float(np.average(row_scores(fits, rows), weights=rows.weights))

    @cached_property
    def model_(self) -> MarkovField:
        """The pairwise model on ``graph_``, fitted to all columns together when first asked for.

        One table per edge, by maximum pseudo-likelihood with the ridge of the refits, 1e-8, which
        keeps unbounded edges finite; see :func:`isinglass.model.fit_model`.
        """
        return self.fit_model()

    def fit_model(self, progress: Callable[[str], None] | None = None) -> MarkovField:
        """Fit ``model_`` now, and return it.

        Parameters
        ----------
        progress : function of a few words, optional
            Called with the step that the fit takes; see :func:`isinglass.model.fit_model`.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> est.fit_model(progress=lambda words: None) is est.model_
        True
        """
        check_is_fitted(self)
        if "model_" not in self.__dict__:
            intercept = bool(getattr(self, "intercept", True))
            self.__dict__["model_"] = fit_model(
                self.table_, self.graph_, intercept=intercept, progress=progress
            )
        model: MarkovField = self.__dict__["model_"]
        return model

    @property
    def diagnostics_(self) -> Any:
        """What was unusual in which column, and what was done: a data frame."""
        check_is_fitted(self)
        return frame(by_field(Note, self._notes()), self.table_.library)

    def _notes(self) -> Sequence[Note]:
        return self.table_.notes

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
        >>> ig.GreedyGraph(bins={0: 2}).encode([[1.5, "a"], [2.5, "b"], [3.5, "a"]]).n_states
        (2, 2)
        """
        return encode(
            X,
            sample_weight,
            clusters,
            missing=self.missing,
            n_eff=self.n_eff,
            bins=self.bins,
            max_states=self.max_states,
            high=self.high,
            adjust=getattr(self, "adjust", None),
        )

    def _read(
        self,
        X: Any,
        sample_weight: ArrayLike | str | None,
        clusters: ArrayLike | str | None = None,
    ) -> Table:
        """Encode the table to learn from, and note its columns and states."""
        for kept in ("model_", "_edge_values"):  # of an earlier fit
            self.__dict__.pop(kept, None)
        self.table_ = self.encode(X, sample_weight, clusters)
        self._check_names(X, sample_weight, clusters, reset=True)
        self.n_features_in_ = len(self.table_.wide.columns)
        self.states_ = [
            list(column.states[:answers])
            for column, answers in zip(self.table_.columns, self.table_.n_answers, strict=True)
        ]
        return self.table_

    def _check_names(self, X: Any, *about_rows: Any, reset: bool) -> None:
        """Note or compare the names of the columns, in scikit-learn's own words.

        What is said about rows, weights and clusters, may be in columns that are not the table's.
        """
        if isinstance(X, Table):  # it is encoded already
            X = np.empty((0, len(X.wide.columns)))
        for name in about_rows:
            X = without_column(X, name) if isinstance(name, str) else X
        with suppress(TypeError):  # names of several types: scikit-learn keeps none of them
            validate_data(self, X, reset=reset, skip_check_array=True)

    @cached_property
    def _edge_values(self) -> RefittedValues:
        """How the edges of a graph of this table get their strength and evidence."""
        intercept = bool(getattr(self, "intercept", True))
        threads = threads_for(getattr(self, "n_jobs", None), len(self.table_.columns))
        joint = getattr(self, "rule", "or") == "joint"
        edges = getattr(self, "edges", "table")
        return RefittedValues(self.table_, intercept, threads, joint, self._scales(), edges)

    def _scales(self) -> NDArray[np.float64] | None:
        """What the evidence of each pair has to be divided by."""
        return None

    def _html_repr(self) -> str:
        """What was learned, as a small table for notebooks; unfitted, the settings."""
        settings = repr(self)
        if not self.__sklearn_is_fitted__():
            return small_table(f"{settings}, not fitted", (), (), "")
        graph, table = self.graph_, self.table_
        caption = (
            f"{settings}: {counted(len(graph), 'edge')} between "
            f"{counted(len(graph.names), 'column')}, from {table.n:,.6g} rows"
        )
        return edges_html(graph, caption + self._html_note())

    def _html_note(self) -> str:
        """More to say in a notebook."""
        return ""

    @property
    def _repr_html_(self) -> Any:
        if get_config()["display"] != "diagram":
            raise AttributeError("there is HTML only where scikit-learn's display is 'diagram'")
        return self._html_repr

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Both faces that a notebook may show."""
        faces = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            faces["text/html"] = self._html_repr()
        return faces

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "graph_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = False
        return tags


def fitting(fit: Callable[Concatenate[Estimator, P], R]) -> Callable[Concatenate[Estimator, P], R]:
    """Check an estimator's settings before it is fitted; if that fails, leave it as it was."""
    fit = checked(fit)

    @wraps(fit)
    def whole_or_not(self: Estimator, /, *args: P.args, **kwargs: P.kwargs) -> R:
        check_settings(self)
        before = dict(self.__dict__)
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return whole_or_not
