"""Algorithm 1 for two classes and more, as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from isinglass.errors import TableError
from isinglass.estimators.linear import GreedyLinear, Rows
from isinglass.losses import LogisticLoss, MultinomialLoss
from isinglass.losses.forms import zero_sum_basis
from isinglass.losses.linear import LinearLoss
from isinglass.losses.protocol import Fit
from isinglass.selection import CrossValidated
from isinglass.wording import listed, shown

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class GreedyClassifier(ClassifierMixin, GreedyLinear):  # type: ignore[misc]
    """Sparse logistic and softmax regression by the paper's greedy search (Algorithm 1).

    With more than two classes a column enters with one coefficient per class, which sum to zero;
    its gain is compared by that of one coefficient that would be as surprising.

    Parameters
    ----------
    threshold, n_nonzero, floor, nu, groups, fit_intercept
        As in :class:`GreedyRegressor`.

    Attributes
    ----------
    classes_ : (K,) array
    coef_ : (1, p) or (K, p) array
        As in scikit-learn: with two classes the log-odds of the second.
    intercept_ : (1,) or (K,) array
    path_, threshold_, floor_, selection_, n_features_in_, feature_names_in_
        As in :class:`GreedyRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 500))
    >>> y = np.where(2 * X[:, 3] - 2 * X[:, 7] + rng.logistic(size=300) > 0, "yes", "no")
    >>> est = ig.GreedyClassifier().fit(X, y)
    >>> est.get_support(indices=True), est.classes_
    (array([3, 7]), array(['no', 'yes'], dtype='<U3'))
    """

    _y_numeric = False

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the classes: (n, K), or (n,) log-odds of the second of two.

        Examples
        --------
        >>> import isinglass as ig
        >>> est = ig.GreedyClassifier(n_nonzero=1).fit([[0], [0], [1], [1], [1]], [0, 1, 1, 1, 0])
        >>> bool(abs(est.decision_function([[0]])[0]) < 1e-6)
        True
        """
        eta = self._eta(X)
        return eta[:, 0] if len(self.classes_) == 2 else eta

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class: (n, K).

        Examples
        --------
        >>> import isinglass as ig
        >>> est = ig.GreedyClassifier(n_nonzero=1).fit([[0], [0], [1], [1], [1]], [0, 1, 1, 1, 0])
        >>> est.predict_proba([[1]]).round(3)
        array([[0.333, 0.667]])
        """
        eta = self._eta(X)
        if len(self.classes_) == 2:
            return np.hstack([expit(-eta), expit(eta)])
        return np.asarray(softmax(eta, axis=1))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of each class.

        Examples
        --------
        >>> import isinglass as ig
        >>> est = ig.GreedyClassifier(n_nonzero=1).fit([[0], [0], [1], [1], [1]], [0, 1, 1, 1, 0])
        >>> est.predict_log_proba([[1]]).round(3)
        array([[-1.099, -0.405]])
        """
        eta = self._eta(X)
        both = np.hstack([np.zeros_like(eta), eta]) if len(self.classes_) == 2 else eta
        return np.asarray(log_softmax(both, axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row.

        Examples
        --------
        >>> import isinglass as ig
        >>> est = ig.GreedyClassifier(n_nonzero=1).fit([[0], [0], [1], [1], [1]], [0, 0, 1, 1, 0])
        >>> est.predict([[0], [1]])
        array([0, 1])
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        found: NDArray[Any] = self.classes_[best]
        return found

    def _answers(self, y: NDArray[Any], weights: Array) -> NDArray[Any]:
        try:
            check_classification_targets(y)
            self.classes_, codes = np.unique(y, return_inverse=True)
        except TypeError as error:  # of comparisons
            kinds = sorted({type(value).__name__ for value in y})
            raise TableError(
                f"y holds labels of several kinds ({listed(kinds, 5)}), which cannot be put in "
                "order; make them all text or all numbers, and drop rows without a label."
            ) from error
        if len(self.classes_) < 2:
            raise TableError(
                f"y has one class, {_label(self.classes_[0])}, in the rows of positive weight; a "
                "classifier needs two or more."
            )
        return np.asarray(codes)

    def _loss(self, rows: Rows) -> LinearLoss:
        kind = LogisticLoss if len(self.classes_) == 2 else MultinomialLoss
        return kind(rows.X, rows.y, rows.weights, intercept=bool(self.fit_intercept))

    def _folds(self, rule: CrossValidated, rows: Rows) -> Any:
        """Folds over which the classes are dealt, so that every training part has all of them."""
        counts = np.bincount(rows.y, minlength=len(self.classes_))
        if counts.min() < 2:
            rare = self.classes_[int(counts.argmin())]
            raise TableError(
                f"class {_label(rare)} has one row, which cannot be both held out and learned "
                "from; choose the threshold without folds, or drop the class."
            )
        order = np.random.default_rng(rule.seed).permutation(len(rows.y))
        order = order[np.argsort(rows.y[order], kind="stable")]
        fold = np.empty(len(order), dtype=int)
        fold[order] = np.arange(len(order)) % int(rule.folds)
        return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]

    def _held_out_loss(self, loss: LinearLoss, fit: Fit, rows: Rows) -> Array:
        coef, level = self._by_class(fit)
        used = np.flatnonzero(coef.any(axis=0))
        eta = np.asarray(rows.X[:, used] @ coef[:, used].T) + level
        both = np.hstack([np.zeros_like(eta), eta]) if eta.shape[1] == 1 else eta
        return np.asarray(-log_softmax(both, axis=1)[np.arange(len(both)), rows.y])

    def _keep(self, fit: Fit) -> None:
        self.coef_, self.intercept_ = self._by_class(fit)

    def _by_class(self, fit: Fit) -> tuple[Array, Array]:
        """Coefficients (1, p) or (K, p), and intercepts."""
        if len(self.classes_) == 2:
            return np.array(fit.coef)[None], np.atleast_1d(fit.intercept)
        basis = zero_sum_basis(len(self.classes_))
        return np.array((fit.coef @ basis.T).T), np.array(basis @ fit.intercept)


def _label(value: Any) -> str:
    """A label as Python writes it, not as numpy does."""
    return shown(value.item() if isinstance(value, np.generic) else value)
