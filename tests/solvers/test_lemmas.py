"""The inequalities of the paper's stopping lemmas, with constants measured on the data.

The loss is the logistic one on -1/+1 columns without intercept, as in the paper's experiments.
kappa_u is its largest curvature on the union of the supports, kappa_l the strong convexity
seen between truth and estimate, the noise level the largest slope at the truth.
"""

from itertools import product

import numpy as np
import pytest

from isinglass import foba
from isinglass.losses import LogisticLoss
from selections import mostly_long

P, NODE = 8, 3


def ising_sample(seed: int, n: int):
    """Exact draws from a random sparse Ising model, and the true coefficients of one node."""
    rng = np.random.default_rng(seed)
    theta = np.triu(rng.choice([0, 0, 0.25, -0.5, 0.8], size=(P, P)), 1)
    theta = theta + theta.T
    states = np.array(list(product([-1, 1], repeat=P)))
    weight = np.exp(np.einsum("si,ij,sj->s", states, theta, states) / 2)
    rows = states[rng.choice(len(states), size=n, p=weight / weight.sum())]
    others = [j for j in range(P) if j != NODE]
    return rows[:, others].astype(float), rows[:, NODE], 2 * theta[NODE, others]


def slope(loss, beta):
    _, first, _ = loss.pointwise(loss.X @ beta)
    return loss.X.T @ (loss.share * first)


@pytest.fixture(params=mostly_long(range(40), 15))
def stopped(request):
    n = [100, 400, 2000][request.param % 3]
    X, y, truth = ising_sample(request.param, n)
    loss = LogisticLoss(X, y, intercept=False)
    nu, eps = 0.5, np.log(n * P) / n * [0.3, 1.0][request.param % 2]
    return loss, foba(loss, eps, nu=nu), truth, nu, eps


def measured(loss, estimate, truth):
    union = np.flatnonzero((estimate != 0) | (truth != 0))
    upper = np.linalg.eigvalsh(loss.X[:, union].T @ loss.X[:, union] / loss.n)[-1] / 4
    delta = estimate - truth
    rise = value(loss, estimate) - value(loss, truth)
    lower = 2 * (rise - slope(loss, truth) @ delta) / (delta @ delta)
    return union, upper, lower, rise, np.linalg.norm(delta)


def value(loss, beta):
    return loss.terms(loss.eta(beta, 0.0))[0]


def test_forward_one_sided(stopped):
    loss, path, truth, _, eps = stopped
    _, upper, _, rise, distance = measured(loss, path.coef, truth)
    missed = np.sum((truth != 0) & (path.coef == 0))
    assert rise <= np.sqrt(2 * missed * upper * eps) * distance + 1e-12


def test_backward_with_two_nu_eps(stopped):
    loss, path, truth, nu, eps = stopped
    _, upper, _, _, _ = measured(loss, path.coef, truth)
    wrong = (path.coef != 0) & (truth == 0)
    assert np.sum(path.coef[wrong] ** 2) >= 2 * nu * eps / upper * wrong.sum() - 1e-12


def test_error_bound(stopped):
    loss, path, truth, _, eps = stopped
    union, upper, lower, _, distance = measured(loss, path.coef, truth)
    noise = np.abs(slope(loss, truth)).max()
    missed = np.sum((truth != 0) & (path.coef == 0))
    bound = 2 / lower * (noise * np.sqrt(len(union)) + np.sqrt(2 * missed * upper * eps))
    assert distance <= bound + 1e-9


def test_the_cases_are_worth_testing():
    """Some searches miss an edge, some take a wrong one, some find the truth."""
    missed = wrong = right = 0
    for seed in range(40):
        n = [100, 400, 2000][seed % 3]
        X, y, truth = ising_sample(seed, n)
        eps = np.log(n * P) / n * [0.3, 1.0][seed % 2]
        found = foba(LogisticLoss(X, y, intercept=False), eps).coef != 0
        missed += bool(((truth != 0) & ~found).any())
        wrong += bool(((truth == 0) & found).any())
        right += bool(((truth != 0) == found).all())
    assert min(missed, wrong, right) >= 3
