"""The squared loss: every gain and every cost in closed form, one product with X per step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from isinglass.losses.linear import RIDGE, LinearFit, LinearLoss
from isinglass.losses.protocol import Fit
from isinglass.solvers.linear.kept import KeptColumns
from isinglass.solvers.linear.members import Members
from isinglass.solvers.linear.race import Judge
from isinglass.solvers.linear.rows import Rows, rows_of

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

    def __init__(self, loss: LinearLoss, members: Members) -> None:
        self.loss, self.members = loss, members
        y = np.asarray(loss.y, dtype=np.float64)
        self.level = float(loss.share @ y) if loss.intercept else 0.0
        self.rows = rows_of(loss, y - self.level)
        self.mean = self.rows.mean() if loss.intercept else np.zeros(loss.size)
        self.known = _Known(self.rows, self.mean, loss.scale)
        self.forms = _Forms(loss, members, self.mean, self.rows)
        self._last: tuple[Fit, Array] | None = None

    def fit(self, active: Sequence[int], start: Fit | None = None) -> Fit:
        """The minimiser over some coordinates."""
        beta, residual = self.known.solve(active)
        intercept = self.level - float(self.mean[list(active)] @ beta)
        loss = 0.5 * (float(self.rows.share @ residual**2) + self.rows.spread)
        fit = LinearFit(active, beta, intercept, loss, self.loss.size)
        self._last = fit, residual
        return fit

    def prospects(self, fit: Fit) -> tuple[Array, Array]:
        """Gains of all blocks: what they may be, and a guess, are the same here."""
        pull = self._pull(fit)
        slope = self.rows.slopes(-pull)
        slope += self.mean * pull.sum()
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
        pull, share, coef = self._pull(fit), self.rows.share, fit.coef
        costs = np.empty(len(places))
        single = self.members.sizes[places] == 1
        costs[single] = self._costs_of_singles(coef, pull, self.members.first(places[single]))
        for at in np.flatnonzero(~single):
            block = list(self.members[places[at]])
            part = self.known.columns(block) @ (coef[block] * self.loss.scale[block])
            costs[at] = pull @ part + 0.5 * float(share @ part**2)
        return costs

    def _costs_of_singles(self, coef: Array, pull: Array, columns: Numbers) -> Array:
        size = coef[columns] * self.loss.scale[columns]
        at = self.known.places(columns.tolist())
        costs: Array = size * (pull @ self.known.at(at)) + size**2 / 2 * self.known.squares(at)
        return costs

    def _pull(self, fit: Fit) -> Array:
        """Shares times residuals of the rows that are told apart."""
        residual = self._residual(fit)  # may tell more apart
        return self.rows.share * residual

    def _residual(self, fit: Fit) -> Array:
        if self._last is None or self._last[0] is not fit:
            coef = fit.coef
            used = np.flatnonzero(coef).tolist()
            eta = self.known.columns(used) @ (coef[used] * self.loss.scale[used])
            self._last = fit, self.rows.y - eta
        return self._last[1]


class _Known(KeptColumns):
    """Columns that were in some support, and their products."""

    def __init__(self, rows: Rows, mean: Array, scale: Array) -> None:
        super().__init__(rows, mean, scale)
        self.gram = np.empty((8, 8))
        self.right = np.empty(8)

    def solve(self, active: Sequence[int]) -> tuple[Array, Array]:
        """Coefficients of the ridged least squares on some columns, and the residuals."""
        at = self.places(active)
        y, share, ridge = self.rows.y, self.rows.share, RIDGE
        if not at:
            return np.zeros(0), y.copy()
        Z = self.at(at)
        gram = np.array(self.gram[np.ix_(at, at)], order="F")
        gram.flat[:: len(at) + 1] += ridge
        factor = dpotrf(gram, overwrite_a=True)[0]  # the ridge is larger than rounding
        beta = dpotrs(factor, self.right[at])[0]
        residual = y - Z @ beta
        for _ in range(CORRECTIONS):
            beta = beta + dpotrs(factor, (share * residual) @ Z - ridge * beta)[0]
            residual = y - Z @ beta
        return beta / self.scale[list(active)], residual

    def squares(self, at: list[int]) -> Array:
        """Sums of shares times the squares of some columns, which were read."""
        squares: Array = self.gram[at, at]
        return squares

    def learn(self, new: list[int]) -> None:
        """Read some columns, and multiply them with all others."""
        k, m = self.count, self.count + len(new)
        super().learn(new)
        weighted = self.Z[:, k:m] * self.rows.share[:, None]
        self.gram[:m, k:m] = self.Z[:, :m].T @ weighted
        self.gram[k:m, :m] = self.gram[:m, k:m].T
        self.right[k:m] = weighted.T @ self.rows.y

    def widen(self) -> None:
        """Make room for the products too."""
        k = self.Z.shape[1]
        super().widen()
        gram = np.empty((2 * k, 2 * k))
        gram[:k, :k] = self.gram
        self.gram, self.right = gram, np.resize(self.right, 2 * k)


class _Forms:
    """Half of slope' C^-1 slope for every block, C its curvature: all that it can gain."""

    def __init__(self, loss: LinearLoss, members: Members, mean: Array, rows: Rows) -> None:
        self.size, self.some_single = len(members), bool((members.sizes == 1).any())
        self.scale = loss.scale
        self.singles, self.own = members.singles()
        flat = loss.design.high <= loss.design.low if loss.intercept else np.zeros(loss.size, bool)
        if self.some_single:
            curvature = rows.squares(mean) / loss.scale**2
            with np.errstate(divide="ignore"):
                inverse = np.where(flat | (curvature <= 0), 0.0, 1 / curvature)
            self.inverse = inverse[self.own]
        self.larger = []
        for at in np.flatnonzero(members.sizes > 1).tolist():
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
        if self.some_single:
            halves[self.singles] = 0.5 * scaled[self.own] ** 2 * self.inverse
        for at, block, root in self.larger:
            halves[at] = 0.5 * float(np.sum((scaled[block] @ root) ** 2))
        return halves
