"""Algorithm 1 with edges of two forms, written out literally: see ``reference.py``.

An edge is out, small (a product of scores, or a trend for each state), or a whole table; small
edges may become tables. Every gain and every cost is a difference between the loss and the least
loss over the field and one edge in another form.
"""

from collections.abc import Mapping, Sequence

import mpmath
import numpy as np

from null_reference import null_of
from reference import (
    RIDGE,
    TIE,
    ZERO,
    Fit,
    Node,
    contrasts,
    loss_of,
    minimise,
    standardise,
)

Scores = Sequence[Sequence[float] | None]


def equivalent(gain: float, df: float, n: float, looks: float) -> float:
    """Return the gain of one parameter that is as surprising as the better of two looks."""
    if looks == 1 or gain <= 0:
        return standardise(gain, df, n)
    with mpmath.workdps(50):
        p = looks * mpmath.gammainc(mpmath.mpf(df) / 2, mpmath.mpf(n) * gain, regularized=True)
        if p >= 1:
            return 0.0
        # The gain of one parameter with this probability: P(chi2_1 > 2 z^2) = erfc(z).
        z = mpmath.erfinv(1 - p) if p > 1e-8 else mpmath.sqrt(-mpmath.log(p))
        for _ in range(60):
            slope = -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-z * z) / mpmath.erfc(z)
            z += (mpmath.log(p) - mpmath.log(mpmath.erfc(z))) / slope
        return float(z * z / mpmath.mpf(n))


class FormNode(Node):
    """The conditional of a column whose edges may be small or tables."""

    def __init__(self, codes, weights, r, scores: Scores, edges: str, intercept: bool = True):
        super().__init__(codes, weights, r, intercept)
        seen = [np.unique(column) for column in np.asarray(codes)[np.asarray(weights) > 0].T]
        self.bases = [
            self.basis(None if some is None else np.asarray(some, float)[states], len(states))
            for some, states in zip(scores, seen, strict=True)
        ]
        self.edges = edges

    @staticmethod
    def basis(scores: np.ndarray | None, m: int) -> np.ndarray:
        """Return what the states of a column are in a small edge."""
        if scores is None or m < 3:
            return contrasts(m)
        centred = scores - scores.mean()
        return (centred / np.linalg.norm(centred))[:, None]

    def forms(self, j: int) -> tuple[str, ...]:
        """Return the forms of an edge to column j, the smaller one first."""
        if self.edges == "table" or self.size(j, "small") == self.size(j, "table"):
            return ("table",)
        return ("small",) if self.edges == "scores" else ("small", "table")

    def size(self, j: int, form: str) -> int:
        """Return the parameters of an edge."""
        small = self.bases[self.r].shape[1] * self.bases[j].shape[1]
        return small if form == "small" else self.df(j)

    def tables(self, j: int, form: str) -> np.ndarray:
        """Return the tables that an edge is a combination of: (states of r, states of j, size)."""
        a, b = self.bases[self.r], self.bases[j]
        if form == "table":
            a, b = contrasts(self.m), contrasts(self.states[j])
        return np.einsum("ak,cl->ackl", a, b).reshape(self.m, self.states[j], -1)

    def edge_design(self, j: int, form: str) -> np.ndarray:
        """Return the design of an edge, row by row."""
        return np.moveaxis(self.tables(j, form), 1, 0)[self.columns[j]]

    def refit_forms(self, forms: Mapping[int, str]) -> Fit:
        """Minimise the mean loss plus the ridge over edges in some forms."""
        support = tuple(sorted(forms))
        designs = [self.edge_design(t, forms[t]) for t in support]
        design = np.concatenate([self.field_design(), *designs], axis=2)
        sizes = [self.m - 1 if self.intercept else 0, *(d.shape[2] for d in designs)]
        ridge = np.repeat([0.0] + [RIDGE] * len(support), sizes)
        theta = minimise(design, np.zeros(design.shape[:2]), self.y, self.weights, ridge)
        first, *blocks = np.split(theta, np.cumsum(sizes)[:-1])
        tables = {t: self.tables(t, forms[t]) @ b for t, b in zip(support, blocks, strict=True)}
        field = contrasts(self.m) @ first if self.intercept else np.zeros(self.m)
        predictor = design @ theta
        return Fit(support, tables, field, predictor, loss_of(predictor, self.y, self.weights))

    def least_loss(self, fit: Fit, j: int, form: str | None) -> float:
        """Return the infimum over the field and an edge to j in a form, all other edges held."""
        if form == "table":
            return fit.loss - self.gain(fit, j)
        offset = fit.predictor
        if j in fit.tables:
            offset = offset - fit.tables[j].T[self.columns[j]]
        if form is None:
            return self.least(self.field_design(), offset)
        # The infimum may lie at infinity: a ridge of no weight keeps the search from there.
        design = np.concatenate([self.field_design(), self.edge_design(j, form)], axis=2)
        ridge = np.full(design.shape[2], 1e-14)
        theta = minimise(design, offset, self.y, self.weights, ridge)
        return loss_of(offset + design @ theta, self.y, self.weights)

    def one_parameter(self, raw: float, j: int, form: str, upgrade: bool) -> float:
        """Return a gain or a cost on the scale that is compared."""
        if raw < ZERO:
            return 0.0
        shift, scale, df = 0.0, 1.0, float(self.size(j, form))
        if self.intercept and form == "table":
            shift, scale, df = null_of(self.rows(self.r), self.rows(j))
        if upgrade:
            shift, scale, df = beyond(shift, scale, df, self.size(j, "small"))
        above = max(raw - shift / (2 * self.n), 0.0) / scale
        value = equivalent(above, df, self.n, self.looks(j, form, upgrade))
        return 0.0 if value < ZERO else value

    def looks(self, j: int, form: str, upgrade: bool) -> float:
        """Return what a probability is multiplied by: two forms are two looks at a pair."""
        return 1.0 if upgrade or len(self.forms(j)) == 1 else {"small": 1.25, "table": 1.5}[form]

    def departure(self, fit: Fit, j: int) -> float:
        """Return what a table gains beyond the small edge, on the scale that is compared."""
        raw = self.least_loss(fit, j, "small") - self.least_loss(fit, j, "table")
        above, df = self.above(raw, j)
        value = 0.0 if raw < ZERO else equivalent(above, df, self.n, 1.5)
        return value if value >= ZERO else 0.0

    def pays(self, fit: Fit, j: int) -> bool:
        """Return whether a table gains 3 per parameter beyond the small edge, as a deviance.

        And 2 log(1/ridge) more, if some state never meets some other.
        """
        fewer = fit.loss if j in fit.tables else self.least_loss(fit, j, "small")
        above, df = self.above(fewer - self.least_loss(fit, j, "table"), j)
        counts = np.zeros((self.m, self.states[j]))
        np.add.at(counts, (self.columns[self.r], self.columns[j]), self.weights)
        empty = 2 * np.log(1 / RIDGE) if (counts == 0).any() else 0.0
        return 2 * self.n * above > 3 * df + empty + TIE

    def above(self, raw: float, j: int) -> tuple[float, float]:
        """Return what a table has beyond the small edge, per row, in parts of a chi-square."""
        shift, scale, df = 0.0, 1.0, float(self.size(j, "table"))
        if self.intercept:
            shift, scale, df = null_of(self.rows(self.r), self.rows(j))
        shift, scale, df = beyond(shift, scale, df, self.size(j, "small"))
        return max(raw - shift / (2 * self.n), 0.0) / scale, df


