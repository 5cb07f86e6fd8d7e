"""Losses of a linear predictor: what they share, and the base class for a user's own.

A row's loss depends on its predictor ``eta`` (one number, or one for each contrast of
several classes). Everything the greedy search asks is then one small problem: minimise over
the coefficients of a few design columns, with the rest of the predictor held as an offset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from isinglass.errors import SettingError
from isinglass.losses.design import Design, read_design, sound_sizes, too_far
from isinglass.losses.newton import Objective, minimise
from isinglass.losses.protocol import Block, Fit
from isinglass.parameters import check

Array = NDArray[np.float64]
Terms = Callable[[Array], tuple[float, Array, Array]]

#: Refits add RIDGE/2 times the squared coefficients: it moves no gain by more than 1e-7, and
#: makes the minimiser unique and finite under separation and collinearity.
RIDGE = 1e-8
#: Searches over one block stand for an infimum, which may lie at infinity: this is added to the
#: curvatures of their steps only. As a ridge (which it is for tables, whose columns are 0 and 1) it
#: would be felt where a column has values of very different sizes: the small ones ask for large
#: coefficients.
VANISHING = 1e-13
#: A loss with slopes whose squares might overflow.
HUGE = 1e100


def predictor_objective(design: Any, offset: Array, terms: Terms, ridge: Array) -> Objective:
    """Objective over coefficients B (flattened, k x q) of ``offset + design @ B``.

    Parameters
    ----------
    design : (n, k) array, dense or sparse
    offset : (n, q) array
    terms : function of the (n, q) predictor
        Returns the total loss, its slope (n, q) and its curvature (n, q, q).
    ridge : (k,) array
        Weight of the squared coefficients of each design column, halved.
    """
    k, q = design.shape[1], offset.shape[1]

    def objective(flat: Array) -> tuple[float, Array, Array]:
        coefficients = flat.reshape(k, q)
        value, slope, curvature = terms(offset + design @ coefficients)
        penalty = ridge[:, None] * coefficients
        gradient = design.T @ slope + penalty
        hessian = np.empty((k, q, k, q))
        for a in range(q):
            for b in range(a + 1):
                hessian[:, a, :, b] = weighted_gram(design, curvature[:, a, b])
                hessian[:, b, :, a] = hessian[:, a, :, b]
        flat_hessian = hessian.reshape(k * q, k * q)
        flat_hessian[np.diag_indices(k * q)] += np.repeat(ridge, q)
        return (
            value + 0.5 * float(np.sum(penalty * coefficients)),
            gradient.ravel(),
            flat_hessian,
        )

    return objective


def weighted_gram(design: Any, weights: Array) -> Array:
    """``design.T @ diag(weights) @ design`` of dense or sparse columns."""
    if sparse.issparse(design):
        return np.asarray((design.T @ design.multiply(weights[:, None])).toarray())
    gram: Array = (design * weights[:, None]).T @ design
    return gram


class LinearFit(Fit):
    """A fit that keeps the coefficients of its support only; there may be very many others.

    Attributes
    ----------
    active : (k,) array
        Coordinates of the support.
    values : (k,) or (k, q) array
        Their coefficients.
    size : int
        Coordinates in all.
    """

    active: NDArray[np.intp]
    values: Array
    size: int

    def __init__(
        self, active: Sequence[int], values: Array, intercept: Any, loss: float, size: int
    ) -> None:
        numbers = np.asarray(active, dtype=np.intp)
        own = {"active": numbers, "values": values, "size": size}
        vars(self).update(own | {"intercept": intercept, "loss": loss})

    @property
    def coef(self) -> Array:
        """Coefficients of all coordinates, made when asked for."""
        coef = np.zeros((self.size, *self.values.shape[1:]))
        coef[self.active] = self.values
        return coef


class LinearLoss:
    """Base of losses that depend on ``eta = intercept + X @ coef``, one number per row.

    A subclass defines :meth:`pointwise`, and :meth:`prepare` if it is to check or recode y. The
    intercept is always active and is re-optimised in every gain, every removal and every refit.

    Parameters
    ----------
    X : (n, p) array of numbers, or scipy sparse matrix
        float32 and float64 are not copied; sparse columns are not made dense.
    y : (n,) array of numbers
    sample_weight : (n,) array, optional
        Weight w on a row equals w copies of it.
    intercept : bool
        Without it the predictor is ``X @ coef``.

    Attributes
    ----------
    design : Design
        The columns of X.
    share : (n,) array
        The rows' weights, divided by their sum.
    scale : (p,) array
        Half the range of each column: the unit of its coefficient in the ridge of refits.

    Notes
    -----
    Refits add 1e-8/2 times the squared coefficients, each on the scale of half its column's range.
    On well-posed problems it is negligible; on others it picks one finite answer.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import foba
    >>> class Absolute(LinearLoss):  # a smooth |y - eta|
    ...     def pointwise(self, eta):
    ...         residual = eta - self.y
    ...         root = np.sqrt(1e-2 + residual**2)
    ...         return root, residual / root, 1e-2 / root**3
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> y = 3 * X[:, 4] + rng.standard_t(2, size=200)
    >>> foba(Absolute(X, y), threshold=0.05).support
    (4,)
    """

    #: Predictors per row: 1, or the number of contrasts between classes.
    width = 1

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        intercept: bool = True,
    ) -> None:
        self.design, self.y, weights = _checked(X, y, sample_weight)
        self.n = float(weights.sum())
        check("intercept", intercept)
        self.intercept = bool(intercept)
        self.share = weights / self.n
        self.scale = _half_ranges(self.design)
        self.prepare()

    def prepare(self) -> None:
        """Check and recode y; called once, when X, y and weights are in place."""

    def pointwise(self, eta: Array) -> tuple[Array, Array, Array]:
        """Loss, first and second derivative of each row at the predictor `eta`, shape (n,).

        With ``width`` q above 1: `eta` is (n, q), and the three are (n,), (n, q), (n, q, q).
        """
        raise NotImplementedError

    @property
    def X(self) -> Any:  # noqa: N802 (the letter of the field)
        """The columns as they came, but for rows of weight 0."""
        return self.design.X

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.design.shape[1]

    def df(self, block: Block) -> int:
        """Free parameters of a block."""
        return len(block) * self.width

    def fit(self, active: Sequence[int], start: Fit | None = None) -> Fit:
        """Minimise the loss over the coordinates in `active`."""
        active = tuple(active)
        offset = np.zeros((len(self.design), self.width))
        solution = self._minimise(active, offset, RIDGE, start)
        level, values = solution[0], solution[1:]
        loss = self.terms(level + self.design.columns(list(active)) @ values)[0]
        if self.width == 1:
            return LinearFit(active, values[:, 0], float(level[0]), loss, self.size)
        return LinearFit(active, values, level, loss, self.size)

    def gains(self, fit: Fit, blocks: Sequence[Block]) -> list[float]:
        """How far each block alone can lower the loss."""
        offset = self.eta(fit.coef, fit.intercept)
        return [fit.loss - self._infimum(block, offset) for block in blocks]

    def costs(self, fit: Fit, blocks: Sequence[Block]) -> list[float]:
        """How much the loss rises when a block is set to zero."""
        costs = []
        for block in blocks:
            coef = np.array(fit.coef).reshape(self.size, self.width)
            coef[list(block)] = 0.0
            costs.append(self._infimum((), self.eta(coef, fit.intercept)) - fit.loss)
        return costs

    def _infimum(self, block: Block, offset: Array) -> float:
        """Least plain loss over a block and the intercept, around a held predictor."""
        held = self.terms(offset)[0]
        if not block and not self.intercept:
            return held
        if self.intercept and not held < HUGE:
            offset = offset - offset.max()  # the intercept makes up for it
        solution = self._minimise(block, offset)
        shift = solution[0] + self.design.columns(list(block)) @ solution[1:]
        return self.terms(offset + shift)[0]

    def _minimise(
        self, block: Block, offset: Array, ridge: float = 0.0, start: Fit | None = None
    ) -> Array:
        """Minimising coefficients: the intercept in row 0, then one row per coordinate.

        Without a ridge they are those of an infimum, or of a point near to it.
        """
        columns = list(block)
        scale = self.scale[columns]
        ridges = np.full(len(columns), ridge * self.ridge_factor)
        first = np.zeros((len(columns), self.width))
        if start is not None:
            first = np.reshape(start.coef, (self.size, self.width))[columns] * scale[:, None]
        if self.intercept:
            ridges = np.concatenate([[0.0], ridges])
            level = 0.0 if start is None else start.intercept
            first = np.vstack([np.broadcast_to(level, (1, self.width)), first])
        design, middle = self.design.scaled(columns, scale, intercept=self.intercept)
        if self.intercept:
            first[0] += middle @ first[1:]  # the intercept of centred columns
        objective = predictor_objective(design, offset, self.terms, ridges)
        if ridge:
            found = minimise(objective, first.ravel())
        else:
            found = minimise(objective, first.ravel(), tolerance=1e-15, steady=VANISHING)
        found = found.reshape(-1, self.width)
        if not self.intercept:
            found = np.vstack([np.zeros((1, self.width)), found])
        found[0] -= middle @ found[1:]
        found[1:] /= scale[:, None]
        return found

    #: The ridge of refits in the units of this loss's coefficients.
    ridge_factor = 1.0

    def terms(self, eta: Array) -> tuple[float, Array, Array]:
        """Mean loss at an (n, q) predictor, and its slope and curvature row by row."""
        n, q = eta.shape
        with np.errstate(over="ignore", invalid="ignore"):
            value, slope, curvature = self.pointwise(eta[:, 0] if q == 1 else eta)
            total = float(self.share @ value)
        return (
            total if np.isfinite(total) else np.inf,
            self.share[:, None] * np.reshape(slope, (n, q)),
            self.share[:, None, None] * np.reshape(curvature, (n, q, q)),
        )

    def eta(self, coef: Any, intercept: Any) -> Array:
        """The (n, q) predictor of some coefficients."""
        eta: Array = intercept + self.design.predictor(np.reshape(coef, (self.size, self.width)))
        return eta


def _checked(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Design, NDArray[Any], Array]:
    """Columns and answers of one length, without rows of weight 0."""
    y = np.asarray(y)
    X = X if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or y.ndim != 1 or X.shape[0] != len(y):
        raise SettingError(
            f"X must be (n, p) and y (n,) with one n; got shapes {X.shape} and {y.shape}."
        )
    n = len(y)
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if weights.shape != (n,) or not (weights >= 0).all() or not np.isfinite(weights).all():
        raise SettingError(f"sample_weight must be {n} finite numbers, none of them negative.")
    kept = weights > 0
    if not kept.any():
        raise SettingError("there is no row of positive weight.")
    if not kept.all():
        X, y, weights = (X.tocsr() if sparse.issparse(X) else X)[kept], y[kept], weights[kept]
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise SettingError("y holds NaN or infinite values; drop those rows first.")
    check_answers(y)
    return read_design(X), y, weights


def check_answers(y: NDArray[Any]) -> None:
    """Refuse numbers that cannot be squared and added."""
    largest = float(np.abs(y).max()) if y.dtype.kind == "f" else 0.0
    if not sound_sizes(np.array(largest)):
        raise SettingError(f"y {too_far(largest)}")


def _half_ranges(design: Design) -> Array:
    """Half the range of each column: 1 for -1/+1, 1/2 for 0/1, the same ridge for both."""
    half = design.high / 2 - design.low / 2
    flat = np.maximum(np.abs(design.low), np.abs(design.high))
    scale = np.where(half > 0, half, flat)
    return np.where(scale > 0, scale, 1.0)
