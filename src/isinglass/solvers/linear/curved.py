"""Losses whose curvature depends on the fit: bounds for all candidates, searches for a few."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.core.regression import closer_look, column_prospects
from isinglass.losses.design import SparseDesign
from isinglass.losses.families import PoissonLoss
from isinglass.losses.linear import HUGE, LinearLoss, weighted_gram
from isinglass.losses.protocol import Fit
from isinglass.solvers.linear.bounds import Bound, HuberBound, SelfConcordant, inverses
from isinglass.solvers.linear.kept import KeptEntries
from isinglass.solvers.linear.members import Members
from isinglass.solvers.linear.race import Judge, Problems, terms_of_many
from isinglass.solvers.linear.refits import CoreRefits, State, has_core
from isinglass.solvers.linear.rows import Rows, rows_of

Array = NDArray[np.float64]
Numbers = NDArray[np.intp]

#: Numbers in the designs of the problems that are solved side by side.
SIDE_BY_SIDE = 1_000_000


class CurvedWay:
    """Gains, costs and refits of logistic, Poisson, softmax and Huber losses."""

    def __init__(self, loss: LinearLoss, members: Members, bound: Bound) -> None:
        self.loss, self.members, self.bound = loss, members, bound
        self.design = loss.design
        self.all_single = bool((members.sizes == 1).all())
        y = np.ascontiguousarray(loss.y, dtype=np.float64) if has_core(loss) else loss.y
        self.rows = rows_of(loss, y) if has_core(loss) and self.all_single else Rows(loss, y)
        mean = self.rows.mean() if loss.intercept else np.zeros(loss.size)
        most = int(members.sizes.max(initial=1)) + loss.intercept
        self.batch = max(1, SIDE_BY_SIDE // (len(self.design) * most * loss.width))
        self.core = CoreRefits(loss, self.rows, mean) if has_core(loss) else None
        #: Whether the gain of a block does not depend on who else is evaluated.
        self.apart = self.core is not None and self.all_single
        self.kept: KeptEntries | None = None
        if self.apart and isinstance(self.design, SparseDesign):
            self.kept = KeptEntries(self.design)
        self._state: State | None = None

    def fit(self, active: Sequence[int], start: Fit | None = None) -> Fit:
        """The minimiser over some coordinates."""
        if self.core is None:
            return self.loss.fit(active, start)
        self._state = self.core.fit(active, start)
        return self._state.fit

    def prospects(self, fit: Fit) -> tuple[Array, Array]:
        """Upper bounds on the gains of all blocks, and guesses at them."""
        state = self._at(fit)
        curvature = self.bound.curvature(self.loss, state.eta, state.curvature)
        if not self.all_single:
            return self._of_groups(state.slope, curvature)
        if self.loss.width == 1:
            return self._of_singles(state.slope, curvature[:, :, 0])
        return self._of_singles_in_classes(state.slope, curvature)

    def _of_singles(self, slope: Array, weights: Array) -> tuple[Array, Array]:
        sums = tuple(part[:, 0] for part in self.rows.moments(slope[:, 0], weights[:, 0]))
        ends = self.design.low, self.design.high, self.design.centre, self.loss.scale
        level = float(slope.sum()) if self.loss.intercept else None
        weight = float(weights.sum())
        margin = self.bound.margin if isinstance(self.bound, HuberBound) else 0.0
        upper, guess = column_prospects(sums, ends, level=level, weight=weight, margin=margin)
        own = self.members.singles()[1]
        return upper[own], guess[own]

    def _of_singles_in_classes(self, slope: Array, curvature: Array) -> tuple[Array, Array]:
        """The same for several scores per row."""
        q, p, loss = self.loss.width, self.loss.size, self.loss
        rows, columns = np.tril_indices(q)
        moments = self.design.moments(slope, np.ascontiguousarray(curvature[:, rows, columns]))

        def square(flat: Array) -> Array:
            full = np.empty((len(flat), q, q))
            full[:, rows, columns] = full[:, columns, rows] = flat
            return full

        d = 1 + loss.intercept
        scale = loss.scale[:, None]
        pulls = np.empty((p, d, q))
        forms = np.empty((p, d, q, d, q))
        reach = np.ones((p, d))
        pulls[:, -1] = moments.slopes / scale
        forms[:, -1, :, -1, :] = square(moments.second / scale**2)
        extremes = [np.abs(end - self.design.centre) for end in (self.design.low, self.design.high)]
        reach[:, -1] = np.maximum(*extremes) / loss.scale
        if loss.intercept:
            pulls[:, 0] = slope.sum(axis=0)
            forms[:, 0, :, 0, :] = curvature.sum(axis=0)
            cross = square(moments.first / scale)
            forms[:, 0, :, 1, :] = cross
            forms[:, 1, :, 0, :] = cross
        upper, guess = self._bounded(pulls, forms, reach)
        own = self.members.singles()[1]
        return np.where(self._flat(), 0.0, upper)[own], guess[own]

    def _of_groups(self, slope: Array, curvature: Array) -> tuple[Array, Array]:
        """The same for blocks of several coordinates, one after the other."""
        q = self.loss.width
        upper, guess = np.empty(len(self.members)), np.empty(len(self.members))
        for at in range(len(self.members)):
            Z, reach = self._designs(np.array([at]))
            d = Z.shape[2]
            form = np.empty((1, d, q, d, q))
            for a in range(q):
                for b in range(a + 1):
                    gram = weighted_gram(Z[0], curvature[:, a, b])
                    form[0, :, a, :, b] = form[0, :, b, :, a] = gram
            pull = (Z[0].T @ slope)[None]
            upper[at : at + 1], guess[at : at + 1] = self._bounded(pull, form, reach)
        return upper, guess

    def _bounded(self, pulls: Array, forms: Array, reach: Array) -> tuple[Array, Array]:
        upper = self.bound.block(pulls, forms, reach)
        guess = 0.5 * np.einsum("mjq,mjqkr,mkr->m", pulls, inverses(forms), pulls)
        sane = np.isfinite(guess) & (guess >= 0) & np.isfinite(upper)
        diagonal = np.einsum("mjqjq->mjq", forms).reshape(len(forms), -1)
        sane &= diagonal.min(axis=1) > 1e-9 * diagonal.max(axis=1)
        return np.where(sane, upper, np.inf), np.where(np.isfinite(guess), guess, np.inf)

    def sharpen(self, fit: Fit, places: Numbers) -> tuple[Array, Array] | None:
        """What some blocks gain at least and at most, where a closer look is cheap."""
        loss = self.loss
        if self.kept is None:
            return None
        state = self._at(fit)
        rows = self.rows.all_rows(state.eta[:, 0]), np.asarray(loss.y, dtype=np.float64), loss.share
        level = None
        if loss.intercept:
            level = float(state.slope.sum()), float(state.curvature.sum())
        columns, entries, at = self.kept.of(self.members.first(places))
        least, most = closer_look(
            entries,
            ends=(self.design.low[columns], self.design.high[columns], loss.scale[columns]),
            rows=rows,
            level=level,
            poisson=isinstance(loss, PoissonLoss),
        )
        return least[at], most[at]

    def gains(self, fit: Fit, places: Numbers, judge: Judge) -> Array:
        """How far some blocks lower the loss, exactly; minus infinity where `judge` gave up."""
        state = self._at(fit)
        if self.core is not None and self.all_single:  # one coefficient each: compared as they are
            return self.core.gains(state, self.members.first(places), judge.bar)
        gains = np.empty(len(places))
        for size in {len(self.members[at]) for at in places}:
            alike = np.array([len(self.members[at]) == size for at in places])
            which = np.flatnonzero(alike)
            problems = Problems(self.loss, *self._designs(places[alike]), state.eta)

            def scale(raw: Array, some: Numbers, which: Numbers = which) -> Array:
                return judge.scale(raw, which[some])

            own = Judge(scale, judge.bar)
            gains[alike] = fit.loss - problems.least(self.bound, own)
        return gains

    def least_costs(self, fit: Fit, places: Numbers) -> Array:
        """Lower bounds on what removals cost."""
        if self.loss.width > 1 or not isinstance(self.bound, SelfConcordant):
            return np.zeros(len(places))
        state = self._at(fit)
        if self.core is not None and self.all_single:
            form, spread = self.core.removed(state, self.members.first(places))
        else:
            form, spread = self._removed(state, places)
        spread = np.maximum(spread, 1e-6)
        factor = (np.expm1(-spread) + spread) / spread**2
        least: Array = factor * form * (1 - 1e-6) - 1e-10
        return least

    def _removed(self, state: State, places: Numbers) -> tuple[Array, Array]:
        """Curvatures along what some blocks add to the predictor, and how far it spreads."""
        weights = state.curvature[:, 0, 0]
        parts = self._parts(state.fit, places)[:, :, 0]
        if not self.loss.intercept:
            return parts**2 @ weights, np.abs(parts).max(axis=1)
        total = max(float(weights.sum()), 1e-300)
        form = parts**2 @ weights - (parts @ weights) ** 2 / total
        return form, parts.max(axis=1) - parts.min(axis=1)

    def costs(self, fit: Fit, places: Numbers) -> Array:
        """How much the loss rises without some blocks, exactly."""
        state = self._at(fit)
        costs = np.empty(len(places))
        step = max(1, self.batch)
        for begin in range(0, len(places), step):
            some = slice(begin, begin + step)
            offset = state.eta - self._parts(fit, places[some])
            if self.core is not None:
                costs[some] = self.core.least_over_intercept(offset[:, :, 0]) - fit.loss
            else:
                costs[some] = self._least_over_intercept(offset) - fit.loss
        return costs

    def _least_over_intercept(self, offset: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            value = terms_of_many(self.loss, offset)[0]
        if not self.loss.intercept:
            return value
        overflow = ~(value < HUGE)
        offset[overflow] -= offset[overflow].max(axis=(1, 2), keepdims=True, initial=-np.inf)
        m, n = offset.shape[:2]
        return Problems(self.loss, np.ones((m, n, 1)), np.ones((m, 1)), offset).least()

    def _parts(self, fit: Fit, places: Numbers) -> Array:
        """What some blocks add to the predictor, up to an intercept that is free: (m, n, q)."""
        if self.core is not None and self.all_single:
            return self.core.parts(fit, self.members.first(places))
        coef = np.reshape(fit.coef, (self.loss.size, self.loss.width))
        blocks = [list(self.members[at]) for at in places]
        return np.array([self.design.columns(block) @ coef[block] for block in blocks])

    def _designs(self, places: Numbers) -> tuple[Array, Array]:
        """Columns of some blocks of one size, centred and in units of their scales, with ones."""
        loss = self.loss
        blocks = np.array([self.members[at] for at in places])
        m, size = blocks.shape
        d = int(loss.intercept)
        columns = self.design.columns(blocks.ravel())
        low, high, scale = (
            ends[blocks] for ends in (self.design.low, self.design.high, loss.scale)
        )
        middle = np.zeros((m, size))
        if loss.intercept:
            middle = (loss.share @ columns).reshape(m, size)
        Z = np.ones((m, len(self.design), size + d))
        whole = columns.reshape(-1, m, size).transpose(1, 0, 2)
        Z[:, :, d:] = (whole - middle[:, None, :]) / scale[:, None, :]
        reach = np.ones((m, size + d))
        reach[:, d:] = np.maximum(np.abs(low - middle), np.abs(high - middle)) / scale
        return Z, reach

    def _flat(self) -> NDArray[np.bool_]:
        """Columns that the intercept already has."""
        if self.loss.intercept:
            return np.asarray(self.design.high <= self.design.low)
        return np.zeros(self.loss.size, dtype=bool)

    def _at(self, fit: Fit) -> State:
        if self._state is None or self._state.fit is not fit:
            self._state = self._anew(fit) if self.core is None else self.core.at(fit)
        return self._state

    def _anew(self, fit: Fit) -> State:
        eta = self.loss.eta(fit.coef, fit.intercept)
        _, slope, curvature = self.loss.terms(eta)
        return State(fit, eta, slope, curvature)
