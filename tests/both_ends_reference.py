"""What both ends of an edge say, written out row by row, with fits by a general optimiser."""

import numpy as np
from scipy.linalg import sqrtm
from scipy.optimize import minimize
from scipy.stats import chi2

from isinglass.losses.forms import zero_sum_basis
from null_reference import null_of

RIDGE = 1e-8


def rows_left(probabilities, x, weights, features, intercept):
    """Rows that a likelihood ratio has beside so many features of a fit with such probabilities."""
    states, n = probabilities.shape[1], weights.sum()
    alone = np.bincount(x, weights, states) / n
    if not intercept:
        alone[:] = 1 / states
    left = weights @ (1 - np.sum(probabilities**2, axis=1)) / (n - features)
    most = 1 - np.sum(alone**2)
    share = np.clip(left / most, 0.5, 1) if most > 0 else 1.0
    return n * max(1 - features / n, 0.0) ** (1 / share)


class PlainEnd:
    """A column on its neighbours, row by row, in orthonormal contrasts."""

    def __init__(self, codes, weights, states, r, neighbours, intercept):
        self.n, self.weights, self.neighbours = weights.sum(), weights, neighbours
        self.intercept = intercept
        self.basis = zero_sum_basis(states[r])
        self.x = codes[:, r]
        blocks = [np.ones((len(codes), 1))] if intercept else []
        blocks += [zero_sum_basis(states[t])[codes[:, t]] for t in neighbours]
        self.features = np.column_stack(blocks)
        widths = np.cumsum([0, *(block.shape[1] for block in blocks)])
        first = {t: i + intercept for i, t in enumerate(neighbours)}
        self.place = {t: slice(widths[first[t]], widths[first[t] + 1]) for t in neighbours}
        self.ridge = RIDGE * np.ones((self.features.shape[1], self.basis.shape[1]))
        if intercept:
            self.ridge[0] = 0.0

    def probabilities(self, b):
        scores = self.features @ b @ self.basis.T
        scores -= scores.max(axis=1, keepdims=True)
        return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)

    def loss(self, b):
        p = self.probabilities(b)[np.arange(len(self.x)), self.x]
        return -self.weights @ np.log(np.maximum(p, 1e-300)) / self.n

    def row_scores(self, b):
        """Slopes of each row's log-likelihood: (rows, features, contrasts of the target)."""
        residual = (np.eye(len(self.basis))[self.x] - self.probabilities(b)) @ self.basis
        return self.features[:, :, None] * residual[:, None, :]

    def curvature(self, b):
        p = self.probabilities(b)
        spread = np.einsum("ia,aj,ak->ijk", p, self.basis, self.basis)
        mean = p @ self.basis
        spread -= mean[:, :, None] * mean[:, None, :]
        total = np.einsum("i,if,ig,ijk->fjgk", self.weights, self.features, self.features, spread)
        size = self.ridge.size
        return total.reshape(size, size) / self.n + np.diag(self.ridge.ravel())

    def fit(self, free):
        """The minimum over some parameters, the others zero, by a general optimiser."""

        def full(x):
            b = np.zeros(self.ridge.shape)
            b.flat[free] = x
            return b

        def value(x):
            b = full(x)
            return self.loss(b) + 0.5 * np.sum(self.ridge * b**2)

        def slope(x):
            b = full(x)
            down = np.einsum("i,ifa->fa", self.weights, self.row_scores(b)) / self.n
            return (self.ridge * b - down).flat[free]

        def bend(x):
            return self.curvature(full(x))[np.ix_(free, free)]

        if not len(free):
            return full(np.empty(0))
        start = np.zeros(len(free))
        options = {"gtol": 1e-11, "maxiter": 2000}
        return full(
            minimize(value, start, jac=slope, hess=bend, method="trust-exact", options=options).x
        )

    def rows_left(self, t):
        """Rows that the likelihood ratio of an edge has."""
        p = self.probabilities(self.fit(self.parts(t)[1]))
        features = self.features.shape[1] - len(self.parts(t)[0]) // self.basis.shape[1]
        return rows_left(p, self.x, self.weights, features, self.intercept)

    def parts(self, t):
        """The positions of the parameters of an edge, and of all others."""
        everything = np.arange(self.ridge.size)
        own = everything.reshape(self.ridge.shape)[self.place[t]].ravel()
        return own, np.setdiff1d(everything, own)

    def says_of(self, t):
        """Whitened score, as long as the likelihood ratio says, that of rows, and its size."""
        b = self.fit(self.parts(t)[1])
        whole = self.fit(np.arange(self.ridge.size))
        deviance = 2 * self.rows_left(t) * max(self.loss(b) - self.loss(whole), 0.0)
        vector, white, size = self.score_of(t, b)
        return vector * np.sqrt(deviance / (vector @ vector)), white, size

    def nearly_says_of(self, t):
        """The same, as long as the score itself says."""
        b = self.fit(self.parts(t)[1])
        vector, white, size = self.score_of(t, b)
        return vector * np.sqrt(self.rows_left(t) / self.n), white, size

    def bartlett(self, t):
        """By how much a likelihood ratio of a column of two states is too large on average.

        Lawley (1956): cumulants of the scores at the fit without the edge, up to the fourth.
        """
        b = self.fit(self.parts(t)[1])
        first = self.probabilities(b)[:, 1]
        variance = self.weights * first * (1 - first)
        third, fourth = variance * (1 - 2 * first), variance * (1 - 6 * first * (1 - first))
        without = np.delete(np.arange(self.features.shape[1]), self.place[t])

        def excess(x):
            z = x @ np.linalg.solve(x.T @ (variance[:, None] * x), x.T)
            own = np.diag(z)
            return (
                3 * (third * own) @ z @ (third * own)
                + 2 * third @ z**3 @ third
                - 3 * np.sum(fourth * own**2)
            ) / 12

        return excess(self.features) - excess(self.features[:, without])

    def gain_of(self, t):
        """What the edge gains per row: its table and the field move, and there is no ridge."""
        own, others = self.parts(t)
        free = np.concatenate([np.arange(self.basis.shape[1]) if self.intercept else [], own])
        b = self.fit(others)

        def moved(x):
            there = b.copy()
            there.flat[free.astype(int)] += x
            return self.loss(there)

        return self.loss(b) - minimize(moved, np.zeros(len(free)), options={"gtol": 1e-9}).fun

    def score_of(self, t, b):
        """Whitened score at a fit without the edge, that of rows, and size of the information."""
        own, others = self.parts(t)
        h = self.n * self.curvature(b)
        explained = np.linalg.solve(h[np.ix_(others, others)], h[np.ix_(others, own)])
        scores = self.row_scores(b).reshape(len(self.x), -1)
        scores = scores[:, own] - scores[:, others] @ explained
        information = h[np.ix_(own, own)] - h[np.ix_(own, others)] @ explained
        root = np.real(np.linalg.inv(sqrtm(information)))
        white = scores @ root
        return self.weights @ white, white, np.sqrt(np.trace(information) / len(own))


