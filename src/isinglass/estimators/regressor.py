"""Algorithm 1 for a numeric answer, as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from isinglass.errors import TableError
from isinglass.estimators.linear import GreedyLinear, Rows
from isinglass.losses import HuberLoss, PoissonLoss, SquaredLoss
from isinglass.losses.linear import LinearLoss, check_answers
from isinglass.losses.protocol import Fit
from isinglass.selection import CrossValidated

Array = NDArray[np.float64]

#: The standard deviation of normal errors over their median absolute deviation.
NORMAL = 1.4826


@dataclass(eq=False, repr=False)
class GreedyRegressor(RegressorMixin, GreedyLinear):  # type: ignore[misc]
    """Sparse regression by the forward-backward greedy search of the paper (Algorithm 1).

    Each step adds the column that lowers the loss most, or drops one that has become cheap, and
    refits. Gains are exact minima, in log-likelihood per row, so that neither the units of y nor
    those of the columns matter.

    Parameters
    ----------
    threshold : float, str or selector
        What a coefficient must gain in log-likelihood per row: a number, ``"auto"`` (about 0.05
        false coefficients in all), ``"false-coefficients:1"``, ``"bic"``, ``"ebic:1"``, ``"cv:5"``
        or an object of :mod:`isinglass.selection`.
    n_nonzero : int, optional
        Stop at that many columns (or groups) instead; `threshold` is then not used.
    floor : float, optional
        The smallest threshold the search runs to, for `at`.
    nu : float
        A column is dropped when that costs at most nu times the gain recorded for the present
        number of columns; strictly between 0 and 1.
    groups : lists of columns, or one label per column, optional
        Columns that enter and leave together, by positions or, in a data frame, by names. Gains of
        groups are compared by the gain of one coefficient that would be as surprising.
    fit_intercept : bool
    loss : "squared", "huber" or "poisson"
        Poisson models the logarithm of the mean of counts.
    k : float
        Where Huber's loss bends, in standard deviations: those of normal errors with the median
        absolute deviation of y.

    Attributes
    ----------
    coef_ : (p,) array
    intercept_ : float
    path_ : Path
        What the search did; ``path_.to_frame()`` is a table of it, ``isinglass.plots.path(path_)``
        a picture. With the squared and Huber's loss its losses and coefficients are those of y in
        standard deviations.
    threshold_, floor_ : float
    selection_ : Selection
        How the threshold was chosen, and why.
    n_features_in_, feature_names_in_
        As scikit-learn defines them.

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1000))
    >>> y = 3 * X[:, 10] - 2 * X[:, 20] + rng.normal(size=200)
    >>> est = ig.GreedyRegressor().fit(X, y)
    >>> est.get_support(indices=True), est.coef_[[10, 20]].round(1)
    (array([10, 20]), array([ 3.1, -1.9]))
    """

    _: KW_ONLY
    loss: str = "squared"
    k: float = 1.345

    def predict(self, X: Any) -> Array:
        """Return the mean of y for rows of the same columns.

        Examples
        --------
        >>> import isinglass as ig
        >>> est = ig.GreedyRegressor(n_nonzero=1).fit([[0, 1], [1, 1], [2, 0]], [0, 1, 2])
        >>> est.predict([[5, 0]]).round(6)
        array([5.])
        """
        eta = self._eta(X)[:, 0]
        return np.exp(eta) if self.loss == "poisson" else eta

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss == "poisson"
        return tags

    def _answers(self, y: NDArray[Any], weights: Array) -> Array:
        y = y.astype(np.float64)
        check_answers(y)
        if self.loss == "poisson":
            if (y < 0).any():
                raise TableError(
                    f'loss="poisson" needs counts, 0 or more; y holds {y.min():g}. Take '
                    'loss="squared" for numbers of either sign.'
                )
            self._centre, self._unit = 0.0, 1.0
            return y
        self._centre = float(np.average(y, weights=weights)) if self.fit_intercept else 0.0
        spread = float(np.sqrt(np.average((y - self._centre) ** 2, weights=weights)))
        self._unit = spread if spread > 1e-12 * np.abs(y).max(initial=0.0) else 1.0
        return (y - self._centre) / self._unit

    def _loss(self, rows: Rows) -> LinearLoss:
        given: tuple[Any, ...] = rows.X, rows.y, rows.weights
        intercept = bool(self.fit_intercept)
        if self.loss == "squared":
            return SquaredLoss(*given, intercept=intercept)
        if self.loss == "poisson":
            return PoissonLoss(*given, intercept=intercept)
        return HuberLoss(*given, intercept=intercept, k=float(self.k) * _robust_spread(rows))

    def _likelihood_loss(self, loss: LinearLoss, fit: Fit) -> float:
        if isinstance(loss, SquaredLoss):
            return 0.5 * float(np.log(max(fit.loss, 1e-12)))
        if isinstance(loss, HuberLoss):
            return float(loss.in_likelihood(self.path_.final, np.array([fit.loss]))[0])
        return fit.loss

    def _folds(self, rule: CrossValidated, rows: Rows) -> Any:
        from sklearn.model_selection import KFold  # imports much

        return KFold(int(rule.folds), shuffle=True, random_state=rule.seed).split(rows.y)

    def _held_out_loss(self, loss: LinearLoss, fit: Fit, rows: Rows) -> Array:
        used = np.flatnonzero(fit.coef)
        eta = fit.intercept + rows.X[:, used] @ fit.coef[used]
        if isinstance(loss, PoissonLoss):
            return np.asarray(np.exp(np.minimum(eta, 700.0)) - rows.y * eta)
        away = np.abs(eta - rows.y)
        inner = np.minimum(away, loss.k) if isinstance(loss, HuberLoss) else away
        return np.asarray(inner * (away - inner / 2))

    def _keep(self, fit: Fit) -> None:
        self.coef_ = self._unit * fit.coef
        self.intercept_ = self._centre + self._unit * float(fit.intercept)


def _robust_spread(rows: Rows) -> float:
    """The weighted median absolute deviation of y, as that of normal errors; at least a little."""
    order = np.argsort(rows.y)

    def median(values: Array, order: NDArray[np.intp]) -> float:
        below = np.cumsum(rows.weights[order])
        return float(values[order[np.searchsorted(below, below[-1] / 2)]])

    away = np.abs(rows.y - median(rows.y, order))
    spread = NORMAL * median(away, np.argsort(away))
    # Most answers may be equal; y is in standard deviations.
    return max(spread, 0.01)
