"""The squared loss: every gain and every cost in closed form, one product with X per step."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from isinglass.losses.linear import RIDGE, LinearLoss
from isinglass.losses.protocol import Block, Fit
from isinglass.solvers.linear.kept import KeptColumns
from isinglass.solvers.linear.race import Judge

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

#: Solutions are corrected by what their residuals leave.
CORRECTIONS = 2
#: Columns of a block, in units of half their range, that determine each other leave less.
FLAT = 1e-11


class SquaredWay:
    """Gains, costs and refits of the squared loss.

    With an intercept, columns and answers are centred: that is the same as to fit it anew in every
    gain, cost and refit.
    """

    batch = 1
    apart = True

    def __init__(self, loss: LinearLoss, members: Sequence[Block]) -> None:
        self.loss, self.members = loss, members
        self.y = np.asarray(loss.y, dtype=np.float64)
        share = loss.share[:, None]
        self.mean = loss.design.products(share)[:, 0] if loss.intercept else np.zeros(loss.size)
        self.level = float(loss.share @ self.y) if loss.intercept else 0.0
        self.known = _Known(loss, self.mean, self.y - self.level)
        self.forms = _Forms(loss, members, self.mean)
        self._last: tuple[Fit, Array] | None = None

    def fit(self, active: Sequence[int], start: Fit | None = None) -> Fit:
        """The minimiser over some coordinates."""
        coef = np.zeros(self.loss.size)
        beta, residual = self.known.solve(active)
        coef[list(active)] = beta
        intercept = self.level - float(self.mean[list(active)] @ beta)
        fit = Fit(coef, intercept, 0.5 * float(self.loss.share @ residual**2))
        self._last = fit, residual
        return fit

    def prospects(self, fit: Fit) -> tuple[Array, Array]:
        """Gains of all blocks: what they may be, and a guess, are the same here."""
        pull = self.loss.share * self._residual(fit)
        slope = self.loss.design.products(pull[:, None])[:, 0] - self.mean * pull.sum()
        gains = self.forms.halves(slope)
        return gains, gains

    def sharpen(self, fit: Fit, places: Numbers) -> None:
        """Nothing is sharper than exact prospects."""

    def gains(self, fit: Fit, places: Numbers, judge: Judge) -> Array:
        """Gains of some blocks."""
        return self.prospects(fit)[0][places]

    def least_costs(self, fit: Fit, places: Numbers) -> Array:
        """Costs, exactly."""
        return self.costs(fit, places)

    def costs(self, fit: Fit, places: Numbers) -> Array:
        """How much the loss rises without some blocks."""
        pull = self.loss.share * self._residual(fit)
        costs = np.empty(len(places))
        for at, place in enumerate(places):
            block = list(self.members[place])
            part = self.known.columns(block) @ (fit.coef[block] * self.loss.scale[block])
            costs[at] = pull @ part + 0.5 * float(self.loss.share @ part**2)
        return costs

    def _residual(self, fit: Fit) -> Array:
        if self._last is None or self._last[0] is not fit:
            eta = self.loss.eta(fit.coef, fit.intercept)[:, 0]
            self._last = fit, self.y - eta
        return self._last[1]


class _Known(KeptColumns):
    """Columns that were in some support, and their products."""

    def __init__(self, loss: LinearLoss, mean: Array, y: Array) -> None:
        super().__init__(loss, mean)
        self.y = y
        self.gram = np.empty((8, 8))
        self.right = np.empty(8)

    def columns(self, block: Sequence[int]) -> Array:
        """Some centred columns in units of their scales."""
        places = self.places(block)  # may make Z wider
        return self.Z[:, places]

    def solve(self, active: Sequence[int]) -> tuple[Array, Array]:
        """Coefficients of the ridged least squares on some columns, and the residuals."""
        at = self.places(active)
        if not at:
            return np.zeros(0), self.y.copy()
        Z, share, ridge = self.Z[:, at], self.loss.share, RIDGE
        factor = cho_factor(self.gram[np.ix_(at, at)] + ridge * np.eye(len(at)))
        beta = cho_solve(factor, self.right[at])
        residual = self.y - Z @ beta
        for _ in range(CORRECTIONS):
            beta = beta + cho_solve(factor, (share * residual) @ Z - ridge * beta)
            residual = self.y - Z @ beta
        return beta / self.loss.scale[list(active)], residual

    def learn(self, new: list[int]) -> None:
        """Read some columns, and multiply them with all others."""
        k, m = self.count, self.count + len(new)
        super().learn(new)
        weighted = self.Z[:, k:m] * self.loss.share[:, None]
        self.gram[:m, k:m] = self.Z[:, :m].T @ weighted
        self.gram[k:m, :m] = self.gram[:m, k:m].T
        self.right[k:m] = weighted.T @ self.y

    def widen(self) -> None:
        """Make room for the products too."""
        k = self.Z.shape[1]
        super().widen()
        gram = np.empty((2 * k, 2 * k))
        gram[:k, :k] = self.gram
        self.gram, self.right = gram, np.resize(self.right, 2 * k)


class _Forms:
    """Half of slope' C^-1 slope for every block, C its curvature: all that it can gain."""

    def __init__(self, loss: LinearLoss, members: Sequence[Block], mean: Array) -> None:
        self.size = len(members)
        self.scale = loss.scale
        sizes = np.fromiter(map(len, members), dtype=np.intp, count=len(members))
        first = np.fromiter(map(itemgetter(0), members), dtype=np.intp, count=len(members))
        self.singles = np.flatnonzero(sizes == 1)
        self.own = first[self.singles]
        flat = loss.design.high <= loss.design.low if loss.intercept else np.zeros(loss.size, bool)
        if len(self.own):
            curvature = loss.design.squares(loss.share, mean) / loss.scale**2
            with np.errstate(divide="ignore"):
                inverse = np.where(flat | (curvature <= 0), 0.0, 1 / curvature)
            self.inverse = inverse[self.own]
        self.larger = []
        for at in np.flatnonzero(sizes > 1).tolist():
            block = list(members[at])
            self.larger.append((at, block, self._root(loss, block, mean)))

    @staticmethod
    def _root(loss: LinearLoss, block: list[int], mean: Array) -> Array:
        """R with R R' the inverse of the block's curvature, but for directions that have none."""
        Z = (loss.design.columns(block) - mean[block]) / loss.scale[block]
        values, vectors = np.linalg.eigh((Z * loss.share[:, None]).T @ Z)
        some = values > FLAT
        root: Array = vectors[:, some] / np.sqrt(values[some])
        return root

    def halves(self, slope: Array) -> Array:
        """Half the form of each block, of slopes of all coordinates."""
        scaled = slope / self.scale
        halves = np.empty(self.size)
        if len(self.singles):
            halves[self.singles] = 0.5 * scaled[self.own] ** 2 * self.inverse
        for at, block, root in self.larger:
            halves[at] = 0.5 * float(np.sum((scaled[block] @ root) ** 2))
        return halves