def plain_statistic(codes, weights, states, pairs, pair, intercept):
    i, j = pair
    around = [
        sorted({*(b for a, b in pairs if a == v), *(a for a, b in pairs if b == v)})
        for v in range(len(states))
    ]
    one = PlainEnd(codes, weights, states, i, around[i], intercept).says_of(j)
    other = PlainEnd(codes, weights, states, j, around[j], intercept).says_of(i)
    return of_both(one, other, codes, weights, states, pair, intercept)


def of_both(one, other, codes, weights, states, pair, intercept):
    """What two ends say together, as a chi-square with one degree of freedom."""
    i, j = pair
    d = len(one[0])
    # At the first end an edge's parameters go by the second column's states, then by the first's.
    turn = np.arange(d).reshape(states[i] - 1, states[j] - 1).T.ravel()
    statistic, degrees = weighed(one, other, turn, weights)
    scale, share = relative_null(codes, weights, pair, intercept)
    return chi2.isf(chi2.sf(statistic / scale, share * degrees), 1)


def weighed(one, other, turn, weights):
    """Both ends with their best weights: about a chi-square, and its degrees of freedom.

    `turn` has the parameters of the second end in the order of the first.
    """
    d = len(one[0])
    a, b = one[0], other[0][turn]
    rows_a, rows_b = one[1], other[1][:, turn]
    common = rows_a.T @ (weights[:, None] * rows_b)
    own, theirs = (np.sum(weights[:, None] * rows**2) for rows in (rows_a, rows_b))
    common *= d / np.sqrt(own * theirs)
    like = np.clip(np.trace(common) / d, 0.0, 0.98)
    v, w = max(one[2] - like * other[2], 0.0), max(other[2] - like * one[2], 0.0)
    spread = (v**2 + w**2) * np.eye(d) + v * w * (common + common.T)
    total, squares = np.trace(spread), np.sum(spread**2)
    return np.sum((v * a + w * b) ** 2) * total / squares, total**2 / squares


def relative_null(codes, weights, pair, intercept):
    """Scale and degrees of freedom relative to a chi-square, by mean and variance."""
    rows = [tuple(np.bincount(codes[:, v], weights).tolist()) for v in pair]
    if not intercept:
        return 1.0, 1.0
    shift, times, df = null_of(*rows)
    if not np.isfinite(shift):
        return np.inf, 1.0
    mean, variance = shift + times * df, 2 * times**2 * df
    return variance / (2 * mean), 2 * mean**2 / (variance * (len(rows[0]) - 1) * (len(rows[1]) - 1))
