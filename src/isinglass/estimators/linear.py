"""What the greedy regressions share: reading X and y, the search, its threshold, its results."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from isinglass.engine import Progress
from isinglass.errors import BelowFloor, NotFinite, SettingError, TableError
from isinglass.estimators.base import fitting
from isinglass.losses.design import check_finite, not_finite
from isinglass.losses.linear import LinearLoss
from isinglass.losses.protocol import Block, Fit
from isinglass.parameters import checked
from isinglass.selection import (
    CoefficientSelector,
    CrossValidated,
    PathLook,
    Selection,
    Selector,
    choose_coefficients,
    coefficient_selector,
)
from isinglass.selection.rules import LEAST
from isinglass.solvers import Path
from isinglass.solvers.cuts import Cuts
from isinglass.solvers.foba import blocks_of, named_groups
from isinglass.solvers.search import search
from isinglass.table.cells import library_of, names_of_frame
from isinglass.table.rows import row_weights
from isinglass.wording import shown

Array = NDArray[np.float64]
Groups = Sequence[Iterable[int | str]] | ArrayLike
#: Columns that the name of a group names.
LONGEST_GROUP = 3


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of positive weight, as the loss takes them."""

    X: Any
    y: NDArray[Any]
    weights: Array

    def some(self, which: NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        X = self.X.tocsr() if hasattr(self.X, "tocsr") else self.X
        return Rows(X[which], self.y[which], self.weights[which])


@dataclass(eq=False, repr=False)
class GreedyLinear(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator of a sparse linear predictor.

    A subclass says how y is read (`_answers`), which loss it has (`_loss`), how a fit becomes
    ``coef_`` (`_keep`), and what held-out rows lose (`_held_out_loss`).
    """

    threshold: float | str | CoefficientSelector = "auto"
    _: KW_ONLY
    n_nonzero: int | None = None
    floor: float | None = None
    nu: float = 0.5
    groups: Groups | None = None
    fit_intercept: bool = True

    @fitting
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Search for the columns that predict y.

        Parameters
        ----------
        X : (n, p) array, data frame or scipy sparse matrix of numbers
            float64 and float32 are not copied; sparse columns are neither made dense nor centred.
        y : (n,) array
            Numbers for a regressor, labels for a classifier.
        sample_weight : (n,) array, optional
            Counts: weight w on a row equals w copies of it.
        progress : function of (columns in the model, columns at most), optional
            Called after every forward step; with cross-validation, for each search in turn.

        Returns
        -------
        self

        Examples
        --------
        >>> import isinglass as ig
        >>> ig.GreedyRegressor(n_nonzero=1).fit([[0, 1], [1, 1], [2, 0]], [0, 1, 2]).coef_.round(6)
        array([1., 0.])
        """
        rule = coefficient_selector(self.threshold)
        rows = self._rows(X, y, sample_weight)
        names = getattr(self, "feature_names_in_", None)
        self._blocks, called = _read_groups(self.groups, names, self.n_features_in_)
        try:
            loss = self._loss(rows)
        except NotFinite as error:
            raise not_finite(error.columns, names) from None
        self.floor_ = self._checked_floor(rule, loss.n, len(self._blocks))
        path = self._search(loss, self.floor_, progress)
        self.path_ = replace(path, names=called, library=library_of(X))
        self.selection_ = self._chosen(rule, loss, rows, progress)
        self.threshold_ = self.selection_.threshold
        self._show(self.path_.at(max(self.threshold_, self.floor_)))
        return self

    def _search(self, loss: LinearLoss, floor: float, progress: Progress | None) -> Path:
        blocks = blocks_of(loss, self._blocks, standardise=True, likelihood=True)
        return search(
            blocks,
            floor,
            float(self.nu),
            max_size=self.n_nonzero,
            size_setting="n_nonzero",
            progress=progress,
        )

    def _checked_floor(self, rule: CoefficientSelector, n: float, p: int) -> float:
        if self.n_nonzero is not None:
            return LEAST
        floor = rule.floor(n, p)
        if self.floor is None:
            return floor
        if isinstance(rule, Selector) and self.floor > rule.threshold(n, p):
            raise SettingError(
                f"floor = {self.floor:g} is above the threshold {rule.threshold(n, p):.6g}; "
                "leave floor out, or use a smaller one."
            )
        return min(floor, float(self.floor))

    def _chosen(
        self, rule: CoefficientSelector, loss: LinearLoss, rows: Rows, progress: Progress | None
    ) -> Selection:
        if self.n_nonzero is not None:
            why = f"instead of a threshold; {self.path_.status}."
            return Selection(f"n_nonzero={self.n_nonzero}", self.floor_, None, why)
        cuts = Cuts.of(self.path_)
        df = [sum(loss.df(self._blocks[j]) for j in support) for support in cuts.supports]
        losses = np.array([self._likelihood_loss(loss, fit) for fit in cuts.fits])

        def held_out(rule: CrossValidated, thresholds: Array) -> Array:
            return self._held_out(rule, thresholds, rows, progress)

        p = len(self._blocks)
        look = PathLook(self.path_, loss.n, p, losses, np.array(df), held_out)
        return choose_coefficients(rule, look)

    def _held_out(
        self, rule: CrossValidated, thresholds: Array, rows: Rows, progress: Progress | None
    ) -> Array:
        """Minus the mean loss of each fold under the models of a search without it."""
        n = rows.weights.sum()
        if rule.folds > len(rows.y):
            raise SettingError(f"{rule.folds} folds need as many rows; there are {len(rows.y)}.")
        scores = []
        for train, held in self._folds(rule, rows):
            loss = self._loss(rows.some(train))
            scale = n / loss.n
            cuts = Cuts.of(self._search(loss, self.floor_ * scale, progress))
            out = rows.some(held)
            own = [
                -np.average(self._held_out_loss(loss, fit, out), weights=out.weights)
                for fit in cuts.fits
            ]
            scores.append(np.array(own)[cuts.at(thresholds * scale)])
        return np.array(scores)

    def _rows(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Rows:
        X, y = self._read(X, y)
        weights = row_weights(sample_weight, len(y))
        kept = np.flatnonzero(weights > 0)
        rows = Rows(X, y, weights)
        rows = rows if len(kept) == len(y) else rows.some(kept)
        return Rows(rows.X, self._answers(rows.y, rows.weights), rows.weights)

    def _read(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Numbers as scikit-learn reads them; its longest messages in a sentence."""
        _refuse_what_is_no_table(X)
        try:
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse=["csc", "csr"],
                dtype=[np.float64, np.float32],
                y_numeric=self._y_numeric,
                ensure_all_finite=False,  # the loss looks, and says so in a sentence
            )
        except (TypeError, ValueError):
            if not issparse(X):
                _refuse_text(X)
            if self._y_numeric and y is not None:
                _refuse_labels(y)
            raise
        if self._y_numeric and y.dtype.kind not in "iufb":
            _refuse_labels(y)
        return X, y

    def _show(self, path: Path) -> None:
        """Set what belongs to one threshold."""
        self._keep(path.final)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        for j in path.support:
            mask[list(self._blocks[j])] = True
        self.support_mask_ = mask

    @checked
    def at(self, threshold: float) -> Self:
        """Return this estimator at another threshold down to ``floor_``: same search, no refit.

        Examples
        --------
        >>> import numpy as np
        >>> import isinglass as ig
        >>> X = np.random.default_rng(0).normal(size=(200, 5))
        >>> est = ig.GreedyRegressor(floor=1e-4).fit(X, X[:, 1] + 0.2 * X[:, 3] + X[:, 0] ** 2)
        >>> est.at(1.0).get_support().any()
        np.False_
        """
        check_is_fitted(self)
        if threshold < self.floor_:
            raise BelowFloor(
                f"the search ran to floor_ = {self.floor_:.6g}, so {threshold:.6g} is out of "
                f"reach; refit with {type(self).__name__}(floor={threshold:.6g}).",
                threshold=threshold,
                floor=self.floor_,
            )
        other = copy.copy(self)
        other.threshold_ = float(threshold)
        other._show(self.path_.at(threshold))
        return other

    @checked
    def get_support(self, indices: bool = False) -> Any:
        """Return which columns have a coefficient: a mask, or their positions.

        Examples
        --------
        >>> import numpy as np
        >>> import isinglass as ig
        >>> X = np.random.default_rng(0).normal(size=(200, 5))
        >>> ig.GreedyRegressor().fit(X, 2 * X[:, 1]).get_support(indices=True)
        array([1])
        """
        check_is_fitted(self)
        return np.flatnonzero(self.support_mask_) if indices else self.support_mask_

    def _eta(self, X: Any) -> Array:
        """The (n, q) predictor of new rows."""
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            accept_sparse=["csr", "csc"],
            dtype=np.float64,
            reset=False,
            ensure_all_finite=False,
        )
        try:
            check_finite(X)
        except NotFinite as error:
            raise not_finite(error.columns, getattr(self, "feature_names_in_", None)) from None
        eta: Array = np.asarray(X @ np.atleast_2d(self.coef_).T) + np.atleast_1d(self.intercept_)
        return eta

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "path_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    _y_numeric = True

    def _answers(self, y: NDArray[Any], weights: Array) -> NDArray[Any]:
        raise NotImplementedError

    def _loss(self, rows: Rows) -> LinearLoss:
        raise NotImplementedError

    def _keep(self, fit: Fit) -> None:
        raise NotImplementedError

    def _folds(self, rule: CrossValidated, rows: Rows) -> Any:
        raise NotImplementedError

    def _held_out_loss(self, loss: LinearLoss, fit: Fit, rows: Rows) -> Array:
        raise NotImplementedError

    def _likelihood_loss(self, loss: LinearLoss, fit: Fit) -> float:
        """The negative log-likelihood per row of a fit, but for a constant."""
        return fit.loss


def _read_groups(
    groups: Any, names: Any, size: int
) -> tuple[Mapping[int, Block], tuple[str, ...] | None]:
    """The columns of each group, and what paths call the groups."""
    called = None if names is None else tuple(map(str, names))
    if groups is None or not len(groups):
        return named_groups(groups, size), called
    if not isinstance(groups[0], Iterable) or isinstance(groups[0], str):
        blocks = named_groups(groups, size)
        return blocks, tuple(map(str, np.unique(np.asarray(groups))))
    number = {} if called is None else {name: j for j, name in enumerate(called)}
    unknown = [i for group in groups for i in group if isinstance(i, str) and i not in number]
    if unknown:
        known = "X has no names of columns; use their positions" if called is None else ""
        raise SettingError(
            f"groups name {shown(unknown[0])}, which is no column of X; "
            + (known or "each name must be one of its columns.")
        )
    blocks = named_groups([[number.get(i, i) for i in group] for group in groups], size)
    if called is None:
        return blocks, None
    return blocks, tuple(_together([called[i] for i in block]) for block in blocks.values())


def _together(names: list[str]) -> str:
    """What a group of columns is called."""
    left = len(names) - LONGEST_GROUP
    return " + ".join(names[:LONGEST_GROUP] + [f"{left} more"] * (left > 0))


def _refuse_what_is_no_table(X: Any) -> None:
    """Refuse what has not rows and columns of real numbers and names that differ."""
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) != 2:
        raise TableError(
            f"X must be (n, p), a table of numbers; got shape {tuple(shape)}. A single column is "
            "X.reshape(-1, 1), a single row X.reshape(1, -1)."
        )
    if getattr(getattr(X, "dtype", None), "kind", "") == "c":
        raise TableError("Complex data not supported: X must hold real numbers.")
    if hasattr(X, "columns"):
        names_of_frame(X)


def _refuse_text(X: Any) -> None:
    """Name the first column that holds something else than numbers, if there is one."""
    names = names_of_frame(X) if hasattr(X, "columns") else None
    columns = (X[name] for name in names) if names else np.asarray(X, dtype=object).T
    for j, column in enumerate(columns):
        for value in np.asarray(column, dtype=object):
            if _is_text_or_date(value):
                word = repr(names[j]) if names else str(j)
                raise TableError(
                    f"column {word} holds {shown(value)}; a regression takes numbers only. Encode "
                    "it (by scikit-learn's OneHotEncoder, or numbers of your own) or drop it."
                )


def _refuse_labels(y: Any) -> None:
    """Name the first answer that is no number, if there is one."""
    for value in np.asarray(y, dtype=object).ravel():
        if _is_text_or_date(value):
            raise TableError(
                f"y holds {shown(value)}; GreedyRegressor takes numbers. For labels of classes "
                "there is GreedyClassifier."
            )


def _is_text_or_date(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return True
    except TypeError:  # missing values, and what scikit-learn has words for
        return hasattr(value, "isoformat")
    return False
