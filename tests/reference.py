"""Algorithms 1 and 2 written out literally: the definition that fast code is tested against.

Rows are used one by one, every candidate is evaluated, every fit starts from zero. Nothing
here is shared with the package; neither is ``null_reference.py``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import mpmath
import numpy as np

from null_reference import null_of

RIDGE = 1e-8
TIE = 1e-9  # gains and costs this close to the best are equal to it
ZERO = 1e-12  # gains below this count as zero
ROUNDING = 1e-11  # differences below this are exact ties seen through float64


@cache
def standardise(gain: float, df: int, n: float) -> float:
    """Return the gain of a one-parameter edge that would be as surprising."""
    if df == 1 or gain <= 0:
        return max(gain, 0.0)
    with mpmath.workdps(50):
        chi2 = 2 * mpmath.mpf(n) * mpmath.mpf(gain)
        tail = mpmath.log(mpmath.gammainc(mpmath.mpf(df) / 2, chi2 / 2, regularized=True))
        # P(chi2_1 > 2 z^2) = erfc(z), and log erfc is concave: Newton cannot fail.
        z = mpmath.sqrt(-tail)
        for _ in range(100):
            slope = -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-z * z) / mpmath.erfc(z)
            step = (tail - mpmath.log(mpmath.erfc(z))) / slope
            z += step
            if abs(step) < 1e-30 * (1 + z):
                break
        return float(z * z / mpmath.mpf(n))


def contrasts(m: int) -> np.ndarray:
    """Return an orthonormal basis (m, m - 1) of the vectors that sum to zero."""
    basis = np.zeros((m, m - 1))
    for k in range(1, m):
        basis[:k, k - 1] = 1
        basis[k, k - 1] = -k
    return basis / np.sqrt((basis**2).sum(axis=0))


def log_softmax(predictor: np.ndarray) -> np.ndarray:
    """Return the log probabilities of the states (last axis)."""
    shifted = predictor - predictor.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def loss_of(predictor: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted sum of -log P(y_i), each row with its own predictor."""
    return float(-weights @ log_softmax(predictor)[np.arange(len(y)), y])


