"""The losses that come with the package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import SettingError
from isinglass.losses.forms import zero_sum_basis
from isinglass.losses.linear import LinearLoss
from isinglass.losses.protocol import Fit
from isinglass.parameters import check

Array = NDArray[np.float64]


#: A variance below this share of that of y is none.
PERFECT = 1e-10


class SquaredLoss(LinearLoss):
    """Half the mean squared error of a linear model.

    Examples
    --------
    >>> loss = SquaredLoss([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> fit = loss.fit([0])
    >>> round(fit.intercept, 6), fit.coef.round(6)
    (1.0, array([2.]))
    """

    def pointwise(self, eta: Array) -> tuple[Array, Array, Array]:
        """Half the squared residual of each row, and its derivatives."""
        residual = eta - self.y
        return 0.5 * residual**2, residual, np.ones_like(eta)

    def in_likelihood(self, fit: Fit, change: Array) -> Array:
        """Changes of the loss as changes of a normal log-likelihood per row, its variance unknown.

        Twice the rows times that is about chi-square, with Bartlett's correction for the
        coefficients that were estimated; a fit without residuals counts as one with very small
        ones.
        """
        level = self.share @ self.y if self.intercept else 0.0
        loss = fit.loss + PERFECT * float(self.share @ (self.y - level) ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log1p(np.maximum(change, -fit.loss) / loss) if loss > 0 else 0.0 * change
        return 0.5 * rows_left(self, fit) * logs


class LogisticLoss(LinearLoss):
    """Mean negative log-likelihood of a logistic regression.

    `y` has two distinct values; the larger one is the event. With predictors and answers
    coded -1/+1 the coefficient is twice the Ising coupling.

    Examples
    --------
    >>> loss = LogisticLoss([[0], [0], [1], [1], [1]], [0, 1, 1, 1, 0])
    >>> loss.fit([0]).coef.round(4)      # log(2) - log(1)
    array([0.6931])
    """

    def prepare(self) -> None:
        """Find the two classes, and code y as 0 and 1."""
        self.classes = np.unique(self.y)
        if len(self.classes) > 2:
            raise SettingError(
                f"LogisticLoss needs two classes, y has {len(self.classes)}; use MultinomialLoss."
            )
        self.y = (self.y == self.classes[-1]).astype(np.float64)

    def pointwise(self, eta: Array) -> tuple[Array, Array, Array]:
        """Negative log-likelihood of each row, and its derivatives."""
        small = np.exp(-np.abs(eta))  # all follows from one exponential
        smaller = small / (1.0 + small)
        larger = 1.0 / (1.0 + small)
        value = np.maximum(eta, 0.0) - self.y * eta + np.log1p(small)
        return value, np.where(eta < 0, smaller, larger) - self.y, smaller * larger


class HuberLoss(LinearLoss):
    """Mean of Huber's loss: half the squared residual up to `k`, linear beyond.

    A few grossly wrong answers cannot distort the fit.

    Parameters
    ----------
    X, y, sample_weight, intercept
        As in :class:`LinearLoss`.
    k : float
        Where the loss bends, in units of y. With normal errors of standard deviation s, 1.345 s
        costs five percent of the efficiency of least squares.

    Examples
    --------
    >>> loss = HuberLoss([[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 99.0], k=0.01)
    >>> loss.fit([0]).coef.round(2)
    array([1.])
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        intercept: bool = True,
        k: float = 1.345,
    ) -> None:
        check("k", k, "HuberLoss")
        self.k = float(k)
        super().__init__(X, y, sample_weight, intercept=intercept)

    def pointwise(self, eta: Array) -> tuple[Array, Array, Array]:
        """Huber's loss of each row, and its derivatives."""
        residual = eta - self.y
        inner = np.clip(residual, -self.k, self.k)
        bent = np.abs(residual) <= self.k
        return inner * (residual - inner / 2), inner, bent.astype(np.float64)

    def in_likelihood(self, fit: Fit, change: Array) -> Array:
        """Changes of the loss in units in which twice the rows times them is about chi-square."""
        _, slope, curvature = self.pointwise(self.eta(fit.coef, fit.intercept)[:, 0])
        spread = float(self.share @ slope**2)
        unit = spread / max(float(self.share @ curvature), PERFECT)
        return rows_left(self, fit) * change / max(unit, PERFECT * self.k**2)


class PoissonLoss(LinearLoss):
    """Mean negative log-likelihood of a Poisson regression, up to a constant of the data.

    Examples
    --------
    >>> loss = PoissonLoss([[0], [1]], [2, 6])
    >>> np.exp(loss.fit([0]).intercept).round(4), np.exp(loss.fit([0]).coef).round(4)
    (np.float64(2.0), array([3.]))
    """

    def prepare(self) -> None:
        """Check that y holds counts."""
        if (np.asarray(self.y) < 0).any():
            raise SettingError("PoissonLoss needs counts; y holds negative numbers.")

    def pointwise(self, eta: Array) -> tuple[Array, Array, Array]:
        """Negative log-likelihood of each row (without log y!), and its derivatives."""
        rate = np.exp(eta)
        return rate - self.y * eta, rate - self.y, rate


class MultinomialLoss(LinearLoss):
    """Mean negative log-likelihood of a softmax regression on any number of classes.

    Coefficients are held as K-1 orthonormal contrasts between the K classes, the columns of
    `basis`; `coef_table` gives them class by class, summing to zero.

    Examples
    --------
    >>> loss = MultinomialLoss([[0], [0], [0], [1], [1], [1]], ["a", "b", "c", "a", "a", "b"])
    >>> table = loss.coef_table(loss.fit([0]))
    >>> table.shape, bool(abs(table.sum()) < 1e-9)
    ((1, 3), True)
    """

    # In logits, so that two classes give the ridge of LogisticLoss.
    ridge_factor = 2.0

    def prepare(self) -> None:
        """Find the classes, and the contrasts between them."""
        self.classes, codes = np.unique(self.y, return_inverse=True)
        if len(self.classes) < 2:
            raise SettingError("MultinomialLoss needs at least two classes in y.")
        self.width = len(self.classes) - 1
        self.basis = zero_sum_basis(len(self.classes))
        self._seen = np.eye(len(self.classes))[codes]

    def pointwise(self, eta: Array) -> tuple[Any, Any, Any]:
        """Negative log-likelihood of each row, and its derivatives."""
        eta = eta.reshape(len(self._seen), self.width)
        value, slope, curvature = softmax_terms(eta @ self.basis.T, self._seen)
        return value, slope @ self.basis, self.basis.T @ curvature @ self.basis

    def coef_table(self, fit: Fit) -> Array:
        """Coefficients of a fit, one row per coordinate, one column per class."""
        table: Array = np.reshape(fit.coef, (self.size, self.width)) @ self.basis.T
        return table


def rows_left(loss: LinearLoss, fit: Fit) -> float:
    """The share of the rows that a fit and one more coefficient leave, less Bartlett's half."""
    used = np.flatnonzero(fit.coef)
    if loss.intercept:
        used = used[loss.design.high[used] > loss.design.low[used]]
    return max(loss.n - len(used) - 1 - int(loss.intercept) - 0.5, 0.0) / loss.n


def softmax_terms(scores: Array, counts: Array) -> tuple[Array, Array, Array]:
    """Negative log-likelihood of counts under a softmax: value, slope, curvature a row."""
    top = scores.max(axis=1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=1, keepdims=True)
    probability = weights / total
    rows = counts.sum(axis=1, keepdims=True)
    value = (rows * (top + np.log(total)))[:, 0] - np.einsum("sa,sa->s", counts, scores)
    curvature = -probability[:, :, None] * probability[:, None, :]
    diagonal = np.arange(scores.shape[1])
    # Not p - p^2, which cancels: p times the probability of all others.
    others = (total - weights) / total
    curvature[:, diagonal, diagonal] = probability * np.maximum(others, 0.0)
    return value, rows * probability - counts, rows[:, :, None] * curvature
