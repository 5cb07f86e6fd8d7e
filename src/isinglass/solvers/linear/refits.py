"""Refits, gains and removals of losses with one predictor per row, in the compiled core.

Logistic and Poisson. A refit starts from the fit before it, with what the search for the best gain
found for the new column, and its columns are kept: few of them change from step to step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isinglass.core.regression import least_pairs, row_terms
from isinglass.losses.families import LogisticLoss, PoissonLoss
from isinglass.losses.linear import HUGE, RIDGE, LinearFit, LinearLoss
from isinglass.losses.newton import minimise
from isinglass.losses.protocol import Fit
from isinglass.solvers.linear.kept import KeptColumns
from isinglass.solvers.linear.rows import Rows

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class State:
    """The predictor of a fit, and the slopes and curvatures of the rows that are told apart."""

    fit: Fit
    eta: Array
    slope: Array
    curvature: Array


@dataclass(frozen=True, eq=False)
class _Entered:
    """The best candidate of a fit: its column, and where its gain was reached."""

    fit: Fit
    gain: float
    column: int
    level: float
    coefficient: float


def has_core(loss: LinearLoss) -> bool:
    """Whether the core knows the loss of a row."""
    return type(loss) in (LogisticLoss, PoissonLoss)


class CoreRefits:
    """Exact searches of a logistic or Poisson loss around its fits."""

    def __init__(self, loss: LinearLoss, rows: Rows, mean: Array) -> None:
        self.loss, self.rows, self.mean = loss, rows, mean
        self.poisson = isinstance(loss, PoissonLoss)
        self.kept = KeptColumns(rows, mean, loss.scale, first=int(loss.intercept))
        self._entered: _Entered | None = None

    def terms(self, eta: Array) -> tuple[float, Array, Array]:
        """Mean loss of an (n,) predictor, and shares times slopes and curvatures of the rows."""
        value, slope, curvature = row_terms(eta, self.rows.y, self.rows.share, poisson=self.poisson)
        return (value if value < HUGE else np.inf), slope, curvature

    def fit(self, active: Sequence[int], start: Fit | None) -> State:
        """The minimiser over some coordinates, and the rows there."""
        loss, first = self.loss, int(self.loss.intercept)
        Z, columns = self.kept.columns(active), list(active)
        ridge = np.concatenate([np.zeros(first), np.full(len(columns), RIDGE * loss.ridge_factor)])

        def objective(x: Array) -> tuple[float, Array, Array]:
            value, slope, curvature = self.terms(Z @ x)
            weighted = Z * np.sqrt(curvature)[:, None]
            hessian = weighted.T @ weighted  # of one array: half the work
            hessian[np.diag_indices(len(x))] += ridge
            return value + 0.5 * float(ridge @ x**2), slope @ Z + ridge * x, hessian

        x = minimise(objective, self._first(columns, start))
        eta = Z @ x
        value, slope, curvature = self.terms(eta)
        values = x[first:] / loss.scale[columns]
        level = float(x[0]) - float(self.mean[columns] @ values) if first else 0.0
        found = LinearFit(columns, values, level, value, loss.size)
        return State(found, eta[:, None], slope[:, None], curvature[:, None, None])

    def at(self, fit: Fit) -> State:
        """The rows at a fit that was made before."""
        coef, first = fit.coef, int(self.loss.intercept)
        used = np.flatnonzero(coef).tolist()
        level = fit.intercept + float(self.mean[used] @ coef[used])
        eta = level + self.kept.columns(used)[:, first:] @ (coef[used] * self.loss.scale[used])
        _, slope, curvature = self.terms(eta)
        return State(fit, eta[:, None], slope[:, None], curvature[:, None, None])

    def _first(self, columns: list[int], start: Fit | None) -> Array:
        """Where a refit starts: at the fit before, and the best gain of the new column."""
        loss, first = self.loss, int(self.loss.intercept)
        x = np.zeros(first + len(columns))
        if start is None:
            return x
        held = np.asarray(start.coef)
        x[first:] = held[columns] * loss.scale[columns]
        if first:
            used = np.flatnonzero(held)
            x[0] = start.intercept + float(self.mean[used] @ held[used])
        entered = self._entered
        if entered is not None and entered.fit is start and entered.column in columns:
            x[first + columns.index(entered.column)] = entered.coefficient
            x[:first] += entered.level
        return x

    def parts(self, fit: Fit, columns: Numbers) -> Array:
        """What some columns add to the predictor, less their means: (m, n, 1)."""
        Z = self.kept.columns(columns.tolist())[:, int(self.loss.intercept) :]
        added: Array = (Z * (fit.coef[columns] * self.loss.scale[columns])).T
        return added[:, :, None]

    def removed(self, state: State, columns: Numbers) -> tuple[Array, Array]:
        """Curvatures along what some columns add to the predictor, and how far it spreads at most.

        Of one column that is its curvature and its range, times the coefficient.
        """
        design, weights, first = self.loss.design, state.curvature[:, 0, 0], self.loss.intercept
        coef, low, high = state.fit.coef[columns], design.low[columns], design.high[columns]
        Z = self.kept.columns(columns.tolist())[:, int(first) :]
        form = weights @ Z**2
        if first:
            form -= (weights @ Z) ** 2 / max(float(weights.sum()), 1e-300)
        form *= (coef * self.loss.scale[columns]) ** 2
        return form, np.abs(coef) * (high - low if first else np.maximum(np.abs(low), np.abs(high)))

    def gains(self, state: State, columns: Numbers, bar: float) -> Array:
        """How far some columns lower the loss; minus infinity if they cannot reach the bar."""
        loss, design = self.loss, self.loss.design
        mean, scale = self.mean[columns], loss.scale[columns]
        values, eta, y, share = self.rows.beside(columns, state.eta[:, 0])
        Z = (values - mean) / scale
        reach = np.maximum(design.high[columns] - mean, mean - design.low[columns]) / scale
        least, levels, coefficients = least_pairs(
            Z.T,
            np.maximum(reach, 1e-300),
            eta,
            y,
            share,
            poisson=self.poisson,
            intercept=loss.intercept,
            bar=bar,
        )
        best = int(np.argmin(least))
        gains: Array = state.fit.loss - least
        before, gain = self._entered, float(gains[best])
        if before is None or before.fit is not state.fit or gain > before.gain:
            where = int(columns[best]), float(levels[best]), float(coefficients[best])
            self._entered = _Entered(state.fit, gain, *where)
        return gains

    def least_over_intercept(self, offset: Array) -> Array:
        """The least loss over the intercept, around each (n,) predictor of a stack."""
        loss = self.loss
        if self.poisson:
            far = offset.max(axis=1)
            offset = np.where(far > 200.0, offset.T - far, offset.T).T if loss.intercept else offset
        if not loss.intercept:
            return np.array([self.terms(one)[0] for one in offset])
        ones = np.ones((1, offset.shape[1]))
        least: Array = least_pairs(
            ones,
            np.ones(1),
            offset,
            self.rows.y,
            self.rows.share,
            poisson=self.poisson,
            intercept=False,
        )[0]
        return least