def minimise(
    design: np.ndarray,
    offset: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    ridge: np.ndarray,
) -> np.ndarray:
    """Minimise loss_of(offset + design @ theta) + sum(ridge * theta**2) / 2 over theta.

    Newton with a line search on the slope; `design` is (rows, states, parameters).
    """
    theta = np.zeros(design.shape[2])
    onehot = np.eye(offset.shape[1])[y]

    def slope(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        p = np.exp(log_softmax(offset + design @ theta))
        return np.einsum("i,ia,iak->k", weights, p - onehot, design) + ridge * theta, p

    last, before = np.inf, theta
    for _ in range(500):
        gradient, p = slope(theta)
        centred = design - np.einsum("ia,iak->ik", p, design)[:, None, :]
        rooted = np.sqrt(weights[:, None] * p)[:, :, None] * centred
        rooted = rooted.reshape(p.size, len(theta))
        # A term of the gradient's size keeps far-off plateaus solvable, and vanishes with it.
        damping = 1e-3 * np.abs(gradient).max(initial=0.0) + 1e-300
        hessian = rooted.T @ rooted + np.diag(ridge + damping)
        step = -np.linalg.solve(hessian, gradient)
        decrement = -gradient @ step
        # Go on until it is rounding, no longer the steps, that moves theta.
        if decrement <= 1e-30 or (decrement < 1e-20 and decrement > last / 4):
            return theta if decrement <= last else before
        last, before = decrement, theta
        theta = theta + line_search(lambda t, x=theta, d=step: slope(x + t * d)[0] @ d) * step
    raise ArithmeticError(f"no convergence: decrement {last}")


def line_search(slope) -> float:
    """Return t > 0 where the increasing function `slope`, negative at 0, is nearly zero."""
    close = -0.1 * slope(0.0)
    low, high = 0.0, 1.0
    while (here := slope(high)) < -close:
        low, high = high, 2 * high
    t = high
    while abs(here) > close and high - low > 1e-12 * high:
        t = (low + high) / 2
        here = slope(t)
        low, high = (t, high) if here < 0 else (low, t)
    return t


@dataclass(frozen=True)
class Fit:
    """The minimiser over one support; tables and field follow the sorted observed states."""

    support: tuple[int, ...]
    tables: dict[int, np.ndarray]  # of log-potentials, (states of r, states of t), zero-sum
    field: np.ndarray  # (states of r,), zero-sum
    predictor: np.ndarray  # (rows, states of r)
    loss: float  # plain: without the ridge


class Node:
    """The conditional of column r given the others, on the rows of positive weight."""

    def __init__(self, codes: np.ndarray, weights: np.ndarray, r: int, intercept: bool = True):
        seen = np.asarray(weights) > 0
        columns = np.asarray(codes)[seen].T
        self.columns = [np.unique(column, return_inverse=True)[1] for column in columns]
        self.states = [int(column.max()) + 1 for column in self.columns]
        self.r, self.y, self.m = r, self.columns[r], self.states[r]
        self.n = float(np.sum(weights))
        self.weights = np.asarray(weights, float)[seen] / self.n
        self.intercept = intercept

    def df(self, j: int) -> int:
        """Return the number of parameters of the edge to column j."""
        return (self.m - 1) * (self.states[j] - 1)

    def standardised(self, raw: float, j: int) -> float:
        """Return the gain of one parameter that would be as surprising as one of column j."""
        if raw < ZERO:
            return 0.0
        shift, scale, df = 0.0, 1.0, self.df(j)
        if self.intercept:
            shift, scale, df = null_of(self.rows(self.r), self.rows(j))
        value = standardise(max(raw - shift / (2 * self.n), 0.0) / scale, df, self.n)
        return 0.0 if value < ZERO else value

    def rows(self, j: int) -> tuple[float, ...]:
        """Return how many rows have each state of a column."""
        return tuple((np.bincount(self.columns[j], self.weights) * self.n).tolist())

    def field_design(self) -> np.ndarray:
        """Return the design of the field: the same shift for every row, or nothing."""
        basis = contrasts(self.m)[:, : self.m - 1 if self.intercept else 0]
        return np.broadcast_to(basis, (len(self.y), *basis.shape))

    def block_design(self, j: int) -> np.ndarray:
        """Return the design of the zero-sum table of column j, orthonormal as a whole."""
        basis = np.einsum("ak,cl->cakl", contrasts(self.m), contrasts(self.states[j]))
        return basis.reshape(self.states[j], self.m, self.df(j))[self.columns[j]]

    def refit(self, support: Iterable[int]) -> Fit:
        """Minimise the mean loss plus RIDGE / 2 times the squared entries of the tables."""
        support = tuple(sorted(support))
        design = np.concatenate(
            [self.field_design(), *(self.block_design(t) for t in support)], axis=2
        )
        sizes = [self.m - 1 if self.intercept else 0, *(self.df(t) for t in support)]
        ridge = np.repeat([0.0] + [RIDGE] * len(support), sizes)
        theta = minimise(design, np.zeros(design.shape[:2]), self.y, self.weights, ridge)
        first, *blocks = np.split(theta, np.cumsum(sizes)[:-1])
        tables = {t: self.table(t, block) for t, block in zip(support, blocks, strict=True)}
        field = contrasts(self.m) @ first if self.intercept else np.zeros(self.m)
        predictor = design @ theta
        loss = loss_of(predictor, self.y, self.weights)
        return Fit(support, tables, field, predictor, loss)

    def table(self, t: int, block: np.ndarray) -> np.ndarray:
        """Return the zero-sum table of column t from its parameters."""
        block = block.reshape(self.m - 1, self.states[t] - 1)
        return contrasts(self.m) @ block @ contrasts(self.states[t]).T

    def gain(self, fit: Fit, j: int) -> float:
        """Return the fall of the plain loss, in the limit, when the block of j is free."""
        counts = np.zeros((self.m, self.states[j]))
        np.add.at(counts, (self.y, self.columns[j]), self.weights)
        # Without a field the rows of the table of j sum to zero. If every state of r has an
        # empty cell, sending the empty cells to minus infinity frees the others from that
        # constraint; if some state has none, no direction is for free and the minimum exists.
        if self.intercept or (counts == 0).any(axis=1).all():
            return fit.loss - sum(self.least_within(fit, j, c) for c in range(self.states[j]))
        return fit.loss - self.least(self.block_design(j), fit.predictor)

    def least_within(self, fit: Fit, j: int, c: int) -> float:
        """Return the infimum of the loss of the rows with x_j = c over a shift of their own."""
        rows = self.columns[j] == c
        # States that do not occur with c go to minus infinity.
        occurring, y = np.unique(self.y[rows], return_inverse=True)
        offset, weights = fit.predictor[np.ix_(rows, occurring)], self.weights[rows]
        basis = contrasts(len(occurring))
        design = np.broadcast_to(basis, (len(y), *basis.shape))
        theta = minimise(design, offset, y, weights, np.zeros(basis.shape[1]))
        return loss_of(offset + design @ theta, y, weights)

    def cost(self, fit: Fit, j: int) -> float:
        """Return the rise of the plain loss when the table of j is removed."""
        offset = fit.predictor - fit.tables[j].T[self.columns[j]]
        return self.least(self.field_design(), offset) - fit.loss

    def least(self, design: np.ndarray, offset: np.ndarray) -> float:
        """Return the minimum of the plain loss over the parameters of a design."""
        theta = minimise(design, offset, self.y, self.weights, np.zeros(design.shape[2]))
        return loss_of(offset + design @ theta, self.y, self.weights)


@dataclass(frozen=True)
class Step(Fit):
    """One step of a search, with the fit after it."""

    kind: str  # 'add' or 'drop'
    variable: int
    gain: float  # standardised; the cost when kind is 'drop'
    margin: float  # of the closest decision since the last step


class Path(list[Step]):
    """The steps of a search, and what is left to say about it."""

    def __init__(self, start: Fit):
        super().__init__()
        self.start = start
        self.guarded = 0  # how often the guard refused a removal
        self.margin = np.inf  # of the closest decision of all, the last stop included


def choose(scores: dict[int, float]) -> tuple[int, float]:
    """Return the lowest column within TIE of the best score, and the margin of that choice."""
    best = max(scores.values())
    chosen = min(j for j in scores if scores[j] >= best - TIE)
    # Only a column up to the chosen one can change the choice, and exact ties cannot.
    gaps = [best - score for j, score in scores.items() if j <= chosen]
    return chosen, min((abs(gap - TIE) for gap in gaps if gap > ROUNDING), default=np.inf)


def search(
    codes: np.ndarray,
    weights: np.ndarray,
    r: int,
    threshold: float,
    nu: float,
    intercept: bool = True,
    max_degree: int | None = None,
    required: frozenset[int] = frozenset(),
    forbidden: frozenset[int] = frozenset(),
) -> Path:
    """Run Algorithm 1 for node r, with standardised gains and costs and with the guard.

    Every margin is the change of a gain, cost or loss that would turn a decision.
    """
    node = Node(codes, weights, r, intercept)
    candidates = [j for j in range(len(node.columns)) if j != r and node.df(j) > 0]
    candidates = [j for j in candidates if j not in forbidden]
    required = frozenset(candidates) & required
    fit = node.refit(required)
    path = Path(fit)
    delta: dict[int, float] = {}  # gain of the forward step that last reached this size
    left: dict[int, float] = {}  # loss when a forward step last left this size
    margins: list[float] = []  # of the decisions since the last step

    def record(kind: str, j: int, gain: float) -> None:
        path.append(Step(**vars(fit), kind=kind, variable=j, gain=gain, margin=min(margins)))
        path.margin = min(path.margin, *margins)
        margins.clear()

    while max_degree is None or len(fit.support) < max_degree:
        outside = [j for j in candidates if j not in fit.support]
        gains = {j: node.standardised(node.gain(fit, j), j) for j in outside}
        if not gains:
            break
        j, margin = choose(gains)
        margins.append(abs(gains[j] - threshold))
        if gains[j] <= threshold:
            break
        margins.append(margin)
        left[len(fit.support)] = fit.loss
        fit = node.refit({*fit.support, j})
        delta[len(fit.support)] = gains[j]
        record("add", j, gains[j])

        while set(fit.support) - required:
            free = [j for j in fit.support if j not in required]
            costs = {j: node.standardised(node.cost(fit, j), j) for j in free}
            j, margin = choose({j: -cost for j, cost in costs.items()})
            limit = nu * delta[len(fit.support)]
            margins.append(abs(costs[j] - limit))
            if costs[j] > limit:
                break
            margins.append(margin)
            smaller = node.refit({*fit.support} - {j})
            fall = left[len(smaller.support)] - smaller.loss
            # Back at the very support it left, the fall is zero but for rounding.
            margins.append(np.inf if abs(fall) < ROUNDING else abs(fall))
            if fall < ROUNDING:
                path.guarded += 1
                break
            fit = smaller
            record("drop", j, costs[j])
    path.margin = min([path.margin, *margins])
    return path