def beyond(shift: float, scale: float, df: float, less: int) -> tuple[float, float, float]:
    """Return the law of a deviance without the chi-square of `less` parameters in it."""
    if (shift, scale) == (0.0, 1.0):
        return 0.0, 1.0, df - less
    mean, variance = shift + scale * df - less, 2 * scale**2 * df - 2 * less
    third = 8 * scale**3 * df - 8 * less
    if not 0 < mean < np.inf or variance <= 0:
        return np.inf, 1.0, 1.0
    usual = 2 * variance**2 / mean
    third = min(max(third, 0.5 * usual), 2 * usual)
    df = max(8 * variance**3 / third**2, 1.0)
    scale = np.sqrt(variance / (2 * df))
    return mean - scale * df, scale, df


def first_best(scores: list[float]) -> int:
    """Return where the first score within a tie of the best is."""
    return next(i for i, score in enumerate(scores) if score >= max(scores) - TIE)


def search_forms(
    node: FormNode, threshold: float, nu: float, required: frozenset[int] = frozenset()
) -> tuple[list[tuple[str, int, str | None, float, float]], dict[int, str]]:
    """Run Algorithm 1 with forms: every step as (kind, column, form after it, gain or cost, loss).

    And the forms at the end. In the size of a support an edge that was upgraded counts twice.
    """
    candidates = [j for j in range(len(node.columns)) if j != node.r and node.df(j) > 0]
    forms = {j: node.forms(j)[0] for j in candidates if j in required}
    upgraded: frozenset[int] = frozenset()
    fit = node.refit_forms(forms)
    steps, delta, left = [], {}, {}

    while True:
        moves = []
        for j in candidates:
            if j not in forms:
                moves += [(j, form) for form in node.forms(j)]
            elif forms[j] == "small" and "table" in node.forms(j) and node.pays(fit, j):
                moves.append((j, "upgrade"))
        gains = []
        for j, form in moves:
            if form == "table" and "small" in node.forms(j):
                gains.append(node.departure(fit, j))
            else:
                new = "table" if form == "upgrade" else form
                fall = fit.loss - node.least_loss(fit, j, new)
                gains.append(node.one_parameter(fall, j, new, form == "upgrade"))
        if not moves or gains[best := first_best(gains)] <= threshold:
            return steps, forms
        j, form = moves[best]
        if form == "small" and "table" in node.forms(j) and node.pays(fit, j):
            form = "table"
        left[len(forms) + len(upgraded)] = fit.loss
        if form == "upgrade":
            upgraded, form = upgraded | {j}, "table"
        forms = {**forms, j: form}
        fit = node.refit_forms(forms)
        delta[len(forms) + len(upgraded)] = gains[best]
        steps.append(("add", j, form, gains[best], fit.loss))

        while True:
            moves = []
            for j in sorted(forms):
                moves += [(j, None)] if j not in required else []
                moves += [(j, "small")] if j in upgraded else []
            costs = [
                node.one_parameter(
                    node.least_loss(fit, j, form) - fit.loss, j, forms[j], form == "small"
                )
                for j, form in moves
            ]
            if not moves:
                break
            j, form = moves[best := first_best([-cost for cost in costs])]
            if costs[best] > nu * delta[len(forms) + len(upgraded)]:
                break
            fewer = {t: f for t, f in forms.items() if t != j} | ({j: form} if form else {})
            refit = node.refit_forms(fewer)
            if refit.loss >= left.get(len(fewer) + len(upgraded - {j}), np.inf) - 1e-11:
                break
            forms, fit, upgraded = fewer, refit, upgraded - {j}
            steps.append(("drop", j, form, costs[best], fit.loss))
