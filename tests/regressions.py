"""Random regressions for comparisons: all losses, and everything that makes them awkward."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from isinglass.losses import (
    HuberLoss,
    LinearLoss,
    LogisticLoss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
)

KINDS = ("squared", "logistic", "poisson", "multinomial", "huber")


@dataclass(frozen=True)
class Regression:
    kind: str
    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    intercept: bool
    groups: np.ndarray | None
    standardise: bool
    likelihood: bool
    nu: float
    threshold: float

    def loss(self, X: Any = None) -> LinearLoss:
        X = self.X if X is None else X
        if self.kind == "huber":
            return HuberLoss(X, self.y, self.weights, intercept=self.intercept, k=1.0)
        kinds = {
            "squared": SquaredLoss,
            "logistic": LogisticLoss,
            "poisson": PoissonLoss,
            "multinomial": MultinomialLoss,
        }
        return kinds[self.kind](X, self.y, self.weights, intercept=self.intercept)


def regression(seed: int) -> Regression:
    """The loss goes round with the seed; everything else is drawn."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n, p = int(rng.integers(8, 80)), int(rng.integers(2, 14))
    X = awkward_columns(rng, n, p)
    eta = predictor(rng, X)
    weights = rng.integers(0, 4, n).astype(float) if rng.random() < 0.4 else None
    if weights is not None:
        weights[:3] = 1
    return Regression(
        kind,
        stored(rng, X),
        answers(rng, kind, eta),
        weights,
        intercept=bool(rng.random() < 0.8),
        groups=rng.integers(0, max(2, p // 2), p) if rng.random() < 0.3 else None,
        standardise=bool(rng.random() < 0.5),
        likelihood=bool(rng.random() < 0.5),
        nu=float(rng.choice([0.3, 0.5, 0.9])),
        threshold=float(rng.choice([1e-4, 1e-3, 1e-2])),
    )


def awkward_columns(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Normal or binary columns, some equal, opposite, constant, or of other sizes and levels."""
    X = rng.normal(size=(n, p))
    if rng.random() < 0.4:
        X = (rng.random((n, p)) < rng.uniform(0.1, 0.5)).astype(float)
    if rng.random() < 0.3:
        X[:, rng.integers(p)] = X[:, rng.integers(p)]
    if rng.random() < 0.2:
        X[:, rng.integers(p)] = 1 - X[:, rng.integers(p)]
    if rng.random() < 0.2:
        X[:, rng.integers(p)] = 3.0
    if rng.random() < 0.3:
        X = X * 10.0 ** rng.integers(-4, 5, size=p) + rng.integers(0, 2) * rng.normal(size=p)
    return X


def predictor(rng: np.random.Generator, X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    spread[spread < 1e-9] = 1.0
    effects = np.zeros(X.shape[1])
    effects[rng.integers(0, X.shape[1], 2)] = 2 * rng.normal(size=2)
    return (X - X.mean(axis=0)) / spread @ effects


def answers(rng: np.random.Generator, kind: str, eta: np.ndarray) -> np.ndarray:
    """Some without noise, so that classes are separated."""
    n = len(eta)
    noise = float(rng.random() < 0.7)
    if kind == "logistic":
        y = (eta + noise * rng.logistic(size=n) > 0).astype(int)
        y[:2] = [0, 1]
        return y
    if kind == "multinomial":
        y = np.argmax(
            np.column_stack([eta, -eta, 0 * eta]) + noise * rng.gumbel(size=(n, 3)), axis=1
        )
        y[:3] = [0, 1, 2]
        return y
    if kind == "poisson":
        return rng.poisson(np.exp(np.clip(eta, -3, 3)))
    return eta + (rng.standard_t(2, size=n) if kind == "huber" else rng.normal(size=n))


def stored(rng: np.random.Generator, X: np.ndarray) -> Any:
    """The same numbers by row, by column, or sparse."""
    form = rng.integers(4)
    if form == 0:
        return np.asfortranarray(X)
    if form == 1:
        return sparse.csr_array(X)
    return sparse.csc_matrix(X) if form == 2 else X


def thin_regression(seed: int) -> Regression:
    """Sparse columns with entries in few rows: most rows have none in any support."""
    rng = np.random.default_rng(10_000 + seed)
    kind = ("squared", "logistic", "poisson")[seed % 3]
    n, p = int(rng.integers(80, 200)), int(rng.integers(10, 20))
    X = (rng.random((n, p)) < rng.uniform(0.01, 0.08)) * (1 + rng.random((n, p)))
    X[:, 3] = X[:, 1]
    X[:, 5] = 0.0
    X[0, 6:] = 0.0
    if seed % 4 == 0:
        X[:, 7] = rng.normal(size=n)  # one dense column among them: now all rows are told apart
    effects = np.zeros(p)
    effects[rng.choice(p, 4, replace=False)] = 4 * rng.normal(size=4)
    eta = X @ effects
    weights = rng.integers(0, 4, n).astype(float) if rng.random() < 0.4 else None
    if weights is not None:
        weights[:3] = 1
    form = (sparse.csr_array, sparse.csc_array)[int(rng.integers(2))]
    return Regression(
        kind,
        form(X.astype(np.float32) if rng.random() < 0.3 else X),
        answers(rng, kind, eta),
        weights,
        intercept=bool(rng.random() < 0.8),
        groups=rng.integers(0, p // 2, p) if rng.random() < 0.2 else None,
        standardise=bool(rng.random() < 0.5),
        likelihood=bool(rng.random() < 0.5),
        nu=float(rng.choice([0.3, 0.5, 0.9])),
        threshold=1e-4,
    )
